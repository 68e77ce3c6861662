package columns

import (
	"context"
	"fmt"
	"math"
	"slices"

	"millrace/blobexpand"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/store"
)

// shredBytes is how many bytes of values are taken in at a time: far below what a Shredder bears. Only the batches of
// a compressed block can have more.
const shredBytes = 1 << 30

// direct says whether shred makes a column. The others are as large as the raw records, or seldom asked for: the row
// path reads them.
func direct(c scan.Column) bool {
	switch c.Kind {
	case scan.Offset, scan.Timestamp, scan.Key, scan.Expanded:
		return true
	}
	return false
}

// workspace is memory for the columns of one block after another: those of a block hold until the next one's are made. Used by one
// goroutine.
type workspace struct {
	values   *blobexpand.Shredder
	expanded []blobexpand.Column // that values makes
	keys     vector.Texts
	lent     bool // keys
	sums     summing
	offsets  []int64
	times    []int64
	timed    []uint64
	keyed    []uint64
	pace     func(context.Context) error // called often while columns are made
	idle     bool                        // since the last sweep
}

// workspace is the one that was used last, or a new one.
func (s *Set) workspace(pace func(context.Context) error) *workspace {
	k := s.kept.Swap(nil)
	if k == nil {
		k = &workspace{}
	}
	k.pace = pace
	return k
}

// keepWorkspace keeps it for the next block, until two calls of Sweep have come between.
func (s *Set) keepWorkspace(k *workspace) {
	k.pace, k.idle = nil, false
	s.kept.Store(k)
}

// dropIdle gives a workspace's memory back if nothing was sealed since the last call.
func (s *Set) dropIdle() {
	if k := s.kept.Swap(nil); k != nil && !k.idle {
		k.idle = true
		s.kept.CompareAndSwap(nil, k)
	}
}

// shredderOf returns one for these columns.
func (k *workspace) shredderOf(cols []blobexpand.Column) *blobexpand.Shredder {
	if k.values == nil || !slices.EqualFunc(cols, k.expanded, func(a, b blobexpand.Column) bool { return expandedKey(&a) == expandedKey(&b) }) {
		k.values, k.expanded = blobexpand.NewShredder(cols, blobexpand.ExpanderOptions{}), cols
	}
	return k.values
}

// shredder makes columns of raw records.
type shredder struct {
	work    *workspace // nil: the columns are given away
	rows    int
	offsets []int64 // nil: not wanted
	times   []int64
	timed   []uint64 // validity of times
	keys    *vector.Texts
	keyed   []uint64
	keyText int64 // bytes of keys
	values  *blobexpand.Shredder
	parts   [][]vector.Vector // of values, but the last
}

