package kafka

import (
	"context"
	"errors"
	"log/slog"

	"millrace/ingest"
	"millrace/internal/recordbatch"
	"millrace/server/kafka/group"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// Kafka's error codes that this server answers with.
const (
	errUnknownServerError           int16 = -1
	errNone                         int16 = 0
	errOffsetOutOfRange             int16 = 1
	errCorruptMessage               int16 = 2
	errUnknownTopicOrPartition      int16 = 3
	errNotLeaderOrFollower          int16 = 6
	errRequestTimedOut              int16 = 7
	errMessageTooLarge              int16 = 10
	errOffsetMetadataTooLarge       int16 = 12
	errCoordinatorNotAvailable      int16 = 15
	errNotCoordinator               int16 = 16
	errInvalidTopic                 int16 = 17
	errInvalidRequiredAcks          int16 = 21
	errIllegalGeneration            int16 = 22
	errInconsistentGroupProtocol    int16 = 23
	errInvalidGroupID               int16 = 24
	errUnknownMemberID              int16 = 25
	errInvalidSessionTimeout        int16 = 26
	errRebalanceInProgress          int16 = 27
	errTopicAuthorizationFailed     int16 = 29
	errGroupAuthorizationFailed     int16 = 30
	errClusterAuthorizationFailed   int16 = 31
	errInvalidTimestamp             int16 = 32
	errUnsupportedSASLMechanism     int16 = 33
	errIllegalSASLState             int16 = 34
	errUnsupportedVersion           int16 = 35
	errTopicAlreadyExists           int16 = 36
	errInvalidPartitions            int16 = 37
	errInvalidReplicationFactor     int16 = 38
	errInvalidReplicaAssignment     int16 = 39
	errInvalidConfig                int16 = 40
	errInvalidRequest               int16 = 42
	errPolicyViolation              int16 = 44
	errOutOfOrderSequenceNumber     int16 = 45
	errDuplicateSequenceNumber      int16 = 46
	errInvalidProducerEpoch         int16 = 47
	errInvalidTxnState              int16 = 48
	errInvalidProducerIDMapping     int16 = 49
	errInvalidTransactionTimeout    int16 = 50
	errTransactionalIDAuthorization int16 = 53
	errOperationNotAttempted        int16 = 55
	errKafkaStorageError            int16 = 56
	errLogDirNotFound               int16 = 57
	errSASLAuthenticationFailed     int16 = 58
	errUnknownProducerID            int16 = 59
	errInvalidPrincipalType         int16 = 67
	errNonEmptyGroup                int16 = 68
	errGroupIDNotFound              int16 = 69
	errFetchSessionIDNotFound       int16 = 70
	errInvalidFetchSessionEpoch     int16 = 71
	errFencedLeaderEpoch            int16 = 74
	errUnknownLeaderEpoch           int16 = 75
	errUnsupportedCompressionType   int16 = 76
	errMemberIDRequired             int16 = 79
	errGroupMaxSizeReached          int16 = 81
	errFencedInstanceID             int16 = 82
	errElectionNotNeeded            int16 = 84
	errNoReassignmentInProgress     int16 = 85
	errGroupSubscribedToTopic       int16 = 86
	errThrottlingQuotaExceeded      int16 = 89
	errInvalidRecord                int16 = 87
	errUnstableOffsetCommit         int16 = 88
	errProducerFenced               int16 = 90
	errResourceNotFound             int16 = 91
	errDuplicateResource            int16 = 92
	errUnacceptableCredential       int16 = 93
	errInvalidUpdateVersion         int16 = 95
	errFeatureUpdateFailed          int16 = 96
	errUnknownTopicID               int16 = 100
	errTransactionalIDNotFound      int16 = 105
	errFetchSessionTopicIDError     int16 = 106
	errFencedMemberEpoch            int16 = 110
	errUnreleasedInstanceID         int16 = 111
	errUnsupportedAssignor          int16 = 112
	errStaleMemberEpoch             int16 = 113
	errMismatchedEndpointType       int16 = 114
	errUnsupportedEndpointType      int16 = 115
	errTransactionAbortable         int16 = 120
	errInvalidRecordState           int16 = 121
	errShareSessionNotFound         int16 = 122
	errInvalidShareSessionEpoch     int16 = 123
	errInvalidRegularExpression     int16 = 128
	errShareSessionLimitReached     int16 = 133
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
	{group.ErrStorage, errNotCoordinator},
	{group.ErrClosed, errNotCoordinator},
	{group.ErrNotAvailable, errCoordinatorNotAvailable},
	{group.ErrInvalidGroupID, errInvalidGroupID},
	{group.ErrInvalidSessionTimeout, errInvalidSessionTimeout},
	{group.ErrUnknownMember, errUnknownMemberID},
	{group.ErrMemberIDRequired, errMemberIDRequired},
	{group.ErrFencedInstance, errFencedInstanceID},
	{group.ErrIllegalGeneration, errIllegalGeneration},
	{group.ErrRebalanceInProgress, errRebalanceInProgress},
	{group.ErrInconsistentProtocol, errInconsistentGroupProtocol},
	{group.ErrNotConsumerGroup, errGroupIDNotFound},
	{group.ErrUnsupportedAssignor, errUnsupportedAssignor},
	{group.ErrInvalidRegex, errInvalidRegularExpression},
	{group.ErrFencedMemberEpoch, errFencedMemberEpoch},
	{group.ErrStaleMemberEpoch, errStaleMemberEpoch},
	{group.ErrUnreleasedInstance, errUnreleasedInstanceID},
	{group.ErrTooOldForConsumers, errUnsupportedVersion},
	{group.ErrShareGroup, errInconsistentGroupProtocol},
	{group.ErrGroupMaxSize, errGroupMaxSizeReached},
	{group.ErrTooManyGroups, errPolicyViolation},
	{group.ErrGroupDataTooLarge, errPolicyViolation},
	{group.ErrGroupNotFound, errGroupIDNotFound},
	{group.ErrNonEmptyGroup, errNonEmptyGroup},
	{group.ErrSubscribedToTopic, errGroupSubscribedToTopic},
	{group.ErrMetadataTooLarge, errOffsetMetadataTooLarge},

	{state.ErrUnknownTopic, errUnknownTopicOrPartition},
	{state.ErrTopicExists, errTopicAlreadyExists},
	{state.ErrInvalidTopicName, errInvalidTopic},
	{state.ErrInvalidPartitions, errInvalidPartitions},
	{state.ErrInvalidConfig, errInvalidConfig},
	{state.ErrTooMany, errPolicyViolation},
	{state.ErrOffsetOutOfRange, errOffsetOutOfRange},
	{state.ErrOutOfOrderSequence, errOutOfOrderSequenceNumber},
	{state.ErrDuplicateSequence, errDuplicateSequenceNumber},
	{state.ErrInvalidProducerEpoch, errInvalidProducerEpoch},
	{state.ErrUnknownProducer, errUnknownProducerID},
	{state.ErrUnknownGroup, errGroupIDNotFound},
	{state.ErrGroupNotEmpty, errNonEmptyGroup},
	{state.ErrRequestRefused, errInvalidRecord},
	{state.ErrInvalidBatch, errInvalidRecord},
	{state.ErrNoTransaction, errInvalidTxnState},
	{state.ErrInvalidProducerID, errInvalidProducerIDMapping},

	{ingest.ErrMessageTooLarge, errMessageTooLarge},
	{ingest.ErrInvalidTimestamp, errInvalidTimestamp},
	{ingest.ErrTransactional, errTransactionalIDAuthorization},
	{ingest.ErrInvalidRecord, errInvalidRecord},

	{recordbatch.ErrTooLarge, errMessageTooLarge},
	{recordbatch.ErrCodec, errUnsupportedCompressionType},
	{recordbatch.ErrCorrupt, errCorruptMessage},
	{recordbatch.ErrMagic, errInvalidRecord}, // as Kafka answers old formats in new requests
	{recordbatch.ErrInvalid, errInvalidRecord},

	{commitlog.ErrStorage, errKafkaStorageError}, // ErrNoSpace too
	{commitlog.ErrTooLarge, errMessageTooLarge},
	{commitlog.ErrCorrupt, errCorruptMessage},
	{store.ErrCorrupt, errCorruptMessage},
	{commitlog.ErrInDoubt, errRequestTimedOut},
	{commitlog.ErrConflict, errNotLeaderOrFollower},
	{commitlog.ErrFenced, errNotLeaderOrFollower},
	{commitlog.ErrClosed, errNotLeaderOrFollower},

	{context.DeadlineExceeded, errRequestTimedOut},
	{context.Canceled, errRequestTimedOut},
}

// code is the protocol code of err. What the table does not know is
// UNKNOWN_SERVER_ERROR and leaves a line in the log: never a default value.
func (s *Server) code(err error) int16 {
	if err == nil {
		return errNone
	}
	for i := range errorTable {
		if errors.Is(err, errorTable[i].err) {
			return errorTable[i].code
		}
	}
	if re := (*store.ReadError)(nil); errors.As(err, &re) {
		return errKafkaStorageError // the file system's error, not a damaged record
	}
	s.log.Error("no protocol code for an error", slog.Any("error", err))
	return errUnknownServerError
}
