package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteGroups serves DeleteGroups 0–3 (3 has messages).
func (s *Server) deleteGroups(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	// All at once, so that they share a sync.
	answers := make([]chan error, len(req.Groups))
	for i, name := range req.Groups {
		if s.allowed(r, auth.Delete, groupResource(name)) {
			ch := make(chan error, 1)
			answers[i] = ch
			if reply := func(err error) { ch <- err }; s.isShareGroup(name) {
				s.o.Admin.Share.Delete(name, reply)
			} else {
				s.o.Admin.Groups.Delete(name, reply)
			}
		}
	}
	for i, name := range req.Groups {
		g := kmsg.NewDeleteGroupsResponseGroup()
		g.Group = name
		if answers[i] == nil {
			g.ErrorCode = errGroupAuthorizationFailed
		} else {
			failed, err := receive(ctx, answers[i])
			if err != nil {
				return nil, err
			}
			if g.ErrorCode = s.shareCode(failed); failed != nil {
				g.ErrorMessage = nullable(failed.Error())
			}
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}
