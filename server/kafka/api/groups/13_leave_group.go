package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LeaveGroup serves LeaveGroup 0–5: one member up to 2, whose error is the
// response's; several from 3 on.
func (h *Handlers) LeaveGroup(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.LeaveGroupRequest)
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	if !h.Allowed(r, auth.Read, api.GroupResource(req.Group)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	var leaving []group.Leaving
	if req.Version < 3 {
		leaving = []group.Leaving{{MemberID: req.MemberID}}
	}
	for _, m := range req.Members {
		leaving = append(leaving, group.Leaving{MemberID: m.MemberID, InstanceID: api.Deref(m.InstanceID), Reason: rarelog.Cut(api.Deref(m.Reason))})
	}
	errs, err := h.Groups.Leave(req.Group, leaving)
	if err != nil {
		resp.ErrorCode = h.Code(err)
		return resp, nil
	}
	if req.Version < 3 {
		resp.ErrorCode = h.Code(errs[0])
		return resp, nil
	}
	for i, m := range req.Members {
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ErrorCode = m.MemberID, m.InstanceID, h.Code(errs[i])
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}
