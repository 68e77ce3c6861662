package kafka

import (
	"context"

	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteRecords serves DeleteRecords 0–2. All log starts of a request move in one commit.
func (s *Server) deleteRecords(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DeleteRecordsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	topics := s.o.Store.Topics()
	var moves []state.LogStartMove
	type place struct{ topic, partition int }
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewDeleteRecordsResponseTopic()
		rt.Topic = t.Topic
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Delete)
		if code == errNone {
			// The records of a compacted topic are its state: dropping from its start
			// would lose keys at random.
			if c, err := topicconfig.Parse(topic.Configs); err == nil && c.CleanupCompact && !c.CleanupDelete {
				code = errPolicyViolation
			}
		}
		for _, p := range t.Partitions {
			rp := kmsg.NewDeleteRecordsResponseTopicPartition()
			rp.Partition, rp.ErrorCode, rp.LowWatermark = p.Partition, code, -1
			switch {
			case code != errNone:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
			case p.Offset < -1:
				rp.ErrorCode = errOffsetOutOfRange
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
	result, err := s.commit(ctx, state.AdvanceLogStart{Partitions: moves})
	moved, _ := result.(state.AdvanceLogStartResult)
	for i, at := range places {
		p := &resp.Topics[at.topic].Partitions[at.partition]
		switch {
		case err != nil:
			p.ErrorCode = s.code(err)
		case moved.Partitions[i].Err != nil:
			p.ErrorCode = s.code(moved.Partitions[i].Err)
		default:
			p.LowWatermark = moved.Partitions[i].LogStart
		}
	}
	return resp, nil
}
