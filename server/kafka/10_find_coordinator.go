package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	coordinatorOfGroup       = 0
	coordinatorOfTransaction = 1
)

// findCoordinator serves FindCoordinator 0–6: this node coordinates everything.
// Transactional ids are answered, too, so that InitProducerId can say what is the
// matter with them; share groups (2) are not served.
func (s *Server) findCoordinator(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.FindCoordinatorRequest)
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if req.Version < 4 {
		c := s.coordinatorOf(r, req.CoordinatorType, req.CoordinatorKey)
		resp.ErrorCode, resp.ErrorMessage = c.ErrorCode, c.ErrorMessage
		resp.NodeID, resp.Host, resp.Port = c.NodeID, c.Host, c.Port
		return resp, nil
	}
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, s.coordinatorOf(r, req.CoordinatorType, key))
	}
	return resp, nil
}

func (s *Server) coordinatorOf(r *request, kind int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	res := groupResource(key)
	denied := errGroupAuthorizationFailed
	switch kind {
	case coordinatorOfGroup:
	case coordinatorOfTransaction:
		res = auth.Resource{Type: auth.TransactionalID, Name: key}
		denied = errTransactionalIDAuthorization
	default:
		c.ErrorCode = errInvalidRequest
		c.ErrorMessage = nullable("coordinators of this type are not served")
		return c
	}
	if !s.allowed(r, auth.Describe, res) {
		c.ErrorCode = denied
		return c
	}
	c.NodeID = s.o.NodeID
	c.Host, c.Port = r.advertised()
	return c
}
