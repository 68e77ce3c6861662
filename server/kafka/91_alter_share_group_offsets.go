package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterShareGroupOffsets serves AlterShareGroupOffsets 0, for groups without members.
func (s *Server) alterShareGroupOffsets(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.AlterShareGroupOffsetsResponse)
	if !s.allowed(r, auth.Read, groupResource(req.GroupID)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	if req.GroupID == "" {
		resp.ErrorCode = errInvalidGroupID
		return resp, nil
	}
	topics := s.o.Store.Topics()
	starts := map[state.TopicPartition]int64{}
	for _, t := range req.Topics {
		rt := kmsg.NewAlterShareGroupOffsetsResponseTopic()
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		rt.Topic, rt.TopicID = t.Topic, topic.ID
		for _, p := range t.Partitions {
			rp := kmsg.NewAlterShareGroupOffsetsResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != errNone:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
			case p.StartOffset < 0:
				rp.ErrorCode = errOffsetOutOfRange
			default:
				starts[state.TopicPartition{Topic: topic.ID, Partition: p.Partition}] = p.StartOffset
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	failed, err := await(ctx, func(reply func(error)) { s.o.Admin.Share.SetOffsets(req.GroupID, starts, reply) })
	if err != nil {
		return nil, err
	}
	if failed != nil {
		resp.ErrorCode, resp.Topics = s.shareCode(failed), nil
		resp.ErrorMessage = nullable(failed.Error())
	}
	return resp, nil
}
