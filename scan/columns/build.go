package columns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"millrace/internal/vector"
	"millrace/scan"

	"github.com/apache/arrow-go/v18/arrow"
)

// errRows says that a block has not as many rows as its batches' headers promise. It cannot be: the reader gives a row
// for every offset of a damaged batch.
var errRows = errors.New("columns: a block's records do not fill its offsets")

// build makes the columns that are missing in held, and those without a key into loose.
func (w *view) build(ctx context.Context, want []scan.Column, keys []string, held []*column, loose []*vector.Vector) error {
	b := w.b
	cache := w.s.set.cache
	if err := b.enter(ctx); err != nil {
		return err
	}
	defer b.leave()
	cache.pin(b, keys, held) // somebody may have been faster
	var missing []int
	for i, c := range want {
		if held[i] == nil && !free(b, c) {
			missing = append(missing, i)
		}
	}
	// The front may be had from smaller blocks.
	var rest []int
	for _, i := range missing {
		if keys[i] == "" {
			rest = append(rest, i)
			continue
		}
		x, err := w.fromDonors(ctx, want[i], keys[i])
		if err != nil {
			return err
		}
		if x == nil {
			rest = append(rest, i)
			continue
		}
		held[i] = w.keep(keys[i], x)
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
		if keys[i] == "" {
			loose[i] = vecs[j]
		} else {
			held[i] = w.keep(keys[i], vecs[j])
		}
	}
	return nil
}

// keep puts a new column into the cache, pinned.
func (w *view) keep(key string, v *vector.Vector) *column {
	x := &column{b: w.b, key: key, vec: v, bytes: v.SizeBytes()}
	w.s.set.m.bytes.Add(float64(x.bytes))
	c := w.s.set.cache
	st := statsOf(v)
	x = c.add(x, st)
	c.mu.Lock()
	w.b.rows = v.Len
	donors := w.b.donors
	c.mu.Unlock()
	c.dropColumn(donors, key)
	return x
}

// expand reads the columns of the rows with offsets in [from, to), which lie in the snapshot's bounds.
func (w *view) expand(ctx context.Context, cols []scan.Column, from, to int64) ([]*vector.Vector, error) {
	if from < w.bound.LogStart || to > w.bound.End {
		panic(fmt.Sprintf("columns: [%d,%d) of %v is not in the snapshot's [%d,%d)", from, to, w.b, w.bound.LogStart, w.bound.End))
	}
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
		return nil, err
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
			return nil, err
		}
		records = append(records, rec)
		rows += int(rec.NumRows())
		for i := range cols {
			chunks[i] = append(chunks[i], rec.Column(i))
		}
	}
	if w.b.dense && int64(rows) != to-from {
		return nil, fmt.Errorf("%w: %d of [%d,%d) in %v", errRows, rows, from, to, w.b)
	}
	m := w.s.set.m
	m.expanded.Add(float64(len(cols)))
	m.rows.Add(float64(rows))
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = fromArrow(TypeOf(w.t, c), chunks[i], rows)
	}
	return out, nil
}

// fromDonors makes a column from those of the smaller blocks at the block's front, and what is missing behind them; nil when
// they do not have it.
func (w *view) fromDonors(ctx context.Context, c scan.Column, key string) (*vector.Vector, error) {
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
		return nil, nil
	}
	parts := make([]*vector.Vector, 0, len(held)+1)
	for _, x := range held {
		parts = append(parts, x.vec)
	}
	if end := donors[len(donors)-1].end; end < w.b.end {
		rest, err := w.expand(ctx, []scan.Column{c}, end, w.b.end)
		if err != nil {
			return nil, err
		}
		parts = append(parts, rest[0])
	}
	v := concat(TypeOf(w.t, c), parts)
	if w.b.dense && int64(v.Len) != w.b.end-w.b.from {
		return nil, fmt.Errorf("%w: %v joined from %d", errRows, w.b, len(parts))
	}
	w.s.set.m.merged.Inc()
	return v, nil
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
