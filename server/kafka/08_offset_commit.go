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
	var commits offsetCommits
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		code := groupCode
		var topic state.Topic
		if code == errNone {
			topic, code = s.resolve(r, topics, topicRef{t.Topic, t.TopicID}, byID, auth.Read)
		}
		rt.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			rt.Partitions[i].Partition = p.Partition
			commits.add(&rt.Partitions[i].ErrorCode, topic, code, state.OffsetCommit{
				TopicPartition: state.TopicPartition{Partition: p.Partition},
				Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch,
				Metadata: deref(p.Metadata), ExpireAt: expireAt,
			})
		}
		resp.Topics = append(resp.Topics, rt)
	}
	err := commits.commit(ctx, s, group.CommitRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: deref(req.InstanceID),
		Generation: req.Generation, OldClient: req.Version < 9,
	}, func(err error) int16 {
		code := s.code(err)
		switch { // older clients do not know these here
		case code == errGroupIDNotFound && req.Version < 9:
			code = errIllegalGeneration
		case code == errStaleMemberEpoch && req.Version < 9:
			code = errUnsupportedVersion
		}
		return code
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
