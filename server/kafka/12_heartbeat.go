package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// heartbeat serves Heartbeat 0–4.
func (s *Server) heartbeat(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.HeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	if !s.allowed(r, auth.Read, groupResource(req.Group)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	resp.ErrorCode = s.code(s.o.Admin.Groups.Heartbeat(group.HeartbeatRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: deref(req.InstanceID), Generation: req.Generation,
	}))
	return resp, nil
}
