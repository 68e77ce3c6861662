package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetForLeaderEpoch says where a leader epoch ended. There is one epoch, and it
// ends where the partition does.
func (h *Handlers) OffsetForLeaderEpoch(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.OffsetForLeaderEpochRequest)
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	topics := h.Store.Topics()
	resp.Topics = make([]kmsg.OffsetForLeaderEpochResponseTopic, len(req.Topics))
	for i := range req.Topics {
		in, out := &req.Topics[i], &resp.Topics[i]
		out.Default()
		out.Topic = in.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: in.Topic}, false, auth.Describe)
		out.Partitions = make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			p, o := &in.Partitions[j], &out.Partitions[j]
			o.Default()
			o.Partition = p.Partition
			o.LeaderEpoch, o.EndOffset = -1, -1
			switch {
			case code != kafkaerr.None:
				o.ErrorCode = code
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				o.ErrorCode = kafkaerr.UnknownTopicOrPartition
			default:
				o.ErrorCode = api.CheckLeaderEpoch(p.CurrentLeaderEpoch)
			}
			if o.ErrorCode != kafkaerr.None || p.LeaderEpoch != api.LeaderEpoch {
				continue
			}
			b, err := h.Store.Bounds(state.TopicPartition{Topic: topic.ID, Partition: p.Partition})
			if err != nil {
				o.ErrorCode = h.Code(err)
				continue
			}
			o.LeaderEpoch, o.EndOffset = api.LeaderEpoch, b.End
		}
	}
	return resp, nil
}
