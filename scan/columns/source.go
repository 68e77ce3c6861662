package columns

import (
	"context"
	"fmt"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/state"
)

// source is a Set as one snapshot has it.
type source struct {
	set *Set
	sn  *store.Snapshot
	own *Own // blocks of the open transaction that sn shows; nil: they are made for each query
}

var _ exec.Source = (*source)(nil)

// narrowShare: of a block of which a query wants less than one row in so many, and whose columns are not in
// memory, only those rows are expanded, for that query.
const narrowShare = 8

// Blocks implements exec.Source.
func (s *source) Blocks(ctx context.Context, t *catalog.Table, cols []scan.Column, prune scan.Expr) ([]exec.Block, error) {
	for _, c := range cols {
		if _, err := c.Type(t); err != nil {
			return nil, err
		}
	}
	keys := keysOf(t, cols)
	others := &source{set: s.set, sn: s.sn.Others()}
	var out []exec.Block
	for _, r := range scan.Ranges(&scan.Request{Table: t, Filter: prune}) {
		p := s.set.part(t.Topic, r.Partition)
		bound, err := s.sn.Bounds(p.tp)
		if err != nil {
			return nil, fmt.Errorf("columns: %s-%d: %w", t.Topic.Name, r.Partition, err)
		}
		lo, hi := max(r.FromOffset, bound.LogStart), min(r.ToOffset, bound.End)
		if lo >= hi {
			continue
		}
		// What is kept for all knows nothing of an open transaction that counts in this snapshot alone. From where that
		// begins, there are blocks of its own.
		first, own, err := s.sn.OwnFrom(p.tp)
		if err != nil {
			return nil, fmt.Errorf("columns: %s-%d: %w", t.Topic.Name, r.Partition, err)
		}
		if !own {
			first = bound.End
		}
		c := covering{source: others, t: t, keys: keys, p: p, r: r, bound: bound, out: out}
		if lo < first {
			if err := c.kept(ctx, lo, min(hi, first), first); err != nil {
				return nil, err
			}
		}
		if first < hi {
			c.source, c.bound = s, bound
			c.bound.LogStart = max(first, bound.LogStart)
			fill := c.passing
			if q := s.own.part(s.set, t.Topic, p.tp); q != nil {
				c.p = q
				fill = func(ctx context.Context, lo, hi int64) error { return c.kept(ctx, lo, hi, bound.End) }
			}
			if err := fill(ctx, max(lo, first), hi); err != nil {
				return nil, err
			}
		}
		out = c.out
	}
	return out, nil
}

// covering puts together the blocks of one partition.
type covering struct {
	*source
	t     *catalog.Table
	keys  map[scan.Column]string
	p     *part
	r     scan.Range
	bound state.Bounds // what the blocks added show
	out   []exec.Block
}

// kept adds those of the partition's blocks that have some of the offsets [lo, hi), showing what lies below end.
func (c *covering) kept(ctx context.Context, lo, hi, end int64) error {
	list, err := c.p.cover(ctx, c.seen())
	if err != nil {
		return err
	}
	c.bound.End = end
	for i := blockAt(list, lo); i < len(list) && list[i].from < hi; i++ {
		b := list[i]
		if at, end := max(lo, b.from), min(hi, b.end); (end-at)*narrowShare < b.end-b.from && !c.set.cache.has(b, c.keys) {
			if err := c.passing(ctx, at, end); err != nil {
				return err
			}
			continue
		}
		c.add(b)
	}
	return nil
}

// passing adds blocks of [lo, hi) that are gone after the query.
func (c *covering) passing(ctx context.Context, lo, hi int64) error {
	cut, err := cutBlocks(ctx, c.p, c.seen(), lo, hi)
	for _, b := range cut {
		b.private = true
		c.add(b)
	}
	return err
}

// seen is what the source's snapshot sees of the partition.
func (c *covering) seen() *seen {
	return &seen{sn: c.sn, bound: c.bound, copy: c.sn.Compacted(c.p.tp)}
}

func (c *covering) add(b *block) {
	if b.maxRows > 0 && !(b.timed && (b.maxTime < c.r.MinTimestamp || b.minTime > c.r.MaxTimestamp)) {
		c.out = append(c.out, &view{s: c.source, t: c.t, b: b, bound: c.bound, keys: c.keys})
	}
}

func keysOf(t *catalog.Table, cols []scan.Column) map[scan.Column]string {
	keys := make(map[scan.Column]string, len(cols))
	for _, c := range cols {
		keys[c] = keyOf(t, c)
	}
	return keys
}

