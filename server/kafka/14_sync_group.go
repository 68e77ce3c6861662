package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// syncGroup serves SyncGroup 0–5; 5 must name the protocol.
func (s *Server) syncGroup(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.SyncGroupRequest)
	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.MemberAssignment = []byte{}
	switch {
	case !s.allowed(r, auth.Read, groupResource(req.Group)):
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	case req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		resp.ErrorCode = errInconsistentGroupProtocol
		return resp, nil
	}
	sync := group.SyncRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: deref(req.InstanceID), Generation: req.Generation,
		ProtocolType: deref(req.ProtocolType), Protocol: deref(req.Protocol),
	}
	for _, a := range req.GroupAssignment {
		sync.Assignments = append(sync.Assignments, group.Assignment{MemberID: a.MemberID, Data: a.MemberAssignment})
	}
	synced, err := await(ctx, func(reply func(group.SyncResponse)) { s.o.Admin.Groups.Sync(sync, reply) })
	if err != nil {
		return nil, err
	}
	if synced.Err != nil {
		resp.ErrorCode = s.code(synced.Err)
		return resp, nil
	}
	resp.ProtocolType, resp.Protocol = &synced.ProtocolType, &synced.Protocol
	if synced.Assignment != nil {
		resp.MemberAssignment = synced.Assignment
	}
	return resp, nil
}
