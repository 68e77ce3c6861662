package scan

import (
	"context"
	"fmt"
	"math"

	"millrace/internal/recordbatch"
	"millrace/store"
	"millrace/store/state"
)

// latestMemoryBytes bounds the keys that Latest holds at once, and likewise the offsets that it
// found to be the newest of theirs. More keys cost more passes over a partition; more offsets are ErrMemory, from
// about two thousand million records of one partition on.
const latestMemoryBytes = 128 << 20

// Latest is a Source of the newest record of each key of each partition of src: no tombstones, no records
// without a key. What a request filters, it filters of these; so no filter brings an older record back.
//
// A record that cannot be decoded has no key that anybody knows of. It is kept, and its row says so in _error: it may
// hide a newer record of any key, which must not go unseen.
//
// Before the first batch of a partition is returned, all of its batches are read for their keys, in bounded memory: with
// more keys than there is room for, in several passes, each for one range of the keys' hashes.
func Latest(src Source) Source { return latestSource{src, latestMemoryBytes} }

// Stored is where the batches of src are read from, all of them: what Latest was made of, or else src.
func Stored(src Source) Source {
	if l, ok := src.(latestSource); ok {
		return l.Source
	}
	return src
}

type latestSource struct {
	Source
	memory int64
}

// Bounds implements Source. The records between them cannot be counted by subtraction.
func (s latestSource) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	b, err := s.Source.Bounds(tp)
	b.Dense = false
	return b, err
}

// Batches implements Source.
func (s latestSource) Batches(ctx context.Context, tp state.TopicPartition, r store.BatchRange) (BatchIter, error) {
	return &latestIter{ctx: ctx, src: s, tp: tp, r: r}, nil
}

// latestIter leaves out batches without a newest record. The others are returned whole; Keeps tells their
// records apart.
type latestIter struct {
	BatchIter // nil until the first Next
	ctx       context.Context
	src       latestSource
	tp        state.TopicPartition
	r         store.BatchRange
	keep      *offsetSet
	err       error
}

// Next implements BatchIter.
func (it *latestIter) Next() bool {
	if it.err != nil {
		return false
	}
	if it.BatchIter == nil {
		if it.keep, it.err = it.src.newest(it.ctx, it.tp); it.err != nil {
			return false
		}
		if it.BatchIter, it.err = it.src.Source.Batches(it.ctx, it.tp, it.r); it.err != nil {
			return false
		}
	}
	for it.BatchIter.Next() {
		if i := it.Info(); it.keep.any(i.BaseOffset, i.LastOffset) {
			return true
		}
	}
	return false
}

// Err implements BatchIter.
func (it *latestIter) Err() error {
	if it.err != nil || it.BatchIter == nil {
		return it.err
	}
	return it.BatchIter.Err()
}

// Close implements BatchIter.
func (it *latestIter) Close() {
	if it.BatchIter != nil {
		it.BatchIter.Close()
	}
	it.keep = nil
}

// Keeps implements recordFilter.
func (it *latestIter) Keeps(offset int64) bool { return it.keep.has(offset) }

// newest finds the offsets of a partition's newest records.
func (s latestSource) newest(ctx context.Context, tp state.TopicPartition) (*offsetSet, error) {
	b, err := s.Source.Bounds(tp)
	if err != nil {
		return nil, err
	}
	keys := newLatestKeys(s.memory)
	out := &offsetSet{memory: s.memory}
	for first := true; ; first = false {
		if err := s.pass(ctx, tp, b, keys, out, first); err != nil {
			return nil, err
		}
		for i := range keys.slots {
			if e := &keys.slots[i]; e.used && !e.tombstone {
				if err := out.add(e.offset); err != nil {
					return nil, err
				}
			}
		}
		if !keys.more() {
			return out, nil
		}
	}
}

// pass notes the newest offset of each key whose hash is in the present range.
func (s latestSource) pass(ctx context.Context, tp state.TopicPartition, b state.Bounds, keys *latestKeys, out *offsetSet, first bool) error {
	it, err := s.Source.Batches(ctx, tp, store.BatchRange{ToOffset: b.End, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64})
	if err != nil {
		return err
	}
	defer it.Close()
	var rd recordbatch.Reader
	var rec recordbatch.Record
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		raw, err := it.Bytes()
		if err != nil {
			return err
		}
		batch, _, err := recordbatch.Parse(raw)
		if err != nil {
			return fmt.Errorf("scan: batch at offset %d: %w", it.Info().BaseOffset, err)
		}
		if batch.Control() {
			continue
		}
		next := batch.BaseOffset
		err = rd.Reset(&batch)
		for err == nil && rd.Next(&rec) {
			next = rec.Offset + 1
			if rec.Key != nil && rec.Offset >= b.LogStart && rec.Offset < b.End {
				keys.put(rec.Key, rec.Offset, rec.Value == nil)
			}
		}
		if (err != nil || rd.Err() != nil) && first {
			out.unreadable(next, batch.LastOffset()+1)
		}
	}
	return it.Err()
}
