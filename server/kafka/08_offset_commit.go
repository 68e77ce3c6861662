package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func groupResource(name string) auth.Resource { return auth.Resource{Type: auth.Group, Name: name} }

// offsetCommit serves OffsetCommit 2–10: 2–4 bring their own retention, from 10 on
// topics are named by id.
func (s *Server) offsetCommit(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.OffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	byID := req.Version >= 10
	topics := s.o.Store.Topics()

	expireAt := state.Millis(-1)
	if req.Version <= 4 && req.RetentionTimeMillis >= 0 {
		expireAt = s.o.Now().UnixMilli() + req.RetentionTimeMillis
	}
	groupCode := errNone
	if !s.allowed(r, auth.Read, groupResource(req.Group)) {
		groupCode = errGroupAuthorizationFailed
	}
	var offsets []state.OffsetCommit
	type place struct{ topic, partition int } // of offsets[i] in the response
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		code := groupCode
		var topic state.Topic
		if code == errNone {
			topic, code = s.resolve(r, topics, topicRef{t.Topic, t.TopicID}, byID, auth.Read)
		}
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != errNone:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
			default:
				places = append(places, place{len(resp.Topics), len(rt.Partitions)})
				offsets = append(offsets, state.OffsetCommit{
					TopicPartition: state.TopicPartition{Topic: topic.ID, Partition: p.Partition},
					Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch,
					Metadata: deref(p.Metadata), ExpireAt: expireAt,
				})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if len(offsets) == 0 {
		return resp, nil
	}
	result, err := await(ctx, func(reply func(answer[[]error])) {
		s.o.Admin.Groups.Commit(group.CommitRequest{
			Group: req.Group, MemberID: req.MemberID, InstanceID: deref(req.InstanceID),
			Generation: req.Generation, Offsets: offsets, OldClient: req.Version < 9,
		}, func(errs []error, err error) { reply(answer[[]error]{errs, err}) })
	})
	if err != nil {
		return nil, err
	}
	code := s.code(result.err)
	if code == errGroupIDNotFound && req.Version < 9 {
		code = errIllegalGeneration // older clients do not know the other one here
	}
	for i, at := range places {
		p := &resp.Topics[at.topic].Partitions[at.partition]
		if p.ErrorCode = code; code == errNone {
			p.ErrorCode = s.code(result.value[i])
		}
	}
	return resp, nil
}
