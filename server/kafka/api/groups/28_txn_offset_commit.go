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

// TxnOffsetCommit serves TxnOffsetCommit 0–5: from 3 on with the member's standing in its
// group (KIP-447), from 5 on without an AddOffsetsToTxn before (KIP-890).
func (h *Handlers) TxnOffsetCommit(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.TxnOffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	topics := h.Store.Topics()
	all := kafkaerr.None
	switch {
	case !h.Allowed(r, auth.Write, api.TransactionResource(req.TransactionalID)):
		all = kafkaerr.TransactionalIDAuthorization
	case !h.Allowed(r, auth.Read, api.GroupResource(req.Group)):
		all = kafkaerr.GroupAuthorizationFailed
	case req.Group == "":
		all = kafkaerr.InvalidGroupID
	}
	var commits offsetCommits
	for _, t := range req.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		code := all
		var topic state.Topic
		if code == kafkaerr.None {
			topic, code = h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Read)
		}
		rt.Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			rt.Partitions[i].Partition = p.Partition
			commits.add(&rt.Partitions[i].ErrorCode, topic, code, state.OffsetCommit{
				TopicPartition: state.TopicPartition{Partition: p.Partition},
				Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: api.Deref(p.Metadata), ExpireAt: -1,
			})
		}
		resp.Topics = append(resp.Topics, rt)
	}
	commit := group.CommitRequest{
		Group: req.Group, Generation: -1,
		Transaction: &group.TransactionCommit{
			Ref:      state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
			AddGroup: req.Version >= 5,
		},
	}
	if req.Version >= 3 {
		commit.MemberID, commit.InstanceID, commit.Generation = req.MemberID, api.Deref(req.InstanceID), req.Generation
	}
	err := commits.commit(ctx, h, commit, func(err error) int16 {
		switch code := h.Code(err); code {
		case kafkaerr.GroupIDNotFound, kafkaerr.StaleMemberEpoch:
			return kafkaerr.IllegalGeneration
		case kafkaerr.InvalidTxnState:
			return kafkaerr.NotInTransaction(req.Version, 4)
		default:
			return code
		}
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
