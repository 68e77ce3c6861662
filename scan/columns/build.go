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
	var missing, rest []int
	for i, c := range want {
		if held[i] == nil && !free(b, c) {
			missing = append(missing, i)
		}
	}
	missing, err := w.fromDonors(ctx, want, keys, missing, put)
	if err != nil {
		return err
	}
	for _, i := range missing {
		switch {
		case keys[i] == "":
			rest = append(rest, i)
		case keep:
			if v, mem, ok := w.fromFile(want[i], keys[i], &cache.slabs); ok {
				held[i] = w.keepPlaced(keys[i], v, mem)
			} else {
				rest = append(rest, i)
			}
		default:
			if v, _, ok := w.fromFile(want[i], keys[i], vector.Heap{}); ok {
				loose[i] = &v
			} else {
				rest = append(rest, i)
			}
		}
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
		if keys[i] == "" || !keep {
			loose[i] = vecs[j]
		} else {
			held[i] = w.keep(keys[i], vecs[j])
		}
	}
	return nil
}

// keep puts a new column into the cache, pinned.
func (w *view) keep(key string, v *vector.Vector) *column {
	placed, mem := vector.Place(v, &w.s.set.cache.slabs)
	placed.Ascends = v.Ascending()
	return w.keepPlaced(key, placed, mem)
}

// keepPlaced is keep of a vector in memory of the cache's.
func (w *view) keepPlaced(key string, v vector.Vector, mem []byte) *column {
	c := w.s.set.cache
	st, ok := w.fileStats(key)
	if !ok || st.Nulls < 0 { // no file, or one with more rows
		st = statsOf(&v)
	}
	x := c.add(&column{b: w.b, key: key, vec: &v, mem: mem, bytes: max(v.SizeBytes(), int64(len(mem)))}, st)
	w.s.set.m.bytes.Add(float64(x.bytes))
	c.mu.Lock()
	c.dropColumnLocked(w.b.donors, key)
	c.mu.Unlock()
	return x
}

// fromFile reads a column from the block's file, into memory from a (see colfile.Reader.Read); false when that does not have it.
func (w *view) fromFile(c scan.Column, key string, a vector.Allocator) (v vector.Vector, mem []byte, ok bool) {
	b := w.b
	x := b.file.Load()
	if x == nil || !x.f.acquire() {
		return v, nil, false
	}
	defer x.f.release()
	blk, skip := x.block(), b.skip(x)
	i := x.f.r.Column(key)
	if i < 0 {
		if lacks(x, w.t, []scan.Column{c}) {
			return v, nil, false
		}
		t := TypeOf(w.t, c)
		return vector.Nulls(t.Kind, t.Scale, blk.Rows-skip), nil, true // no value had that member then
	}
	ahead := w.ahead.take(i)
	defer ahead.Release()
	v, mem, err := x.f.r.Read(x.i, i, ahead, a)
	if err != nil {
		x.f.damaged(err)
		return v, nil, false
	}
	w.s.set.m.read.Inc()
	w.s.set.m.readB.Add(float64(blk.Chunks[i].Size))
	if skip > 0 {
		v = v.Slice(skip, v.Len)
	}
	return v, mem, true
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
	texts := make([]int64, len(cols)) // bytes
	for {
		if err := pause(ctx, w.work); err != nil {
			return nil, 0, err
		}
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
			if texts[i] += textBytes(rec.Column(i)); texts[i] > maxText {
				return nil, 0, tooMuchText(w.b)
			}
		}
	}
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = fromArrow(TypeOf(w.t, c), chunks[i], rows)
	}
	return out, rows, nil
}

// span is a run of offsets, [from, end).
type span struct{ from, end int64 }

