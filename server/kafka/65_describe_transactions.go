package kafka

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
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

// describeTransactions serves DescribeTransactions 0.
func (s *Server) describeTransactions(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeTransactionsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	topics := s.o.Store.Topics()
	for _, id := range req.TransactionalIDs {
		d := kmsg.NewDescribeTransactionsResponseTransactionState()
		d.TransactionalID, d.ProducerID, d.ProducerEpoch, d.StartTimestamp = id, -1, -1, -1
		t, ok := s.o.Store.Transaction(id)
		switch {
		case !s.allowed(r, auth.Describe, transactionResource(id)):
			d.ErrorCode = errTransactionalIDAuthorization
		case id == "":
			d.ErrorCode = errInvalidRequest
		case !ok:
			d.ErrorCode = errTransactionalIDNotFound
		default:
			d.State = transactionStates[t.Status]
			d.TimeoutMillis, d.StartTimestamp = t.TimeoutMillis, t.StartedAt
			d.ProducerID, d.ProducerEpoch = t.ProducerID, t.ProducerEpoch
			for _, tp := range t.Partitions { // sorted: those of a topic lie together
				topic, ok := topics.ByID(tp.Topic)
				if !ok || !s.allowed(r, auth.Describe, topicResource(topic.Name)) {
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
