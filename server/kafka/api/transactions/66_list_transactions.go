package transactions

import (
	"context"
	"regexp"
	"slices"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaTransactionStates are all names that a filter may have.
var kafkaTransactionStates = []string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}

// maxPatternBytes bounds what is compiled: a transactional id can be no longer than 32 KiB,
// and patterns are names with a few stars.
const maxPatternBytes = 4 << 10

// ListTransactions serves ListTransactions 0–2.
func (h *Handlers) ListTransactions(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ListTransactionsRequest)
	resp := req.ResponseKind().(*kmsg.ListTransactionsResponse)
	for _, name := range req.StateFilters {
		if !slices.Contains(kafkaTransactionStates, name) {
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, name)
		}
	}
	var pattern *regexp.Regexp
	if req.Version >= 2 && req.TransactionalIDPattern != nil && *req.TransactionalIDPattern != "" {
		if len(*req.TransactionalIDPattern) > maxPatternBytes {
			resp.ErrorCode = kafkaerr.InvalidRegularExpression
			return resp, nil
		}
		_, err := regexp.Compile(*req.TransactionalIDPattern) // a stray ')' would close our group
		if err == nil {
			pattern, err = regexp.Compile(`\A(?:` + *req.TransactionalIDPattern + `)\z`) // the whole id must match, as in Java
		}
		if err != nil {
			resp.ErrorCode = kafkaerr.InvalidRegularExpression
			return resp, nil
		}
	}
	now := h.Now().UnixMilli()
	for _, t := range h.Store.Transactions() {
		switch {
		case len(req.StateFilters) > 0 && !slices.Contains(req.StateFilters, transactionStates[t.Status]),
			len(req.ProducerIDFilters) > 0 && !slices.Contains(req.ProducerIDFilters, t.ProducerID),
			req.Version >= 1 && req.DurationFilterMillis >= 0 && (t.Status != state.TransactionOngoing || now-t.StartedAt <= req.DurationFilterMillis),
			pattern != nil && !pattern.MatchString(t.TransactionalID),
			!h.Allowed(r, auth.Describe, api.TransactionResource(t.TransactionalID)):
			continue
		}
		l := kmsg.NewListTransactionsResponseTransactionState()
		l.TransactionalID, l.ProducerID, l.TransactionState = t.TransactionalID, t.ProducerID, transactionStates[t.Status]
		resp.TransactionStates = append(resp.TransactionStates, l)
	}
	return resp, nil
}