// fromDonors makes columns, those of want that missing lists, of those of the smaller blocks that the block has taken the place of, and
// of what is missing between and behind them; it gives them to put, which copies them, and returns what is still missing.
func (w *view) fromDonors(ctx context.Context, want []scan.Column, keys []string, missing []int, put func(int, *vector.Vector)) (left []int, err error) {
	cache := w.s.set.cache
	type source struct {
		at   int // in want
		held []*column
		gaps []span
	}
	var sources []source
	cache.mu.Lock()
	for _, i := range missing {
		var held []*column
		if keys[i] != "" {
			held = cache.pinDonors(w.b.donors, keys[i], nil)
		}
		if len(held) == 0 {
			left = append(left, i)
			continue
		}
		s := source{at: i, held: held}
		at := w.b.from
		for _, x := range held {
			if at < x.b.from {
				s.gaps = append(s.gaps, span{at, x.b.from})
			}
			at = x.b.end
		}
		if at < w.b.end {
			s.gaps = append(s.gaps, span{at, w.b.end})
		}
		sources = append(sources, s)
	}
	cache.mu.Unlock()
	all := sources
	defer func() {
		for i := range all {
			cache.unpin(all[i].held)
		}
	}()
	// Columns that lack the same rows are expanded together.
	for len(sources) > 0 {
		var same, others []source
		for _, s := range sources {
			if slices.Equal(s.gaps, sources[0].gaps) {
				same = append(same, s)
			} else {
				others = append(others, s)
			}
		}
		cols := make([]scan.Column, len(same))
		for i := range same {
			cols[i] = want[same[i].at]
		}
		parts := make([][]*vector.Vector, len(same))
		for _, gap := range same[0].gaps {
			vecs, err := w.expand(ctx, cols, gap.from, gap.end)
			if err != nil {
				return nil, err
			}
			for i := range same {
				parts[i] = append(parts[i], vecs[i])
			}
		}
		for i := range same {
			if err := w.joinParts(same[i].held, same[i].gaps, parts[i], func(v *vector.Vector) { put(same[i].at, v) }); err != nil {
				return nil, err
			}
		}
		sources = others
	}
	return left, nil
}

// joinParts puts what donors have of a column and what was expanded for its gaps in order.
func (w *view) joinParts(held []*column, gaps []span, expanded []*vector.Vector, put func(*vector.Vector)) error {
	var parts []*vector.Vector
	g := 0
	for _, x := range held {
		if g < len(gaps) && gaps[g].from < x.b.from {
			parts = append(parts, expanded[g])
			g++
		}
		parts = append(parts, x.vec)
	}
	if g < len(gaps) {
		parts = append(parts, expanded[g])
	}
	v, err := concat(w.b, parts)
	if err != nil {
		return err
	}
	if w.b.dense && int64(v.Len) != w.b.end-w.b.from {
		return fmt.Errorf("%w: %v joined from %d", errRows, w.b, len(parts))
	}
	w.s.set.m.merged.Inc()
	put(&v)
	return nil
}

// concat joins the parts of a column of b.
func concat(b *block, parts []*vector.Vector) (vector.Vector, error) {
	v, err := vector.Concat(parts...)
	switch {
	case errors.Is(err, vector.ErrTextSize):
		return v, tooMuchText(b)
	case err != nil:
		return v, fmt.Errorf("columns: %v: %w", b, err)
	}
	return v, nil
}

// pinDonors takes what blocks, or those that they have taken the place of, have of a column, in order of offsets. Under the mutex.
func (c *cache) pinDonors(blocks []*block, key string, dst []*column) []*column {
	for _, d := range blocks {
		if x := d.columns[key]; x != nil {
			c.pinLocked(x)
			dst = append(dst, x)
		} else {
			dst = c.pinDonors(d.donors, key, dst)
		}
	}
	return dst
}

// dropColumn takes a column out of blocks, and of those that they have taken the place of.
func (c *cache) dropColumn(blocks []*block, key string) {
	if len(blocks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropColumnLocked(blocks, key)
}

func (c *cache) dropColumnLocked(blocks []*block, key string) {
	for _, b := range blocks {
		c.dropColumnLocked(b.donors, key)
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
