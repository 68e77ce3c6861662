package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnOffsetCommit serves TxnOffsetCommit 0–5: from 3 on with the member's standing in its
// group (KIP-447), from 5 on without an AddOffsetsToTxn before (KIP-890).
func (s *Server) txnOffsetCommit(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.TxnOffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	topics := s.o.Store.Topics()
	all := errNone
	switch {
	case !s.allowed(r, auth.Write, transactionResource(req.TransactionalID)):
		all = errTransactionalIDAuthorization
	case !s.allowed(r, auth.Read, groupResource(req.Group)):
		all = errGroupAuthorizationFailed
	case req.Group == "":
		all = errInvalidGroupID
	}
	var commits offsetCommits
	for _, t := range req.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		code := all
		var topic state.Topic
		if code == errNone {
			topic, code = s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		}
		rt.Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			rt.Partitions[i].Partition = p.Partition
			commits.add(&rt.Partitions[i].ErrorCode, topic, code, state.OffsetCommit{
				TopicPartition: state.TopicPartition{Partition: p.Partition},
				Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: deref(p.Metadata), ExpireAt: -1,
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
		commit.MemberID, commit.InstanceID, commit.Generation = req.MemberID, deref(req.InstanceID), req.Generation
	}
	err := commits.commit(ctx, s, commit, func(err error) int16 {
		switch code := s.code(err); code {
		case errGroupIDNotFound, errStaleMemberEpoch:
			return errIllegalGeneration
		case errInvalidTxnState:
			return notInTransaction(req.Version, 4)
		default:
			return code
		}
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
