package kafka

import (
	"errors"
	"slices"

	"millrace/server/kafka/share"
)

// Why a partition of a share session is not read.
var (
	errShareTopicID     = errors.New("unknown topic id")
	errShareTopicDenied = errors.New("the topic may not be read")
)

// shareErrors is how the share coordinator's errors appear on the wire.
var shareErrors = []struct {
	err  error
	code int16
}{
	{share.ErrStorage, errCoordinatorNotAvailable},
	{share.ErrClosed, errNotCoordinator},
	{share.ErrInvalidRequest, errInvalidRequest},
	{share.ErrGroupNotFound, errGroupIDNotFound},
	{share.ErrNotShareGroup, errGroupIDNotFound},
	{share.ErrNonEmptyGroup, errNonEmptyGroup},
	{share.ErrUnknownMember, errUnknownMemberID},
	{share.ErrFencedMemberEpoch, errFencedMemberEpoch},
	{share.ErrGroupMaxSize, errGroupMaxSizeReached},
	{share.ErrTooManyGroups, errPolicyViolation},
	{share.ErrInvalidRecordState, errInvalidRecordState},
	{share.ErrSessionNotFound, errShareSessionNotFound},
	{share.ErrInvalidSessionEpoch, errInvalidShareSessionEpoch},
	{share.ErrSessionLimit, errShareSessionLimitReached},
	{errShareTopicID, errUnknownTopicID},
	{errShareTopicDenied, errTopicAuthorizationFailed},
}

// shareCode is the code of an error of the share coordinator, or of the store below it.
func (s *Server) shareCode(err error) int16 {
	if err == nil {
		return errNone
	}
	for _, e := range shareErrors {
		if errors.Is(err, e.err) {
			return e.code
		}
	}
	return s.code(err)
}

// isShareGroup says whether a share group has the name.
func (s *Server) isShareGroup(name string) bool {
	return s.o.Admin.Share != nil && s.o.Admin.Share.Has(name)
}

// addShareSession remembers a session that was begun here, and forgets those that have ended.
func (c *conn) addShareSession(ss *share.Session) {
	c.shareSessions = append(slices.DeleteFunc(c.shareSessions, (*share.Session).Ended), ss)
}

// closeShareSessions gives back what the members on this connection hold: it ended.
func (c *conn) closeShareSessions() {
	for _, ss := range c.shareSessions {
		ss.Close()
	}
	c.shareSessions = nil
}
