package shares

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteShareGroupOffsets serves DeleteShareGroupOffsets 0, for groups without members.
func (h *Handlers) DeleteShareGroupOffsets(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DeleteShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteShareGroupOffsetsResponse)
	if !h.Allowed(r, auth.Delete, api.GroupResource(req.GroupID)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	d, ok := h.Shares.Describe(req.GroupID)
	switch {
	case req.GroupID == "":
		resp.ErrorCode = kafkaerr.InvalidGroupID
		return resp, nil
	case !ok:
		resp.ErrorCode = kafkaerr.GroupIDNotFound
		return resp, nil
	case len(d.Members) > 0:
		resp.ErrorCode = kafkaerr.NonEmptyGroup
		return resp, nil
	}
	topics := h.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewDeleteShareGroupOffsetsResponseTopic()
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Read)
		rt.Topic, rt.TopicID, rt.ErrorCode = t.Topic, topic.ID, code
		if code == kafkaerr.None {
			failed, err := api.Await(ctx, func(reply func(error)) { h.Shares.DeleteOffsets(req.GroupID, topic.ID, reply) })
			if err != nil {
				return nil, err
			}
			rt.ErrorCode = h.Code(failed)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
