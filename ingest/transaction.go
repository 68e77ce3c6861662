package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// Transaction writes records of any topics so that all of them count, or none. Its frames go to the log as
// they come, so it may be larger than memory; until Commit nobody sees them but consumers that ask for
// uncommitted records. Whatever is left of it after a crash is aborted by the next Begin under its id, or
// by its timeout. Not safe for concurrent use.
type Transaction struct {
	in   *Ingest
	ref  state.TransactionRef
	next map[state.TopicPartition]int32 // sequence of the next record
	// wrote: something was appended, so there is something to end.
	wrote bool
	// broken: an append's fate is not known, or it failed half way; it can only be aborted.
	broken error
}

// ErrBroken says that a transaction can only be aborted, because an append to it failed.
var ErrBroken = errors.New("the transaction can only be aborted")

// Begin starts a transaction under a transactional id, which belongs to the caller alone: what is still
// open under it is aborted. timeout bounds how long it may stay open.
func (in *Ingest) Begin(ctx context.Context, id string, timeout time.Duration) (*Transaction, error) {
	ms := min(timeout.Milliseconds(), math.MaxInt32)
	r, err := in.commit(ctx, state.InitTransaction{TransactionalID: id, TimeoutMillis: int32(ms), ProducerID: -1, ProducerEpoch: -1})
	if err != nil {
		return nil, fmt.Errorf("begin transaction %s: %w", id, err)
	}
	return &Transaction{
		in:   in,
		ref:  state.TransactionRef{TransactionalID: id, ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch},
		next: map[state.TopicPartition]int32{},
	}, nil
}

// ProducerID is the id under which the records are written.
func (tx *Transaction) ProducerID() int64 { return tx.ref.ProducerID }

// Wrote says whether anything was appended.
func (tx *Transaction) Wrote() bool { return tx.wrote }

// Err is why the transaction can only be aborted; nil while it can be committed.
func (tx *Transaction) Err() error { return tx.broken }

// Append adds records, in one commit of the log: all of this call or none. After an error the transaction
// can only be aborted, unless the records were refused before anything was written.
func (tx *Transaction) Append(ctx context.Context, t *Topic, records []Record) error {
	if tx.broken != nil {
		return fmt.Errorf("%w: %w", ErrBroken, tx.broken)
	}
	if len(records) == 0 {
		return nil
	}
	sequences := make(map[state.TopicPartition]int32)
	b, err := tx.in.batches(t, records, func(p int32, b *recordbatch.Builder) {
		tp := state.TopicPartition{Topic: t.ID, Partition: p}
		seq, ok := sequences[tp]
		if !ok {
			seq = tx.next[tp]
		}
		b.SetTransaction(tx.ref.ProducerID, tx.ref.ProducerEpoch, seq)
		sequences[tp] = int32((int64(seq) + int64(b.Len())) & math.MaxInt32)
	})
	if err != nil {
		return err
	}
	done := make(chan struct{})
	// The wait for room ends with ctx; what was submitted is waited for, since not to know would break
	// the transaction.
	tx.in.Produce(ctx, b.entries, Mode{AllOrNothing: true, TransactionalID: tx.ref.TransactionalID, AddPartitions: true}, func() { close(done) })
	<-done
	if err := b.settle(t); err != nil {
		if !refusal(err) {
			tx.broken = err
		}
		return err
	}
	tx.wrote = true
	for tp, seq := range sequences {
		tx.next[tp] = seq
	}
	return nil
}

// refusal says whether err tells of records that were refused before anything was written, so that the
// transaction is as it was.
func refusal(err error) bool {
	for _, e := range []error{ErrMessageTooLarge, ErrInvalidTimestamp, ErrInvalidRecord, state.ErrUnknownTopic, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Commit makes all records visible at once. When it returns nil, they are durable. On an error nothing
// was made visible, unless the log is in doubt (commitlog.ErrInDoubt).
func (tx *Transaction) Commit() error {
	if tx.broken != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrBroken, tx.broken), tx.Abort())
	}
	return tx.end(true)
}

// Abort drops the records. An error leaves that to the timeout.
func (tx *Transaction) Abort() error { return tx.end(false) }

// end waits without a context: whoever asks for an end wants to know it.
func (tx *Transaction) end(commit bool) error {
	if !tx.wrote && tx.broken == nil {
		return nil
	}
	_, err := tx.in.commit(context.Background(), state.EndTransaction{TransactionRef: tx.ref, Commit: commit, BumpEpoch: true})
	tx.wrote, tx.broken = false, nil
	if err == nil {
		return nil
	}
	if !commit && (errors.Is(err, state.ErrInvalidProducerEpoch) || errors.Is(err, state.ErrInvalidProducerID)) {
		return nil // the timeout came first: it is aborted
	}
	return fmt.Errorf("end transaction %s: %w", tx.ref.TransactionalID, err)
}

// commit submits an intent that a ProducerIDResult answers, and waits for it.
func (in *Ingest) commit(ctx context.Context, intent state.Intent) (state.ProducerIDResult, error) {
	type answer struct {
		result any
		err    error
	}
	done := make(chan answer, 1)
	if err := in.store.Submit(ctx, intent, nil, func(result any, err error) { done <- answer{result, err} }); err != nil {
		return state.ProducerIDResult{}, err
	}
	a := <-done
	if a.err != nil {
		return state.ProducerIDResult{}, a.err
	}
	r, ok := a.result.(state.ProducerIDResult)
	if !ok {
		return r, fmt.Errorf("ingest: the store answered %T with %T", intent, a.result)
	}
	return r, r.Err
}
