package columns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/store/segment/colfile"

	"github.com/apache/arrow-go/v18/arrow"
)

// errRows says that a block has not as many rows as its batches' headers promise. It cannot be: the reader gives a row
// for every offset of a damaged batch.
var errRows = errors.New("columns: a block's records do not fill its offsets")

// build makes the columns that are missing in held, and those that are not kept into loose.
func (w *view) build(ctx context.Context, want []scan.Column, keys []string, held []*column, loose []*vector.Vector, keep bool) error {
	b := w.b
	cache := w.s.set.cache
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	cache.pin(b, keys, held) // somebody may have been faster
	put := func(i int, v *vector.Vector) {
		if keys[i] == "" || !keep {
			placed, _ := vector.Place(v, vector.Heap{}) // it may share what others give back
			loose[i] = &placed
		} else {
			held[i] = w.keep(keys[i], v)
		}
	}
	var rest []int
	for i, c := range want {
		if held[i] != nil || free(b, c) {
			continue
		}
		if keys[i] != "" {
			ok, err := w.fromDonors(ctx, c, keys[i], func(v *vector.Vector) { put(i, v) })
			if err != nil {
				return err
			}
			if ok {
				continue
			}
			if v := w.fromFile(c, keys[i]); v != nil {
				put(i, v)
				continue
			}
		}
		rest = append(rest, i)
	}
	if len(rest) == 0 {
		return nil
	}
	cols := make([]scan.Column, len(rest))
	for j, i := range rest {
		cols[j] = want[i]
	}
	vecs, err := w.expand(ctx, cols, b.from, b.end)
	if err != nil {
		return err
	}
	for j, i := range rest {
		put(i, vecs[j])
	}
	return nil
}

// keep puts a new column into the cache, pinned.
func (w *view) keep(key string, v *vector.Vector) *column {
	c := w.s.set.cache
	st, ok := w.fileStats(key)
	if !ok || w.b.skip > 0 {
		st = statsOf(v)
	}
	x := c.add(c.column(w.b, key, v), st)
	w.s.set.m.bytes.Add(float64(x.bytes))
	c.mu.Lock()
	w.b.rows = v.Len
	donors := w.b.donors
	c.mu.Unlock()
	c.dropColumn(donors, key)
	return x
}

// fromFile reads a column from the block's file; nil when that does not have it.
func (w *view) fromFile(c scan.Column, key string) *vector.Vector {
	b := w.b
	x := b.file.Load()
	if x == nil || !x.f.acquire() {
		return nil
	}
	defer x.f.release()
	blk := x.block()
	i := x.f.r.Column(key)
	if i < 0 {
		if lacks(x, w.t, []scan.Column{c}) {
			return nil
		}
		t := TypeOf(w.t, c)
		v := vector.Nulls(t.Kind, t.Scale, blk.Rows-b.skip) // no value had that member then
		return &v
	}
	v, err := x.f.r.Read(x.i, i)
	if err != nil {
		x.f.damaged(err)
		return nil
	}
	w.s.set.m.read.Inc()
	w.s.set.m.readB.Add(float64(blk.Chunks[i].Size))
	if b.skip > 0 {
		s := v.Slice(b.skip, v.Len)
		v = &s
	}
	return v
}

// hasPath says whether a file has a column of the member at path, of whatever type.
func hasPath(f *colfile.Info, path []string) bool {
	want := pathSuffix(path)
	return slices.ContainsFunc(f.Columns, func(c colfile.Column) bool {
		return len(c.Key) > len(want) && c.Key[0] == 'e' && c.Key[len(c.Key)-len(want):] == want
	})
}

