package share

import "errors"

// Sentinels that the coordinator answers with; server/kafka maps each to one
// protocol code. Errors of the store are wrapped in ErrStorage.
var (
	ErrInvalidRequest      = errors.New("malformed request")
	ErrGroupNotFound       = errors.New("no such share group")
	ErrNotShareGroup       = errors.New("the group is not a share group")
	ErrNonEmptyGroup       = errors.New("the share group has members")
	ErrUnknownMember       = errors.New("unknown member of the share group")
	ErrFencedMemberEpoch   = errors.New("not the member's epoch")
	ErrGroupMaxSize        = errors.New("the share group has as many members as it may have")
	ErrTooManyGroups       = errors.New("too many share groups")
	ErrSessionNotFound     = errors.New("no such share session")
	ErrInvalidSessionEpoch = errors.New("not the share session's epoch")
	ErrSessionLimit        = errors.New("as many share sessions as there may be")
	ErrInvalidRecordState  = errors.New("a record is not held by the member")
	ErrClosed              = errors.New("the share coordinator is closed")
	ErrStorage             = errors.New("the share group's change could not be stored")

	errBadRecord = errors.New("malformed share group record")
)
