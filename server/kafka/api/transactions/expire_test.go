package transactions

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"millrace/internal/vfs"
	"millrace/server/kafka/api"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
)

func TestTimedOutTransactionsAreAbortedByAMonotonicClock(t *testing.T) {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(ctx, store.Options{Dir: "/data", FS: vfs.NewMem(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	n := &api.Node{Store: st, Log: log, Now: func() time.Time { return time.Unix(1, 0) }}
	h := &Handlers{Node: n}
	topic, err := api.CommitAs[state.TopicResult](ctx, n, state.CreateTopic{ID: uuid.New(), Name: "t", Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	res, err := api.CommitAs[state.ProducerIDResult](ctx, n, state.InitTransaction{TransactionalID: "x", TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1})
	if err != nil {
		t.Fatal(err)
	}
	ref := state.TransactionRef{TransactionalID: "x", ProducerID: res.ProducerID, ProducerEpoch: res.ProducerEpoch}
	if _, err := st.Commit(ctx, state.AddPartitionsToTransaction{TransactionRef: ref, Partitions: []state.TopicPartition{{Topic: topic.Topic.ID}}}); err != nil {
		t.Fatal(err)
	}
	seen := h.abortTimedOut(ctx, nil)
	if tx, _ := st.Transaction("x"); len(seen) != 1 || tx.Status != state.TransactionOngoing {
		t.Fatal(seen, tx)
	}
	for open := range seen {
		seen[open] = time.Now().Add(-61 * time.Second)
	}
	h.abortTimedOut(ctx, seen)
	if tx, _ := st.Transaction("x"); tx.Status != state.TransactionCompleteAbort || tx.ProducerEpoch != ref.ProducerEpoch+1 {
		t.Fatal(tx)
	}
}
