package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaveGroup serves LeaveGroup 0–5: one member up to 2, whose error is the
// response's; several from 3 on.
func (s *Server) leaveGroup(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.LeaveGroupRequest)
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	if !s.allowed(r, auth.Read, groupResource(req.Group)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	var leaving []group.Leaving
	if req.Version < 3 {
		leaving = []group.Leaving{{MemberID: req.MemberID}}
	}
	for _, m := range req.Members {
		leaving = append(leaving, group.Leaving{MemberID: m.MemberID, InstanceID: deref(m.InstanceID), Reason: cut(deref(m.Reason))})
	}
	errs, err := s.o.Admin.Groups.Leave(req.Group, leaving)
	if err != nil {
		resp.ErrorCode = s.code(err)
		return resp, nil
	}
	if req.Version < 3 {
		resp.ErrorCode = s.code(errs[0])
		return resp, nil
	}
	for i, m := range req.Members {
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ErrorCode = m.MemberID, m.InstanceID, s.code(errs[i])
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}
