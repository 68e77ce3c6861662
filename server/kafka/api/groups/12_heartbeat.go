package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Heartbeat serves Heartbeat 0–4.
func (h *Handlers) Heartbeat(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.HeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	if !h.Allowed(r, auth.Read, api.GroupResource(req.Group)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	resp.ErrorCode = h.Code(h.Groups.Heartbeat(group.HeartbeatRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: api.Deref(req.InstanceID), Generation: req.Generation,
	}))
	return resp, nil
}
