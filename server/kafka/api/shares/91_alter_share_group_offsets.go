package shares

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterShareGroupOffsets serves AlterShareGroupOffsets 0, for groups without members.
func (h *Handlers) AlterShareGroupOffsets(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.AlterShareGroupOffsetsResponse)
	if !h.Allowed(r, auth.Read, api.GroupResource(req.GroupID)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	if req.GroupID == "" {
		resp.ErrorCode = kafkaerr.InvalidGroupID
		return resp, nil
	}
	topics := h.Store.Topics()
	starts := map[state.TopicPartition]int64{}
	for _, t := range req.Topics {
		rt := kmsg.NewAlterShareGroupOffsetsResponseTopic()
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Read)
		rt.Topic, rt.TopicID = t.Topic, topic.ID
		for _, p := range t.Partitions {
			rp := kmsg.NewAlterShareGroupOffsetsResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != kafkaerr.None:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
			case p.StartOffset < 0:
				rp.ErrorCode = kafkaerr.OffsetOutOfRange
			default:
				starts[state.TopicPartition{Topic: topic.ID, Partition: p.Partition}] = p.StartOffset
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	failed, err := api.Await(ctx, func(reply func(error)) { h.Shares.SetOffsets(req.GroupID, starts, reply) })
	if err != nil {
		return nil, err
	}
	if failed != nil {
		resp.ErrorCode, resp.Topics = h.Code(failed), nil
		resp.ErrorMessage = api.Nullable(failed.Error())
	}
	return resp, nil
}
