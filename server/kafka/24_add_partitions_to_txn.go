package kafka

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// addPartitionsToTxn serves AddPartitionsToTxn 0–5: one transaction up to 3, several, perhaps
// only to be verified, from 4 on (brokers ask so, and nobody else needs to).
func (s *Server) addPartitionsToTxn(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AddPartitionsToTxnRequest)
	resp := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
	if req.Version < 4 {
		ask := kmsg.AddPartitionsToTxnRequestTransaction{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch}
		for _, t := range req.Topics {
			ask.Topics = append(ask.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: t.Topic, Partitions: t.Partitions})
		}
		for _, t := range s.addPartitions(ctx, r, &ask) {
			rt := kmsg.AddPartitionsToTxnResponseTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				rt.Partitions = append(rt.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p.Partition, ErrorCode: p.ErrorCode})
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp, nil
	}
	for i := range req.Transactions {
		t := kmsg.NewAddPartitionsToTxnResponseTransaction()
		t.TransactionalID = req.Transactions[i].TransactionalID
		t.Topics = s.addPartitions(ctx, r, &req.Transactions[i])
		resp.Transactions = append(resp.Transactions, t)
	}
	return resp, nil
}

// addPartitions adds all or none; each partition gets a code.
func (s *Server) addPartitions(ctx context.Context, r *request, ask *kmsg.AddPartitionsToTxnRequestTransaction) []kmsg.AddPartitionsToTxnResponseTransactionTopic {
	topics := s.o.Store.Topics()
	intent := state.AddPartitionsToTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: ask.TransactionalID, ProducerID: ask.ProducerID, ProducerEpoch: ask.ProducerEpoch},
		VerifyOnly:     ask.VerifyOnly,
	}
	var answer []kmsg.AddPartitionsToTxnResponseTransactionTopic
	refused := false
	for _, t := range ask.Topics {
		at := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
		at.Topic = t.Topic
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Write)
		if code == errNone && internalTopic(t.Topic) {
			code = errTopicAuthorizationFailed // the broker's alone
		}
		for _, p := range t.Partitions {
			ap := kmsg.NewAddPartitionsToTxnResponseTransactionTopicPartition()
			ap.Partition, ap.ErrorCode = p, code
			if code == errNone && (p < 0 || p >= topic.Partitions) {
				ap.ErrorCode = errUnknownTopicOrPartition
			}
			refused = refused || ap.ErrorCode != errNone
			at.Partitions = append(at.Partitions, ap)
			intent.Partitions = append(intent.Partitions, state.TopicPartition{Topic: topic.ID, Partition: p})
		}
		answer = append(answer, at)
	}
	codes := make([]int16, len(intent.Partitions))
	all := errNone // for those without a code of their own
	switch {
	case !s.allowed(r, auth.Write, transactionResource(ask.TransactionalID)):
		all, refused = errTransactionalIDAuthorization, false
	case refused:
		all = errOperationNotAttempted
	default:
		res, err := commitAs[state.AddPartitionsResult](ctx, s, intent)
		if err == nil {
			err = res.Err
		}
		if all = s.code(err); all == errInvalidProducerEpoch {
			all = fenced(r.version, 2)
		}
		for i, err := range res.Errs {
			switch codes[i] = s.code(err); {
			case errors.Is(err, state.ErrRequestRefused):
				codes[i] = errOperationNotAttempted // a partition went away just now
			case errors.Is(err, state.ErrNoTransaction):
				codes[i] = notInTransaction(r.version, 5)
			}
		}
	}
	i := 0
	for t := range answer {
		for p := range answer[t].Partitions {
			code := &answer[t].Partitions[p].ErrorCode
			switch {
			case all != errNone && (!refused || *code == errNone):
				*code = all
			case *code == errNone:
				*code = codes[i]
			}
			i++
		}
	}
	return answer
}
