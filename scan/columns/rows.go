package columns

import (
	"context"
	"fmt"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
)

var _ exec.RowReader = (*view)(nil)

const (
	// singleRows is how many rows of a block are read on their own. Who asks again and again is better served by columns
	// in memory.
	singleRows = 64
	// singlePages is for how many of them pages of a file count: a third question decodes the columns, of which pages cost a third.
	singlePages = singleRows / 2
	// singleCost is how much of a file is decoded in the time that one row takes, in bytes.
	singleCost = 4 << 20
	// defaultSmallChunks are bytes of columns that are read as soon as a few of their pages.
	defaultSmallChunks = 256 << 10
)

// OpenRows implements exec.RowReader: the rows' pages are read of the block's file, or the rows by the row path, one after the other.
func (w *view) OpenRows(ctx context.Context, cols []scan.Column, from, to int, rows []int32) (vecs []*vector.Vector, ok bool, err error) {
	b, cache := w.b, w.s.set.cache
	keys := make(map[scan.Column]string, len(cols))
	for _, c := range cols {
		keys[c] = w.key(c)
	}
	if cache.has(b, keys) || b.singles.Add(int64(len(rows))) > singleRows {
		return nil, false, nil
	}
	if vecs := w.rowsFromFile(cols, keys, from, to); vecs != nil {
		b.singles.Add(singlePages)
		w.s.set.m.rowsRead.Add(float64(len(rows)))
		return vecs, true, nil
	}
	if w.lessThanRows(keys, len(rows)) {
		return nil, false, nil
	}
	held := make([]*column, 1)
	if !b.dense {
		if !cache.pin(b, []string{keyOffset}, held) {
			return nil, false, nil
		}
		defer cache.unpin(held)
	}
	offset := func(row int) int64 {
		if b.dense {
			return b.from + int64(row)
		}
		return held[0].vec.Int(row)
	}
	parts := make([][]*vector.Vector, len(cols))
	gap := func(n int) {
		for i, c := range cols {
			if n > 0 {
				t := TypeOf(w.t, c)
				v := vector.Nulls(t.Kind, t.Scale, n)
				parts[i] = append(parts[i], &v)
			}
		}
	}
	at := from
	for i := 0; i < len(rows); {
		row, n := from+int(rows[i]), 1
		first := offset(row)
		for i+n < len(rows) && rows[i+n] == rows[i]+int32(n) && offset(row+n) == first+int64(n) {
			n++
		}
		gap(row - at)
		read, count, err := w.readRows(ctx, cols, first, first+int64(n))
		if err != nil {
			return nil, false, err
		}
		if count != n {
			return nil, false, fmt.Errorf("%w: %d of offsets [%d,%d) in %v", errRows, count, first, first+int64(n), b)
		}
		for j, v := range read {
			parts[j] = append(parts[j], v)
		}
		at = row + n
		i += n
	}
	gap(to - at)
	vecs = make([]*vector.Vector, len(cols))
	for i := range cols {
		v, err := concat(b, parts[i])
		if err != nil {
			return nil, false, err
		}
		vecs[i] = &v
	}
	w.s.set.m.rowsRead.Add(float64(len(rows)))
	return vecs, true, nil
}

// rowsFromFile reads rows [from, to) of columns from the block's file, those pages alone; nil when that cannot be done.
func (w *view) rowsFromFile(cols []scan.Column, keys map[scan.Column]string, from, to int) []*vector.Vector {
	x := w.b.file.Load()
	if x == nil || !x.f.acquire() {
		return nil
	}
	defer x.f.release()
	size := int64(0)
	at := make([]int, len(cols))
	for i, c := range cols {
		if keys[c] == "" {
			return nil
		}
		if at[i] = x.f.r.Column(keys[c]); at[i] < 0 {
			return nil
		}
		size += x.block().Chunks[at[i]].Size
	}
	if size <= w.s.set.smallChunks {
		return nil
	}
	skip := w.b.skip(x)
	vecs := make([]*vector.Vector, len(cols))
	for i := range cols {
		v, ok, err := x.f.r.ReadRows(x.i, at[i], skip+from, skip+to)
		if err != nil {
			x.f.damaged(err)
		}
		if err != nil || !ok {
			return nil
		}
		vecs[i] = &v
	}
	return vecs
}

// lessThanRows says that to read columns from the block's file costs less than n of its rows on their own.
func (w *view) lessThanRows(keys map[scan.Column]string, n int) bool {
	x := w.b.file.Load()
	if x == nil {
		return false
	}
	size := int64(0)
	for _, key := range keys {
		if key == "" {
			return false // it is in no file
		}
		if i := x.f.r.Column(key); i >= 0 {
			size += x.block().Chunks[i].Size
		}
	}
	return size <= int64(n)*singleCost
}
