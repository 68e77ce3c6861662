package kafkaerr

import (
	"context"
	"errors"

	"millrace/ingest"
	"millrace/internal/recordbatch"
	"millrace/server/kafka/group"
	"millrace/server/kafka/share"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// errorTable is how the errors of the layers below appear on the wire. The first
// match wins, so that a wrapped sentinel may be told apart from what it wraps.
// A code that clients take for retriable stands only where trying again can help.
var errorTable = []struct {
	err  error
	code int16
}{
	// First: it wraps what the store said, and a coordinator's clients look for
	// another coordinator, but do not expect the store's codes.
	{group.ErrStorage, NotCoordinator},
	{group.ErrClosed, NotCoordinator},
	{group.ErrNotAvailable, CoordinatorNotAvailable},
	{group.ErrInvalidGroupID, InvalidGroupID},
	{group.ErrInvalidSessionTimeout, InvalidSessionTimeout},
	{group.ErrUnknownMember, UnknownMemberID},
	{group.ErrMemberIDRequired, MemberIDRequired},
	{group.ErrFencedInstance, FencedInstanceID},
	{group.ErrIllegalGeneration, IllegalGeneration},
	{group.ErrRebalanceInProgress, RebalanceInProgress},
	{group.ErrInconsistentProtocol, InconsistentGroupProtocol},
	{group.ErrNotConsumerGroup, GroupIDNotFound},
	{group.ErrUnsupportedAssignor, UnsupportedAssignor},
	{group.ErrInvalidRegex, InvalidRegularExpression},
	{group.ErrFencedMemberEpoch, FencedMemberEpoch},
	{group.ErrStaleMemberEpoch, StaleMemberEpoch},
	{group.ErrUnreleasedInstance, UnreleasedInstanceID},
	{group.ErrTooOldForConsumers, UnsupportedVersion},
	{group.ErrShareGroup, InconsistentGroupProtocol},
	{group.ErrGroupMaxSize, GroupMaxSizeReached},
	{group.ErrTooManyGroups, PolicyViolation},
	{group.ErrGroupDataTooLarge, PolicyViolation},
	{group.ErrGroupNotFound, GroupIDNotFound},
	{group.ErrNonEmptyGroup, NonEmptyGroup},
	{group.ErrSubscribedToTopic, GroupSubscribedToTopic},
	{group.ErrMetadataTooLarge, OffsetMetadataTooLarge},

	{share.ErrStorage, CoordinatorNotAvailable},
	{share.ErrClosed, NotCoordinator},
	{share.ErrInvalidRequest, InvalidRequest},
	{share.ErrGroupNotFound, GroupIDNotFound},
	{share.ErrNotShareGroup, GroupIDNotFound},
	{share.ErrNonEmptyGroup, NonEmptyGroup},
	{share.ErrUnknownMember, UnknownMemberID},
	{share.ErrFencedMemberEpoch, FencedMemberEpoch},
	{share.ErrGroupMaxSize, GroupMaxSizeReached},
	{share.ErrTooManyGroups, PolicyViolation},
	{share.ErrInvalidRecordState, InvalidRecordState},
	{share.ErrSessionNotFound, ShareSessionNotFound},
	{share.ErrInvalidSessionEpoch, InvalidShareSessionEpoch},
	{share.ErrSessionLimit, ShareSessionLimitReached},

	{state.ErrUnknownTopic, UnknownTopicOrPartition},
	{state.ErrTopicExists, TopicAlreadyExists},
	{state.ErrInvalidTopicName, InvalidTopic},
	{state.ErrInvalidPartitions, InvalidPartitions},
	{state.ErrInvalidConfig, InvalidConfig},
	{state.ErrTooMany, PolicyViolation},
	{state.ErrOffsetOutOfRange, OffsetOutOfRange},
	{state.ErrOutOfOrderSequence, OutOfOrderSequenceNumber},
	{state.ErrDuplicateSequence, DuplicateSequenceNumber},
	{state.ErrInvalidProducerEpoch, InvalidProducerEpoch},
	{state.ErrUnknownProducer, UnknownProducerID},
	{state.ErrUnknownGroup, GroupIDNotFound},
	{state.ErrGroupNotEmpty, NonEmptyGroup},
	{state.ErrRequestRefused, InvalidRecord},
	{state.ErrInvalidBatch, InvalidRecord},
	{state.ErrNoTransaction, InvalidTxnState},
	{state.ErrInvalidProducerID, InvalidProducerIDMapping},

	{ingest.ErrMessageTooLarge, MessageTooLarge},
	{ingest.ErrInvalidTimestamp, InvalidTimestamp},
	{ingest.ErrTransactional, TransactionalIDAuthorization},
	{ingest.ErrInvalidRecord, InvalidRecord},

	{recordbatch.ErrTooLarge, MessageTooLarge},
	{recordbatch.ErrCodec, UnsupportedCompressionType},
	{recordbatch.ErrCorrupt, CorruptMessage},
	{recordbatch.ErrMagic, InvalidRecord}, // as Kafka answers old formats in new requests
	{recordbatch.ErrInvalid, InvalidRecord},

	{commitlog.ErrStorage, KafkaStorageError}, // ErrNoSpace too
	{commitlog.ErrTooLarge, MessageTooLarge},
	{commitlog.ErrCorrupt, CorruptMessage},
	{store.ErrCorrupt, CorruptMessage},
	{commitlog.ErrInDoubt, RequestTimedOut},
	{commitlog.ErrConflict, NotLeaderOrFollower},
	{commitlog.ErrFenced, NotLeaderOrFollower},
	{commitlog.ErrClosed, NotLeaderOrFollower},

	{context.DeadlineExceeded, RequestTimedOut},
	{context.Canceled, RequestTimedOut},
}

// Code is the protocol code of err. What neither the table knows nor is a Fault is
// UnknownServerError, never a default value, and known is false: the log should tell.
func Code(err error) (code int16, known bool) {
	if err == nil {
		return None, true
	}
	if fault := (*Fault)(nil); errors.As(err, &fault) {
		return fault.Code, true
	}
	for i := range errorTable {
		if errors.Is(err, errorTable[i].err) {
			return errorTable[i].code, true
		}
	}
	if re := (*store.ReadError)(nil); errors.As(err, &re) {
		return KafkaStorageError, true // the file system's error, not a damaged record
	}
	return UnknownServerError, false
}
