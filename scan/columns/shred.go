package columns

import (
	"context"
	"fmt"
	"math"

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

// shredder makes columns of raw records.
type shredder struct {
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

// shred makes columns, all of them direct, of the rows with offsets in [from, to).
func (w *view) shred(ctx context.Context, cols []scan.Column, from, to int64) ([]*vector.Vector, int, error) {
	most := int(min(int64(w.b.maxRows), to-from))
	var s shredder
	var expanded []blobexpand.Column
	records := false
	for _, c := range cols {
		switch c.Kind {
		case scan.Offset:
			s.offsets = make([]int64, 0, most)
		case scan.Timestamp:
			s.times, s.timed = make([]int64, 0, most), make([]uint64, (most+63)/64)
			records = true
		case scan.Key:
			s.keys, s.keyed = &vector.Texts{}, make([]uint64, (most+63)/64)
			s.keys.Reserve(most)
			records = true
		case scan.Expanded:
			expanded = append(expanded, w.t.Expanded[c.Index])
		}
	}
	if len(expanded) > 0 {
		s.values = blobexpand.NewShredder(expanded, blobexpand.ExpanderOptions{})
		records = true
	}
	it, err := w.s.sn.Batches(w.b.p.tp, store.BatchRange{
		FromOffset: from, ToOffset: to, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("columns: %w", err)
	}
	defer it.Close()
	reader := scan.NewRecords(records)
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return nil, 0, context.Cause(ctx)
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
	out, err := s.take(w.b, cols)
	return out, s.rows, err
}

// take returns the vectors in the order of cols.
func (s *shredder) take(b *block, cols []scan.Column) ([]*vector.Vector, error) {
	var values []vector.Vector
	if s.values != nil {
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
			v = s.keys.Take(s.rows, s.keyed)
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
