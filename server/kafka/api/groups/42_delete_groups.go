package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteGroups serves DeleteGroups 0–3 (3 has messages).
func (h *Handlers) DeleteGroups(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	// All at once, so that they share a sync.
	answers := make([]chan error, len(req.Groups))
	for i, name := range req.Groups {
		if h.Allowed(r, auth.Delete, api.GroupResource(name)) {
			ch := make(chan error, 1)
			answers[i] = ch
			if reply := func(err error) { ch <- err }; h.Shares != nil && h.Shares.Has(name) {
				h.Shares.Delete(name, reply)
			} else {
				h.Groups.Delete(name, reply)
			}
		}
	}
	for i, name := range req.Groups {
		g := kmsg.NewDeleteGroupsResponseGroup()
		g.Group = name
		if answers[i] == nil {
			g.ErrorCode = kafkaerr.GroupAuthorizationFailed
		} else {
			failed, err := api.Receive(ctx, answers[i])
			if err != nil {
				return nil, err
			}
			if g.ErrorCode = h.Code(failed); failed != nil {
				g.ErrorMessage = api.Nullable(failed.Error())
			}
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}
