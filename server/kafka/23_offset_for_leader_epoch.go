package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetForLeaderEpoch says where a leader epoch ended. There is one epoch, and it
// ends where the partition does.
func (s *Server) offsetForLeaderEpoch(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.OffsetForLeaderEpochRequest)
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	topics := s.o.Store.Topics()
	resp.Topics = make([]kmsg.OffsetForLeaderEpochResponseTopic, len(req.Topics))
	for i := range req.Topics {
		in, out := &req.Topics[i], &resp.Topics[i]
		out.Default()
		out.Topic = in.Topic
		topic, code := s.resolve(r, topics, topicRef{name: in.Topic}, false, auth.Describe)
		out.Partitions = make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			p, o := &in.Partitions[j], &out.Partitions[j]
			o.Default()
			o.Partition = p.Partition
			o.LeaderEpoch, o.EndOffset = -1, -1
			switch {
			case code != errNone:
				o.ErrorCode = code
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				o.ErrorCode = errUnknownTopicOrPartition
			default:
				o.ErrorCode = checkLeaderEpoch(p.CurrentLeaderEpoch)
			}
			if o.ErrorCode != errNone || p.LeaderEpoch != leaderEpoch {
				continue
			}
			b, err := s.o.Store.Bounds(state.TopicPartition{Topic: topic.ID, Partition: p.Partition})
			if err != nil {
				o.ErrorCode = s.code(err)
				continue
			}
			o.LeaderEpoch, o.EndOffset = leaderEpoch, b.End
		}
	}
	return resp, nil
}