// expand reads the columns of the rows with offsets in [from, to), which lie in the snapshot's bounds.
func (w *view) expand(ctx context.Context, cols []scan.Column, from, to int64) ([]*vector.Vector, error) {
	if from < w.bound.LogStart || to > w.bound.End {
		panic(fmt.Sprintf("columns: [%d,%d) of %v is not in the snapshot's [%d,%d)", from, to, w.b, w.bound.LogStart, w.bound.End))
	}
	var mine, others []scan.Column
	for _, c := range cols {
		if direct(c) {
			mine = append(mine, c)
		} else {
			others = append(others, c)
		}
	}
	out := make([]*vector.Vector, 0, len(cols))
	rows := -1
	for _, some := range []struct {
		cols []scan.Column
		read func(context.Context, []scan.Column, int64, int64) ([]*vector.Vector, int, error)
	}{{mine, w.shred}, {others, w.readRows}} {
		if len(some.cols) == 0 {
			continue
		}
		vecs, n, err := some.read(ctx, some.cols, from, to)
		if err != nil {
			return nil, err
		}
		if rows >= 0 && n != rows || w.b.dense && int64(n) != to-from {
			return nil, fmt.Errorf("%w: %d of [%d,%d) in %v", errRows, n, from, to, w.b)
		}
		rows = n
		out = append(out, vecs...)
	}
	m := w.s.set.m
	m.expanded.Add(float64(len(cols)))
	m.rows.Add(float64(rows))
	if len(mine) > 0 && len(others) > 0 { // back into the order that was asked for
		some := out
		out = make([]*vector.Vector, 0, len(cols))
		at, behind := 0, len(mine)
		for _, c := range cols {
			if direct(c) {
				out = append(out, some[at])
				at++
			} else {
				out = append(out, some[behind])
				behind++
			}
		}
	}
	return out, nil
}

// readRows has the row path read columns.
func (w *view) readRows(ctx context.Context, cols []scan.Column, from, to int64) ([]*vector.Vector, int, error) {
	offset := scan.Column{Kind: scan.Offset}
	r, err := scan.Open(scan.Request{
		Source: scan.FromSnapshot(w.s.sn), Table: w.t, Columns: cols,
		Filter: scan.And{Args: []scan.Expr{
			scan.Compare{Column: scan.Column{Kind: scan.Partition}, Op: scan.EQ, Value: scan.Literal{Int: int64(w.b.p.tp.Partition)}},
			scan.Compare{Column: offset, Op: scan.GE, Value: scan.Literal{Int: from}},
			scan.Compare{Column: offset, Op: scan.LT, Value: scan.Literal{Int: to}},
		}},
	})
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	chunks := make([][]arrow.Array, len(cols))
	var records []arrow.RecordBatch
	defer func() {
		for _, rec := range records {
			rec.Release()
		}
	}()
	rows := 0
	for {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		records = append(records, rec)
		rows += int(rec.NumRows())
		for i := range cols {
			chunks[i] = append(chunks[i], rec.Column(i))
		}
	}
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = fromArrow(TypeOf(w.t, c), chunks[i], rows)
	}
	return out, rows, nil
}

// fromDonors makes a column of those of the smaller blocks at the block's front, and what is missing behind them, and gives it
// to put, which copies it; false when they do not have it.
func (w *view) fromDonors(ctx context.Context, c scan.Column, key string, put func(*vector.Vector)) (bool, error) {
	cache := w.s.set.cache
	cache.mu.Lock()
	donors := slices.Clone(w.b.donors)
	held := make([]*column, len(donors))
	for i, d := range donors {
		x := d.columns[key]
		if x == nil {
			donors = nil
			break
		}
		cache.pinLocked(x)
		held[i] = x
	}
	cache.mu.Unlock()
	defer cache.unpin(held)
	if len(donors) == 0 {
		return false, nil
	}
	parts := make([]*vector.Vector, 0, len(held)+1)
	for _, x := range held {
		parts = append(parts, x.vec)
	}
	if end := donors[len(donors)-1].end; end < w.b.end {
		rest, err := w.expand(ctx, []scan.Column{c}, end, w.b.end)
		if err != nil {
			return false, err
		}
		parts = append(parts, rest[0])
	}
	v, err := vector.Concat(parts...)
	if err != nil {
		return false, fmt.Errorf("columns: %v: %w", w.b, err)
	}
	if w.b.dense && int64(v.Len) != w.b.end-w.b.from {
		return false, fmt.Errorf("%w: %v joined from %d", errRows, w.b, len(parts))
	}
	w.s.set.m.merged.Inc()
	put(&v)
	return true, nil
}

// dropColumn takes a column out of blocks.
func (c *cache) dropColumn(blocks []*block, key string) {
	if len(blocks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		x := b.columns[key]
		switch {
		case x == nil:
		case x.pins > 0:
			x.dropped = true
			delete(b.columns, key)
		default:
			c.remove(x)
		}
	}
}
