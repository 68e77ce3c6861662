package transactions

import (
	"context"
	"log/slog"
	"time"

	"millrace/server/kafka/rarelog"
	"millrace/store/state"
)

const (
	// ExpireEvery bounds how much longer than its timeout a transaction can hold
	// up readers of committed records. Kafka looks every ten seconds.
	ExpireEvery = time.Second
	// forgetEvery is how often idle transactional ids are looked for.
	forgetEvery = 10 * time.Minute
)

// Expire aborts, until ctx ends, what producers left open for longer
// than they asked for, and forgets transactional ids that nobody uses. A transaction's time
// counts from when it was first seen here: wall clocks jump, and after a restart producers
// need a while to come back.
func (h *Handlers) Expire(ctx context.Context) {
	tick := time.NewTicker(ExpireEvery)
	defer tick.Stop()
	forget := time.NewTicker(forgetEvery)
	defer forget.Stop()
	seen := map[state.OpenTransaction]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			seen = h.abortTimedOut(ctx, seen)
		case <-forget.C:
			intent := state.ExpireTransactionalIDs{IdleMillis: h.IDExpiration.Milliseconds()}
			if _, err := h.Store.Commit(ctx, intent); err != nil && ctx.Err() == nil {
				h.Log.Warn("expiration not stored, will be tried again", slog.String("of", "transactional ids"), slog.Any("error", err))
			}
		}
	}
}

// abortTimedOut returns when each open transaction was first seen.
func (h *Handlers) abortTimedOut(ctx context.Context, before map[state.OpenTransaction]time.Time) map[state.OpenTransaction]time.Time {
	seen := make(map[state.OpenTransaction]time.Time, len(before))
	for _, t := range h.Store.OpenTransactions() {
		since, ok := before[t]
		if !ok {
			since = time.Now()
		}
		seen[t] = since
		if time.Since(since) <= time.Duration(t.TimeoutMillis)*time.Millisecond {
			continue
		}
		if _, err := h.Store.Commit(ctx, state.ExpireTransaction{OpenTransaction: t}); err != nil {
			if ctx.Err() == nil {
				h.Log.Warn("transaction not aborted, will be tried again", slog.String("transactional_id", rarelog.Cut(t.TransactionalID)), slog.Any("error", err))
			}
			continue
		}
		h.Log.Info("transaction took longer than its producer asked for: aborted",
			slog.String("transactional_id", rarelog.Cut(t.TransactionalID)), slog.Int64("producer_id", t.ProducerID), slog.Int("timeout_ms", int(t.TimeoutMillis)))
	}
	return seen
}
