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
	}
	var offsets []state.OffsetCommit
	type place struct{ topic, partition int } // of offsets[i] in the response
	var places []place
	for _, t := range req.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		code := all
		var topic state.Topic
		if code == errNone {
			topic, code = s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		}
		for _, p := range t.Partitions {
			rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			switch {
			case code != errNone:
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
			default:
				places = append(places, place{len(resp.Topics), len(rt.Partitions)})
				offsets = append(offsets, state.OffsetCommit{
					TopicPartition: state.TopicPartition{Topic: topic.ID, Partition: p.Partition},
					Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: deref(p.Metadata), ExpireAt: -1,
				})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if len(offsets) == 0 {
		return resp, nil
	}
	commit := group.CommitRequest{
		Group: req.Group, Generation: -1, Offsets: offsets,
		Transaction: &group.TransactionCommit{
			Ref:      state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
			AddGroup: req.Version >= 5,
		},
	}
	if req.Version >= 3 {
		commit.MemberID, commit.InstanceID, commit.Generation = req.MemberID, deref(req.InstanceID), req.Generation
	}
	result, err := await(ctx, func(reply func(answer[[]error])) {
		s.o.Admin.Groups.Commit(commit, func(errs []error, err error) { reply(answer[[]error]{errs, err}) })
	})
	if err != nil {
		return nil, err
	}
	code := s.code(result.err)
	switch code {
	case errGroupIDNotFound, errStaleMemberEpoch:
		code = errIllegalGeneration
	case errInvalidTxnState:
		code = notInTransaction(req.Version, 4)
	}
	for i, at := range places {
		p := &resp.Topics[at.topic].Partitions[at.partition]
		if p.ErrorCode = code; code == errNone {
			p.ErrorCode = s.code(result.value[i])
		}
	}
	return resp, nil
}
