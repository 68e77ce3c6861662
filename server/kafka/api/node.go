package api

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"
	"millrace/store"
	"millrace/store/state"
)

// Node is the one node of the cluster, for which all handlers answer.
type Node struct {
	NodeID int32
	Store  *store.Store
	Auth   *auth.Service
	Now    func() time.Time
	Log    *slog.Logger
	Rare   *rarelog.Log // writes to Log
}

// ChangeAttempts bounds how often a change of what is kept as a whole is tried again because
// another one came first. Each of those made progress, so this is never reached by bad luck.
const ChangeAttempts = 100

// Code is the protocol code of err. One that has none leaves a line in the log.
func (n *Node) Code(err error) int16 {
	code, known := kafkaerr.Code(err)
	if !known {
		n.Log.Error("no protocol code for an error", slog.Any("error", err))
	}
	return code
}

// Fault is the code and message of err in a response: a kafkaerr.Fault's own, else the table's.
func (n *Node) Fault(err error) (code int16, message *string) {
	code = n.Code(err)
	if code == kafkaerr.None || code == kafkaerr.UnknownServerError {
		return code, nil // the log has it; it is nothing for a client
	}
	return code, Nullable(err.Error())
}

// Commit is Store.Commit of an intent of a request.
func (n *Node) Commit(ctx context.Context, intent state.Intent) (any, error) {
	defer Waiting(ctx)()
	return n.Store.Commit(ctx, intent)
}

// CommitAs is Commit of an intent that is answered with a T.
func CommitAs[T any](ctx context.Context, n *Node, intent state.Intent) (T, error) {
	var none T
	result, err := n.Commit(ctx, intent)
	if err != nil {
		return none, err
	}
	t, ok := result.(T)
	if !ok {
		return none, fmt.Errorf("%T was answered with %T", intent, result)
	}
	return t, nil
}

// Submit hands the store an intent whose answer is waited for later, so that several share a sync.
func (n *Node) Submit(ctx context.Context, intent state.Intent) <-chan Answer[any] {
	defer Waiting(ctx)()
	ch := make(chan Answer[any], 1)
	if err := n.Store.Submit(ctx, intent, nil, func(result any, err error) { ch <- Answer[any]{result, err} }); err != nil {
		ch <- Answer[any]{nil, err}
	}
	return ch
}
