package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetDelete serves OffsetDelete 0.
func (s *Server) offsetDelete(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.OffsetDeleteRequest)
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	if !s.allowed(r, auth.Delete, groupResource(req.Group)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	if req.Group == "" {
		resp.ErrorCode = errInvalidGroupID
		return resp, nil
	}
	topics := s.o.Store.Topics()
	var deletions []group.OffsetDeletion
	type place struct{ topic, partition int }
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != errNone:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
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
	result, err := await(ctx, func(reply func(answer[[]error])) {
		s.o.Admin.Groups.DeleteOffsets(req.Group, deletions, func(errs []error, err error) { reply(answer[[]error]{errs, err}) })
	})
	if err != nil {
		return nil, err
	}
	if result.err != nil {
		resp.ErrorCode, resp.Topics = s.code(result.err), nil
		return resp, nil
	}
	for i, at := range places {
		resp.Topics[at.topic].Partitions[at.partition].ErrorCode = s.code(result.value[i])
	}
	return resp, nil
}
