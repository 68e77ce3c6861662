package topics

import (
	"context"

	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteRecords serves DeleteRecords 0–2. All log starts of a request move in one commit.
func (h *Handlers) DeleteRecords(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DeleteRecordsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	topics := h.Store.Topics()
	var moves []state.LogStartMove
	type place struct{ topic, partition int }
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewDeleteRecordsResponseTopic()
		rt.Topic = t.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Delete)
		if code == kafkaerr.None {
			// The records of a compacted topic are its state: dropping from its start
			// would lose keys at random.
			if c, err := topicconfig.Parse(topic.Configs); err == nil && c.CleanupCompact && !c.CleanupDelete {
				code = kafkaerr.PolicyViolation
			}
		}
		for _, p := range t.Partitions {
			rp := kmsg.NewDeleteRecordsResponseTopicPartition()
			rp.Partition, rp.ErrorCode, rp.LowWatermark = p.Partition, code, -1
			switch {
			case code != kafkaerr.None:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
			case p.Offset < -1:
				rp.ErrorCode = kafkaerr.OffsetOutOfRange
			default:
				places = append(places, place{len(resp.Topics), len(rt.Partitions)})
				moves = append(moves, state.LogStartMove{
					TopicPartition: state.TopicPartition{Topic: topic.ID, Partition: p.Partition}, Before: p.Offset,
				})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if len(moves) == 0 {
		return resp, nil
	}
	result, err := h.Commit(ctx, state.AdvanceLogStart{Partitions: moves})
	moved, _ := result.(state.AdvanceLogStartResult)
	for i, at := range places {
		p := &resp.Topics[at.topic].Partitions[at.partition]
		switch {
		case err != nil:
			p.ErrorCode = h.Code(err)
		case moved.Partitions[i].Err != nil:
			p.ErrorCode = h.Code(moved.Partitions[i].Err)
		default:
			p.LowWatermark = moved.Partitions[i].LogStart
		}
	}
	return resp, nil
}
