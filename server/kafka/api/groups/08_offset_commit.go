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

// OffsetCommit serves OffsetCommit 2–10: 2–4 bring their own retention, from 10 on
// topics are named by id.
func (h *Handlers) OffsetCommit(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.OffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	byID := req.Version >= 10
	topics := h.Store.Topics()

	expireAt := state.Millis(-1)
	if req.Version <= 4 && req.RetentionTimeMillis >= 0 {
		expireAt = h.Now().UnixMilli() + req.RetentionTimeMillis
	}
	groupCode := kafkaerr.None
	if !h.Allowed(r, auth.Read, api.GroupResource(req.Group)) {
		groupCode = kafkaerr.GroupAuthorizationFailed
	}
	var commits offsetCommits
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		code := groupCode
		var topic state.Topic
		if code == kafkaerr.None {
			topic, code = h.Resolve(r, topics, api.TopicRef{Name: t.Topic, ID: t.TopicID}, byID, auth.Read)
		}
		rt.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			rt.Partitions[i].Partition = p.Partition
			commits.add(&rt.Partitions[i].ErrorCode, topic, code, state.OffsetCommit{
				TopicPartition: state.TopicPartition{Partition: p.Partition},
				Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch,
				Metadata: api.Deref(p.Metadata), ExpireAt: expireAt,
			})
		}
		resp.Topics = append(resp.Topics, rt)
	}
	err := commits.commit(ctx, h, group.CommitRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: api.Deref(req.InstanceID),
		Generation: req.Generation, OldClient: req.Version < 9,
	}, func(err error) int16 {
		code := h.Code(err)
		switch { // older clients do not know these here
		case code == kafkaerr.GroupIDNotFound && req.Version < 9:
			code = kafkaerr.IllegalGeneration
		case code == kafkaerr.StaleMemberEpoch && req.Version < 9:
			code = kafkaerr.UnsupportedVersion
		}
		return code
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
