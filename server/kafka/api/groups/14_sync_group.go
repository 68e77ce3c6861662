package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// SyncGroup serves SyncGroup 0–5; 5 must name the protocol.
func (h *Handlers) SyncGroup(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.SyncGroupRequest)
	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.MemberAssignment = []byte{}
	switch {
	case !h.Allowed(r, auth.Read, api.GroupResource(req.Group)):
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	case req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		resp.ErrorCode = kafkaerr.InconsistentGroupProtocol
		return resp, nil
	}
	sync := group.SyncRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: api.Deref(req.InstanceID), Generation: req.Generation,
		ProtocolType: api.Deref(req.ProtocolType), Protocol: api.Deref(req.Protocol),
	}
	for _, a := range req.GroupAssignment {
		sync.Assignments = append(sync.Assignments, group.Assignment{MemberID: a.MemberID, Data: a.MemberAssignment})
	}
	synced, err := api.Await(ctx, func(reply func(group.SyncResponse)) { h.Groups.Sync(sync, reply) })
	if err != nil {
		return nil, err
	}
	if synced.Err != nil {
		resp.ErrorCode = h.Code(synced.Err)
		return resp, nil
	}
	resp.ProtocolType, resp.Protocol = &synced.ProtocolType, &synced.Protocol
	if synced.Assignment != nil {
		resp.MemberAssignment = synced.Assignment
	}
	return resp, nil
}
