package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetDelete serves OffsetDelete 0.
func (h *Handlers) OffsetDelete(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.OffsetDeleteRequest)
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	if !h.Allowed(r, auth.Delete, api.GroupResource(req.Group)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	if req.Group == "" {
		resp.ErrorCode = kafkaerr.InvalidGroupID
		return resp, nil
	}
	topics := h.Store.Topics()
	var deletions []group.OffsetDeletion
	type place struct{ topic, partition int }
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Read)
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != kafkaerr.None:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
			default:
				places = append(places, place{len(resp.Topics), len(rt.Partitions)})
				deletions = append(deletions, group.OffsetDeletion{
					TopicPartition: state.TopicPartition{Topic: topic.ID, Partition: p.Partition}, TopicName: topic.Name,
				})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	result, err := api.Await(ctx, func(reply func(api.Answer[[]error])) {
		h.Groups.DeleteOffsets(req.Group, deletions, func(errs []error, err error) { reply(api.Answer[[]error]{Value: errs, Err: err}) })
	})
	if err != nil {
		return nil, err
	}
	if result.Err != nil {
		resp.ErrorCode, resp.Topics = h.Code(result.Err), nil
		return resp, nil
	}
	for i, at := range places {
		resp.Topics[at.topic].Partitions[at.partition].ErrorCode = h.Code(result.Value[i])
	}
	return resp, nil
}
