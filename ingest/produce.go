package ingest

import (
	"context"
	"fmt"

	"millrace/store/state"
)

// Entry is one batch for one partition, and, once done, what became of it.
type Entry struct {
	Topic     *Topic
	Partition int32
	// Batch is the bytes as sent: exactly one batch. They may be changed in place,
	// and are the store's from Produce on, which lets go of them: an answer that waits
	// for its client must not hold a request in memory.
	Batch []byte

	Result Result
}

// Result says what became of an entry.
type Result struct {
	Err        error // nil, or one that errors.Is finds a sentinel in
	BaseOffset int64 // -1 on error
	AppendTime int64 // Unix ms for topics with LogAppendTime, -1 otherwise
	LogStart   int64 // -1 when unknown
}

// Mode is what holds for a whole request.
type Mode struct {
	// AllOrNothing: an unsound entry fails all others with state.ErrRequestRefused.
	AllOrNothing bool
	// TransactionalID is whose transactional batches are taken; without, none are.
	TransactionalID string
	// AddPartitions: such batches begin their transaction and add their partitions to it.
	AddPartitions bool
}

// Produce checks the entries and submits the sound ones as one commit: all become
// visible at once, or, after a crash, none. An unsound entry does not hinder
// the others, unless mode says AllOrNothing: then nothing is stored.
//
// The order of calls is the order of offsets. done is called exactly once, when all
// results are in: perhaps at once, perhaps on the store's publisher, so it must
// not block. entries belong to Produce until then. Produce itself waits while the
// store is at its limits; when ctx ends that wait, the entries fail with ctx's error.
func (in *Ingest) Produce(ctx context.Context, entries []Entry, mode Mode, done func()) {
	batches := make([]state.Batch, 0, len(entries))
	payload := make([][]byte, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		e.Result = Result{BaseOffset: -1, AppendTime: -1, LogStart: -1}
		b, raw, err := in.accept(e)
		if err == nil && b.Transactional && mode.TransactionalID == "" {
			err = ErrTransactional
		}
		e.Batch = nil
		if err != nil {
			e.Result.Err = err
			in.metrics.refused.Inc()
			continue
		}
		batches = append(batches, b)
		payload = append(payload, raw)
	}
	if mode.AllOrNothing && len(batches) < len(entries) {
		for i := range entries {
			if entries[i].Result.Err == nil {
				entries[i].Result.Err = state.ErrRequestRefused
			}
		}
		batches = nil
	}
	if len(batches) == 0 {
		done()
		return
	}
	intent := state.Produce{
		Batches: batches, AllOrNothing: mode.AllOrNothing,
		TransactionalID: mode.TransactionalID, AddPartitions: mode.AddPartitions,
	}
	err := in.store.Submit(ctx, intent, payload, func(result any, err error) {
		in.settle(entries, batches, result, err)
		done()
	})
	if err != nil {
		in.settle(entries, batches, nil, err)
		done()
	}
}

// settle brings the store's answer into the entries that were submitted: those
// without an error so far.
func (in *Ingest) settle(entries []Entry, batches []state.Batch, result any, err error) {
	r, ok := result.(state.ProduceResult)
	if err == nil && (!ok || len(r.Batches) != len(batches)) {
		err = fmt.Errorf("ingest: the store answered %d batches with %T of %d", len(batches), result, len(r.Batches))
	}
	k := 0
	for i := range entries {
		e := &entries[i]
		if e.Result.Err != nil {
			continue
		}
		b := &batches[k]
		if err != nil {
			e.Result.Err = err
		} else if br := &r.Batches[k]; br.Err != nil {
			e.Result.Err = br.Err
			e.Result.LogStart = br.LogStart
		} else {
			e.Result.BaseOffset = br.BaseOffset
			e.Result.LogStart = br.LogStart
			if e.Topic.Config.LogAppendTime {
				e.Result.AppendTime = b.MaxTimestamp
			}
			if br.Duplicate {
				in.metrics.duplicates.Inc()
			} else {
				in.metrics.batches.Inc()
				in.metrics.records.Add(float64(b.Records))
				in.metrics.bytes.Add(float64(b.SizeBytes))
			}
		}
		if e.Result.Err != nil {
			in.metrics.refused.Inc()
		}
		k++
	}
}
