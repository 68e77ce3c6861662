package transactions

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// transactionStates are Kafka's names of the statuses. Those in between (PrepareCommit and so
// on) cannot be seen here: a transaction ends with one entry of the log.
var transactionStates = map[state.TransactionStatus]string{
	state.TransactionEmpty:          "Empty",
	state.TransactionOngoing:        "Ongoing",
	state.TransactionCompleteCommit: "CompleteCommit",
	state.TransactionCompleteAbort:  "CompleteAbort",
}

// DescribeTransactions serves DescribeTransactions 0.
func (h *Handlers) DescribeTransactions(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeTransactionsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	topics := h.Store.Topics()
	for _, id := range req.TransactionalIDs {
		d := kmsg.NewDescribeTransactionsResponseTransactionState()
		d.TransactionalID, d.ProducerID, d.ProducerEpoch, d.StartTimestamp = id, -1, -1, -1
		t, ok := h.Store.Transaction(id)
		switch {
		case !h.Allowed(r, auth.Describe, api.TransactionResource(id)):
			d.ErrorCode = kafkaerr.TransactionalIDAuthorization
		case id == "":
			d.ErrorCode = kafkaerr.InvalidRequest
		case !ok:
			d.ErrorCode = kafkaerr.TransactionalIDNotFound
		default:
			d.State = transactionStates[t.Status]
			d.TimeoutMillis, d.StartTimestamp = t.TimeoutMillis, t.StartedAt
			d.ProducerID, d.ProducerEpoch = t.ProducerID, t.ProducerEpoch
			for _, tp := range t.Partitions { // sorted: those of a topic lie together
				topic, ok := topics.ByID(tp.Topic)
				if !ok || !h.Allowed(r, auth.Describe, api.TopicResource(topic.Name)) {
					continue
				}
				if n := len(d.Topics); n == 0 || d.Topics[n-1].Topic != topic.Name {
					dt := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
					dt.Topic = topic.Name
					d.Topics = append(d.Topics, dt)
				}
				dt := &d.Topics[len(d.Topics)-1]
				dt.Partitions = append(dt.Partitions, tp.Partition)
			}
			slices.SortFunc(d.Topics, func(a, b kmsg.DescribeTransactionsResponseTransactionStateTopic) int {
				return strings.Compare(a.Topic, b.Topic)
			})
		}
		resp.TransactionStates = append(resp.TransactionStates, d)
	}
	return resp, nil
}
