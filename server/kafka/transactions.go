package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"millrace/server/auth"
	"millrace/store/state"
)

const (
	// expireTransactionsEvery bounds how much longer than its timeout a transaction can hold
	// up readers of committed records. Kafka looks every ten seconds.
	expireTransactionsEvery = time.Second
	// forgetTransactionsEvery is how often idle transactional ids are looked for.
	forgetTransactionsEvery = 10 * time.Minute
)

func transactionResource(id string) auth.Resource {
	return auth.Resource{Type: auth.TransactionalID, Name: id}
}

// fenced is the code for a producer whose epoch has passed, which versions of an API before
// since know under the older name only.
func fenced(version, since int16) int16 {
	if version < since {
		return errInvalidProducerEpoch
	}
	return errProducerFenced
}

// notInTransaction is the code for what its transaction does not hold: versions from since on
// know one that tells the producer to abort, where the older one stops it for good (KIP-890).
func notInTransaction(version, since int16) int16 {
	if version < since {
		return errInvalidTxnState
	}
	return errTransactionAbortable
}

// commitAs is Store.Commit of an intent that is answered with a T.
func commitAs[T any](ctx context.Context, s *Server, intent state.Intent) (T, error) {
	var none T
	result, err := s.commit(ctx, intent)
	if err != nil {
		return none, err
	}
	t, ok := result.(T)
	if !ok {
		return none, fmt.Errorf("%T was answered with %T", intent, result)
	}
	return t, nil
}

// expireTransactions aborts, until the server stops, what producers left open for longer
// than they asked for, and forgets transactional ids that nobody uses. A transaction's time
// counts from when it was first seen here: wall clocks jump, and after a restart producers
// need a while to come back.
func (s *Server) expireTransactions() {
	tick := time.NewTicker(expireTransactionsEvery)
	defer tick.Stop()
	forget := time.NewTicker(forgetTransactionsEvery)
	defer forget.Stop()
	seen := map[state.OpenTransaction]time.Time{}
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			seen = s.abortTimedOut(s.ctx, seen)
		case <-forget.C:
			intent := state.ExpireTransactionalIDs{IdleMillis: s.o.TransactionalIDExpiration.Milliseconds()}
			if _, err := s.o.Store.Commit(s.ctx, intent); err != nil && s.ctx.Err() == nil {
				s.log.Warn("expiration not stored, will be tried again", slog.String("of", "transactional ids"), slog.Any("error", err))
			}
		}
	}
}

// abortTimedOut returns when each open transaction was first seen.
func (s *Server) abortTimedOut(ctx context.Context, before map[state.OpenTransaction]time.Time) map[state.OpenTransaction]time.Time {
	seen := make(map[state.OpenTransaction]time.Time, len(before))
	for _, t := range s.o.Store.OpenTransactions() {
		since, ok := before[t]
		if !ok {
			since = time.Now()
		}
		seen[t] = since
		if time.Since(since) <= time.Duration(t.TimeoutMillis)*time.Millisecond {
			continue
		}
		if _, err := s.o.Store.Commit(ctx, state.ExpireTransaction{OpenTransaction: t}); err != nil {
			if ctx.Err() == nil {
				s.log.Warn("transaction not aborted, will be tried again", slog.String("transactional_id", cut(t.TransactionalID)), slog.Any("error", err))
			}
			continue
		}
		s.log.Info("transaction took longer than its producer asked for: aborted",
			slog.String("transactional_id", cut(t.TransactionalID)), slog.Int64("producer_id", t.ProducerID), slog.Int("timeout_ms", int(t.TimeoutMillis)))
	}
	return seen
}
