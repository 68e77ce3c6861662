package kafka

import (
	"context"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinGroup serves JoinGroup 0–9: from 4 on a newcomer must come back with the id it
// is given, from 5 on members may be static, from 9 on a returning leader may be told
// to skip the assignment.
func (s *Server) joinGroup(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.JoinGroupRequest)
	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.Generation = -1
	if !s.allowed(r, auth.Read, groupResource(req.Group)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		resp.MemberID = req.MemberID
		return resp, nil
	}
	join := group.JoinRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: deref(req.InstanceID),
		ClientID: r.clientID, ClientHost: r.clientHost(),
		SessionTimeout: milliseconds(req.SessionTimeoutMillis), RebalanceTimeout: milliseconds(req.RebalanceTimeoutMillis),
		ProtocolType: req.ProtocolType, Reason: cut(deref(req.Reason)),
		RequireMemberID: req.Version >= 4, SkipAssignment: req.Version >= 9,
	}
	for _, p := range req.Protocols {
		join.Protocols = append(join.Protocols, group.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	joined, err := await(ctx, func(reply func(group.JoinResponse)) { s.o.Admin.Groups.Join(join, reply) })
	if err != nil {
		return nil, err
	}
	resp.MemberID = joined.MemberID
	if joined.Err != nil {
		resp.ErrorCode = s.code(joined.Err)
		return resp, nil
	}
	resp.Generation = joined.Generation
	resp.ProtocolType, resp.Protocol = &joined.ProtocolType, &joined.Protocol
	resp.LeaderID, resp.SkipAssignment = joined.Leader, joined.SkipAssignment
	for _, m := range joined.Members {
		rm := kmsg.NewJoinGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ProtocolMetadata = m.ID, nullable(m.InstanceID), m.Metadata
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
