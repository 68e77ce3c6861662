package transactions

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AddPartitionsToTxn serves AddPartitionsToTxn 0–5: one transaction up to 3, several, perhaps
// only to be verified, from 4 on (brokers ask so, and nobody else needs to).
func (h *Handlers) AddPartitionsToTxn(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AddPartitionsToTxnRequest)
	resp := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
	if req.Version < 4 {
		ask := kmsg.AddPartitionsToTxnRequestTransaction{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch}
		for _, t := range req.Topics {
			ask.Topics = append(ask.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: t.Topic, Partitions: t.Partitions})
		}
		for _, t := range h.addPartitions(ctx, r, &ask) {
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
		t.Topics = h.addPartitions(ctx, r, &req.Transactions[i])
		resp.Transactions = append(resp.Transactions, t)
	}
	return resp, nil
}

// addPartitions adds all or none; each partition gets a code.
func (h *Handlers) addPartitions(ctx context.Context, r *api.Request, ask *kmsg.AddPartitionsToTxnRequestTransaction) []kmsg.AddPartitionsToTxnResponseTransactionTopic {
	topics := h.Store.Topics()
	intent := state.AddPartitionsToTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: ask.TransactionalID, ProducerID: ask.ProducerID, ProducerEpoch: ask.ProducerEpoch},
		VerifyOnly:     ask.VerifyOnly,
	}
	var answer []kmsg.AddPartitionsToTxnResponseTransactionTopic
	refused := false
	for _, t := range ask.Topics {
		at := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
		at.Topic = t.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Write)
		if code == kafkaerr.None && api.InternalTopic(t.Topic) {
			code = kafkaerr.TopicAuthorizationFailed // the broker's alone
		}
		for _, p := range t.Partitions {
			ap := kmsg.NewAddPartitionsToTxnResponseTransactionTopicPartition()
			ap.Partition, ap.ErrorCode = p, code
			if code == kafkaerr.None && (p < 0 || p >= topic.Partitions) {
				ap.ErrorCode = kafkaerr.UnknownTopicOrPartition
			}
			refused = refused || ap.ErrorCode != kafkaerr.None
			at.Partitions = append(at.Partitions, ap)
			intent.Partitions = append(intent.Partitions, state.TopicPartition{Topic: topic.ID, Partition: p})
		}
		answer = append(answer, at)
	}
	codes := make([]int16, len(intent.Partitions))
	all := kafkaerr.None // for those without a code of their own
	switch {
	case !h.Allowed(r, auth.Write, api.TransactionResource(ask.TransactionalID)):
		all, refused = kafkaerr.TransactionalIDAuthorization, false
	case refused:
		all = kafkaerr.OperationNotAttempted
	default:
		res, err := api.CommitAs[state.AddPartitionsResult](ctx, h.Node, intent)
		if err == nil {
			err = res.Err
		}
		if all = h.Code(err); all == kafkaerr.InvalidProducerEpoch {
			all = kafkaerr.Fenced(r.Version, 2)
		}
		for i, err := range res.Errs {
			switch codes[i] = h.Code(err); {
			case errors.Is(err, state.ErrRequestRefused):
				codes[i] = kafkaerr.OperationNotAttempted // a partition went away just now
			case errors.Is(err, state.ErrNoTransaction):
				codes[i] = kafkaerr.NotInTransaction(r.Version, 5)
			}
		}
	}
	i := 0
	for t := range answer {
		for p := range answer[t].Partitions {
			code := &answer[t].Partitions[p].ErrorCode
			switch {
			case all != kafkaerr.None && (!refused || *code == kafkaerr.None):
				*code = all
			case *code == kafkaerr.None:
				*code = codes[i]
			}
			i++
		}
	}
	return answer
}
