package groups

import (
	"context"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// JoinGroup serves JoinGroup 0–9: from 4 on a newcomer must come back with the id it
// is given, from 5 on members may be static, from 9 on a returning leader may be told
// to skip the assignment.
func (h *Handlers) JoinGroup(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.JoinGroupRequest)
	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.Generation = -1
	if !h.Allowed(r, auth.Read, api.GroupResource(req.Group)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		resp.MemberID = req.MemberID
		return resp, nil
	}
	join := group.JoinRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: api.Deref(req.InstanceID),
		ClientID: r.ClientID, ClientHost: r.ClientHost(),
		SessionTimeout: milliseconds(req.SessionTimeoutMillis), RebalanceTimeout: milliseconds(req.RebalanceTimeoutMillis),
		ProtocolType: req.ProtocolType, Reason: rarelog.Cut(api.Deref(req.Reason)),
		RequireMemberID: req.Version >= 4, SkipAssignment: req.Version >= 9,
	}
	for _, p := range req.Protocols {
		join.Protocols = append(join.Protocols, group.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	joined, err := api.Await(ctx, func(reply func(group.JoinResponse)) { h.Groups.Join(join, reply) })
	if err != nil {
		return nil, err
	}
	resp.MemberID = joined.MemberID
	if joined.Err != nil {
		resp.ErrorCode = h.Code(joined.Err)
		return resp, nil
	}
	resp.Generation = joined.Generation
	resp.ProtocolType, resp.Protocol = &joined.ProtocolType, &joined.Protocol
	resp.LeaderID, resp.SkipAssignment = joined.Leader, joined.SkipAssignment
	for _, m := range joined.Members {
		rm := kmsg.NewJoinGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ProtocolMetadata = m.ID, api.Nullable(m.InstanceID), m.Metadata
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