// view is a block as a snapshot and a table have it.
type view struct {
	s     *source
	t     *catalog.Table
	b     *block
	bound state.Bounds
	keys  map[scan.Column]string // read-only
	work  *workspace             // for columns that are not kept; nil: none
	ahead ahead
}

func (w *view) key(c scan.Column) string {
	if k, ok := w.keys[c]; ok {
		return k
	}
	return keyOf(w.t, c)
}

// whole says that the snapshot sees all rows of the block.
func (w *view) whole() bool { return w.bound.LogStart <= w.b.from && w.b.end <= w.bound.End }

// Rows implements exec.Block. Where Stats said something exact, it is how many rows there are.
func (w *view) Rows() int {
	if n, ok := w.rows(); ok {
		return n
	}
	return w.b.maxRows
}

// rows is how many rows the block has; false when no column of it was made yet. The batches' headers do not tell:
// records that were compacted away, or are of aborted transactions, leave holes.
func (w *view) rows() (int, bool) {
	b := w.b
	if x := b.file.Load(); x != nil {
		return x.block().Rows - b.skip(x), true
	}
	c := w.s.set.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	return b.rows, b.rows >= 0
}

// Stats implements exec.Block.
func (w *view) Stats(c scan.Column) (exec.Stats, bool) {
	st, ok := w.bounds(c)
	if st.Exact {
		if _, known := w.rows(); !known || !w.whole() {
			st.Exact, st.HasSum = false, false
		}
	}
	return st, ok
}

// bounds are Stats of all of the block, visible or not.
func (w *view) bounds(c scan.Column) (exec.Stats, bool) {
	b := w.b
	switch {
	case c.Kind == scan.Partition:
		p := intConst(int64(b.p.tp.Partition))
		return exec.Stats{HasMin: true, HasMax: true, Min: p, Max: p}, true
	case c.Kind == scan.Offset:
		st := exec.Stats{HasMin: true, HasMax: true, Min: intConst(max(b.from, w.bound.LogStart)), Max: intConst(min(b.end, w.bound.End) - 1)}
		st.Exact = b.dense
		return st, true
	}
	key := w.key(c)
	st, ok := w.s.set.cache.statsOf(b, key)
	if !ok {
		if st, ok = w.fileStats(key); ok && st.Nulls >= 0 {
			w.s.set.cache.noteStats(b, key, st) // the next statement need not put them together
		}
	}
	if !ok && c.Kind == scan.Timestamp && b.timed {
		// Where the time is out of range the row has none, so the bounds hold all the same.
		return exec.Stats{HasMin: true, HasMax: true, Min: intConst(b.minTime), Max: intConst(b.maxTime), Nulls: -1}, true
	}
	return st, ok
}

// fileStats are those of the block of the file that the block is in; not exact where that has more rows.
func (w *view) fileStats(key string) (exec.Stats, bool) {
	x := w.b.file.Load()
	if x == nil || key == "" {
		return exec.Stats{}, false
	}
	i := x.f.r.Column(key)
	if i < 0 {
		return exec.Stats{}, false
	}
	st := fromFile(&x.f.r.Columns[i], &x.block().Chunks[i].Stats)
	if w.b.skip(x) > 0 {
		st.Exact, st.HasSum, st.Nulls = false, false, -1
	}
	return st, true
}

func intConst(x int64) exec.Const { return exec.Const{T: exec.Type{Kind: vector.Int}, Int: x} }

// statsOf is what is known of a column that was made once.
func (c *cache) statsOf(b *block, key string) (exec.Stats, bool) {
	if key == "" {
		return exec.Stats{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	st, ok := b.stats[key]
	return st, ok
}

// noteStats keeps what is known of a column that was not made yet.
func (c *cache) noteStats(b *block, key string, st exec.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := b.stats[key]; !ok {
		b.keepStats(key, st)
	}
}

// has says whether all of a block's columns are in memory.
func (c *cache) has(b *block, keys map[scan.Column]string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for col, k := range keys {
		if k == "" || b.columns[k] == nil && !free(b, col) {
			return false
		}
	}
	return true
}

// hasColumn says whether a column is in memory.
func (c *cache) hasColumn(b *block, key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return b.columns[key] != nil
}

// free says whether a column of a block needs no memory of its own.
func free(b *block, c scan.Column) bool {
	return c.Kind == scan.Partition || c.Kind == scan.Offset && b.dense
}
