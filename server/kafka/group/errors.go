package group

import "errors"

// Sentinels that the coordinator answers with; server/kafka maps each to one
// protocol code. Errors of the store are wrapped in ErrStorage.
var (
	ErrInvalidGroupID        = errors.New("invalid group id")
	ErrInvalidSessionTimeout = errors.New("session timeout outside the allowed range")
	ErrUnknownMember         = errors.New("unknown member id")
	ErrMemberIDRequired      = errors.New("join again with the member id given")
	ErrFencedInstance        = errors.New("the group instance id belongs to another member id by now")
	ErrIllegalGeneration     = errors.New("not the group's current generation")
	ErrRebalanceInProgress   = errors.New("the group is rebalancing")
	ErrInconsistentProtocol  = errors.New("protocol type or protocols do not agree with the group's")
	ErrNotConsumerGroup      = errors.New("the group is not one of the consumer protocol")
	ErrUnsupportedAssignor   = errors.New("no such assignor")
	ErrInvalidRegex          = errors.New("the subscription is not a regular expression (RE2 syntax)")
	ErrFencedMemberEpoch     = errors.New("not the member's epoch; it must join anew")
	ErrStaleMemberEpoch      = errors.New("not the member's present epoch")
	ErrUnreleasedInstance    = errors.New("the group instance id is in use by another member")
	ErrTooOldForConsumers    = errors.New("members of the consumer protocol commit with OffsetCommit 9 or later")
	ErrShareGroup            = errors.New("the group is a share group")
	ErrGroupMaxSize          = errors.New("the group has as many members as it may have")
	ErrTooManyGroups         = errors.New("too many groups")
	ErrGroupNotFound         = errors.New("no such group")
	ErrNonEmptyGroup         = errors.New("the group has members")
	ErrSubscribedToTopic     = errors.New("the group is subscribed to the topic")
	ErrMetadataTooLarge      = errors.New("offset metadata too large")
	ErrGroupDataTooLarge     = errors.New("member metadata and assignments of the group are too large")
	ErrNotAvailable          = errors.New("the group is being deleted")
	ErrClosed                = errors.New("the coordinator is closed")
	ErrStorage               = errors.New("the group's change could not be stored")
)
