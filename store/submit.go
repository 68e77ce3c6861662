package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/internal/recordbatch"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// Submit decides intent at once, in call order, queues its entry and returns.
// payload is the record batches of a Produce, one per Batch of the intent: their
// base offset and leader epoch fields are patched in place, and the memory is
// the store's from here on (never pooled by the caller).
// done is called exactly once, in submission order over all callers, when
// the result is durable and published: with the intent's result type, or with
// a commitlog error. It runs on the store's publisher and must not block.
// A refused or duplicate intent waits for everything decided before it.
// Submit itself blocks while the in-flight or unsealed budget is used up; ctx
// ends only that wait. A returned error (ctx's, commitlog.ErrClosed, or a
// payload that does not fit the intent) means that done is never called.
func (s *Store) Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(result any, err error)) error {
	var bytes int64
	produce, isProduce := intent.(state.Produce)
	if isProduce {
		if len(payload) != len(produce.Batches) {
			return fmt.Errorf("store: %d payloads for %d batches", len(payload), len(produce.Batches))
		}
		for i, b := range payload {
			if len(b) < recordbatch.HeaderBytes || len(b) != int(produce.Batches[i].SizeBytes) {
				return fmt.Errorf("store: payload of %d bytes for a batch of %d", len(b), produce.Batches[i].SizeBytes)
			}
			bytes += int64(len(b))
		}
	} else if len(payload) != 0 {
		return fmt.Errorf("store: payload for %T", intent)
	}
	// Only records wait for room: deleting, trimming and retention must get
	// through when there is none.
	if bytes > 0 {
		if err := s.budget.Acquire(ctx, bytes); err != nil {
			return err
		}
	}
	sl := &slot{intent: intent, bytes: bytes, done: done}

	s.seq.Lock()
	defer s.seq.Unlock()
	if s.seq.closed {
		s.budget.Release(bytes)
		return commitlog.ErrClosed
	}
	if s.failed.Load() {
		sl.err, sl.refused = s.failure(), true
		s.queue.push(sl, true)
		return nil
	}
	s.decide(sl, produce, payload)
	return nil
}

// decide runs under the sequencer lock.
func (s *Store) decide(sl *slot, produce state.Produce, payload [][]byte) {
	sl.start = s.o.Now()
	sl.now = sl.start.UnixMilli()
	switch sl.intent.(type) {
	case state.ExpireOffsets, state.ExpireProducers, state.ExpireTransactionalIDs:
		if !s.clock.believes(sl.start, time.Now()) {
			sl.now = 0 // nothing is as old as that
		}
	}
	var err error
	buf := s.entryBufs.get()
	entry, result := s.seq.decided.Decide(sl.now, sl.intent, buf)
	sl.result = result
	if entry == nil {
		s.entryBufs.put(buf)
		s.queue.push(sl, true)
		return
	}
	sl.entry = entry
	sl.lsn = s.seq.last + 1
	if len(payload) > 0 {
		sl.payload = place(payload, result.(state.ProduceResult).Batches)
	} else if sl.markers, err = state.Batches(entry, nil); err != nil {
		panic(fmt.Sprintf("store: the decided entry has no readable batches: %v", err))
	} else if len(sl.markers) > 0 {
		sl.payload = buildMarkers(sl.markers)
	}
	// The slot must be queued before the log can complete it. The state follows
	// after Append: nobody else decides in between, and if the log refuses, there
	// is nothing to undo.
	s.queue.push(sl, false)
	err = s.log.Append(s.seq.last, commitlog.Entry{
		Meta:     entry,
		Payload:  sl.payload,
		Reserved: usesReserve(sl.intent),
	}, sl.logDone)
	if err != nil {
		// Nothing was queued and the decided state is as it was, so this concerns
		// this entry alone, unless the log refuses all of them.
		switch {
		case errors.Is(err, commitlog.ErrNoSpace):
			sl.refused = true
			s.noSpace.Store(true)
			s.wantHealing()
		case errors.Is(err, commitlog.ErrTooLarge), errors.Is(err, commitlog.ErrClosed):
			sl.refused = true
		default:
			s.failed.Store(true)
		}
		sl.logDone(commitlog.Location{}, err)
		return
	}
	if sl.bytes > 0 && s.noSpace.Load() {
		s.noSpace.Store(false)
	}
	s.seq.last++
	if err := s.seq.decided.Apply(entry); err != nil {
		panic(fmt.Sprintf("store: decided state refuses its own entry: %v", err))
	}
}

// place patches the accepted batches' base offsets and drops the others.
func place(payload [][]byte, results []state.BatchResult) [][]byte {
	accepted := payload[:0]
	for i, b := range payload {
		if r := &results[i]; r.Err == nil && !r.Duplicate {
			recordbatch.SetBaseOffset(b, r.BaseOffset)
			recordbatch.SetLeaderEpoch(b, 0)
			accepted = append(accepted, b)
		}
	}
	return accepted
}

// usesReserve says which intents may use the log's reserve on a full disk: those
// that make room.
func usesReserve(intent state.Intent) bool {
	switch intent.(type) {
	case state.DeleteTopic, state.AdvanceLogStart, state.SetTopicConfigs,
		state.ExpireOffsets, state.ExpireProducers, state.DeleteGroup, state.DeleteOffsets,
		// Retention waits for open transactions, and none can begin on a full disk.
		state.EndTransaction, state.ExpireTransaction, state.ExpireTransactionalIDs:
		return true
	}
	return false
}

// Commit is Submit and wait. After ctx ended, whether the intent was carried out
// is not known.
func (s *Store) Commit(ctx context.Context, intent state.Intent) (result any, err error) {
	type answer struct {
		result any
		err    error
	}
	c := make(chan answer, 1)
	if err := s.Submit(ctx, intent, nil, func(result any, err error) { c <- answer{result, err} }); err != nil {
		return nil, err
	}
	select {
	case a := <-c:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