// shred makes columns, all of them direct, of the rows with offsets in [from, to). Those of a whole block are lent if there is a workspace.
func (w *view) shred(ctx context.Context, cols []scan.Column, from, to int64) (out []*vector.Vector, rows int, err error) {
	most := int(min(int64(w.b.maxRows), to-from))
	s := shredder{work: w.work}
	if from != w.b.from || to != w.b.end {
		s.work = nil // other parts of the same columns will be made before this one is used
	}
	work := s.work
	var expanded []blobexpand.Column
	records := false
	for _, c := range cols {
		switch c.Kind {
		case scan.Offset:
			s.offsets = s.ints(func(k *workspace) *[]int64 { return &k.offsets }, most)
		case scan.Timestamp:
			s.times = s.ints(func(k *workspace) *[]int64 { return &k.times }, most)
			s.timed = s.bits(func(k *workspace) *[]uint64 { return &k.timed }, most)
			records = true
		case scan.Key:
			s.keys = &vector.Texts{}
			if work != nil {
				s.keys = &work.keys
				if work.lent {
					s.keys.Reset()
				}
				work.lent = true
			}
			s.keyed = s.bits(func(k *workspace) *[]uint64 { return &k.keyed }, most)
			s.keys.Reserve(most)
			records = true
		case scan.Expanded:
			expanded = append(expanded, w.t.Expanded[c.Index])
		}
	}
	if len(expanded) > 0 {
		if work != nil {
			s.values = work.shredderOf(expanded)
			defer func() {
				if err != nil {
					work.values = nil // half a block is in it
				}
			}()
		} else {
			s.values = blobexpand.NewShredder(expanded, blobexpand.ExpanderOptions{})
		}
		records = true
	}
	it, err := w.s.sn.Batches(w.b.p.tp, store.BatchRange{
		FromOffset: from, ToOffset: to, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64, Once: w.work != nil,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("columns: %w", err)
	}
	defer it.Close()
	reader := scan.NewRecords(records)
	size := 0 // of values since the last pause
	for it.Next() {
		if err := pause(ctx, w.work); err != nil {
			return nil, 0, err
		}
		raw, err := it.Bytes()
		if err != nil {
			return nil, 0, err
		}
		if err := reader.Open(raw, it.Info()); err != nil {
			return nil, 0, err
		}
		for recs := reader.Next(); len(recs) > 0; recs = reader.Next() {
			for i := range recs {
				r := &recs[i]
				if size += len(r.Value); size > pauseBytes {
					size = 0
					if err := pause(ctx, w.work); err != nil {
						return nil, 0, err
					}
				}
				if r.Offset < from || r.Offset >= to {
					continue
				}
				if s.rows == most {
					return nil, 0, fmt.Errorf("%w: more than %d rows in [%d,%d) of %v", errRows, most, from, to, w.b)
				}
				row := s.rows
				s.rows++
				if s.offsets != nil {
					s.offsets = append(s.offsets, r.Offset)
				}
				if s.times != nil {
					s.times = append(s.times, r.Timestamp)
					if !scan.TimestampIsNull(r.Timestamp) {
						s.timed[row>>6] |= 1 << (row & 63)
					}
				}
				if s.keys != nil && r.Key != nil {
					text := scan.Text(nil, r.Key)
					if s.keyText += int64(len(text)); s.keyText > maxText {
						return nil, 0, tooMuchText(w.b)
					}
					s.keys.Put(row, text)
					s.keyed[row>>6] |= 1 << (row & 63)
				}
				if s.values != nil {
					if s.values.Bytes()+int64(len(r.Value)) > shredBytes && s.values.Rows() > 0 {
						s.parts = append(s.parts, s.values.Take())
					}
					s.values.Append(r.Value)
				}
			}
		}
	}
	if err := it.Err(); err != nil {
		return nil, 0, err
	}
	out, err = s.take(ctx, w.b, cols)
	return out, s.rows, err
}

// pauseBytes of values take some ten microseconds.
const pauseBytes = 32 << 10

// pause lets others have the processor for a while if that is due.
func pause(ctx context.Context, work *workspace) error {
	if work != nil && work.pace != nil {
		return work.pace(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// ints is room for as many integers, of the workspace if there is one.
func (s *shredder) ints(of func(*workspace) *[]int64, most int) []int64 {
	if s.work == nil {
		return make([]int64, 0, most)
	}
	p := of(s.work)
	if cap(*p) < most {
		*p = make([]int64, 0, most)
	}
	return (*p)[:0]
}

// bits is a validity of that many rows, none of them valid.
func (s *shredder) bits(of func(*workspace) *[]uint64, most int) []uint64 {
	n := (most + 63) / 64
	if s.work == nil {
		return make([]uint64, n)
	}
	p := of(s.work)
	if cap(*p) < n {
		*p = make([]uint64, n)
	}
	clear((*p)[:n])
	return (*p)[:n]
}

// take returns the vectors in the order of cols.
func (s *shredder) take(ctx context.Context, b *block, cols []scan.Column) ([]*vector.Vector, error) {
	var values []vector.Vector
	switch {
	case s.values == nil:
	case s.work != nil && len(s.parts) == 0:
		var err error
		if values, err = s.values.Lend(func() error { return pause(ctx, s.work) }); err != nil {
			return nil, err
		}
	default:
		values = s.values.Take()
	}
	out := make([]*vector.Vector, len(cols))
	next := 0
	for i, c := range cols {
		var v vector.Vector
		switch c.Kind {
		case scan.Offset:
			v = vector.OfInts(s.offsets, nil)
		case scan.Timestamp:
			v = vector.OfInts(s.times, s.timed)
		case scan.Key:
			if s.work != nil {
				v = s.keys.Lend(s.rows, s.keyed)
			} else {
				v = s.keys.Take(s.rows, s.keyed)
			}
		default:
			v = values[next]
			if len(s.parts) > 0 {
				all := make([]*vector.Vector, 0, len(s.parts)+1)
				for _, p := range s.parts {
					all = append(all, &p[next])
				}
				var err error
				if v, err = concat(b, append(all, &v)); err != nil {
					return nil, err
				}
			}
			next++
		}
		out[i] = &v
	}
	return out, nil
}
