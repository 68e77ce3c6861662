package columns

import (
	"context"
	"slices"
	"sort"
	"sync"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
)

// ascending is shared by all dense blocks: slot i is i.
var ascending = sync.OnceValue(func() []int32 {
	out := make([]int32, exec.MaxBlockRows)
	for i := range out {
		out[i] = int32(i)
	}
	return out
})

var keyOffset = keyOf(nil, scan.Column{Kind: scan.Offset})

// Open implements exec.Block.
func (w *view) Open(ctx context.Context, cols []scan.Column) (vecs []*vector.Vector, from, to int, release func(), err error) {
	return w.open(ctx, cols, true)
}

// open is Open; without keep, what has to be made is not left in the cache, and may be the workspace's.
func (w *view) open(ctx context.Context, cols []scan.Column, keep bool) (vecs []*vector.Vector, from, to int, release func(), err error) {
	b := w.b
	cache := w.s.set.cache
	// Which rows are visible, and in a sparse block how many there are, only the offsets tell.
	want := cols
	if !b.dense && (!w.whole() || !slices.ContainsFunc(cols, func(c scan.Column) bool { return !free(b, c) })) {
		want = append(append(make([]scan.Column, 0, len(cols)+1), cols...), scan.Column{Kind: scan.Offset})
	}
	keys := make([]string, len(want))
	asked := 0
	for i, c := range want {
		if !free(b, c) {
			keys[i] = w.key(c)
			asked++
		}
	}
	held := make([]*column, len(want))
	loose := make([]*vector.Vector, len(want)) // what is not kept
	if !cache.pin(b, keys, held) || w.uncached(want, keys) {
		if !w.whole() {
			// All of the block cannot be read in this snapshot.
			cache.unpin(held)
			return w.part().open(ctx, cols, keep)
		}
		if err := w.build(ctx, want, keys, held, loose, keep); err != nil {
			cache.unpin(held)
			return nil, 0, 0, nil, err
		}
	} else {
		w.s.set.m.hits.Add(float64(asked))
	}
	w.s.set.m.opened.Add(float64(asked))

	rows := b.maxRows
	all := make([]*vector.Vector, len(want))
	for i := range want {
		switch {
		case held[i] != nil:
			all[i] = held[i].vec
		case loose[i] != nil:
			all[i] = loose[i]
		}
		if all[i] != nil {
			rows = all[i].Len
		}
	}
	for i, c := range want {
		if all[i] != nil {
			continue
		}
		if c.Kind == scan.Partition {
			all[i] = &vector.Vector{Kind: vector.Int, Len: rows, Const: true, Base: int64(b.p.tp.Partition), Int8: make([]int8, 1)}
		} else {
			all[i] = &vector.Vector{Kind: vector.Int, Len: rows, Base: b.from, Int32: ascending()[:rows]}
		}
	}
	from, to = 0, rows
	switch {
	case w.whole():
	case b.dense:
		from = int(max(0, w.bound.LogStart-b.from))
		to = int(min(int64(rows), w.bound.End-b.from))
	default:
		offsets := all[len(all)-1]
		from = sort.Search(rows, func(i int) bool { return offsets.Int(i) >= w.bound.LogStart })
		to = sort.Search(rows, func(i int) bool { return offsets.Int(i) >= w.bound.End })
	}
	var once sync.Once
	return all[:len(cols):len(cols)], from, to, func() { once.Do(func() { cache.unpin(held) }) }, nil
}

// WillNeed implements exec.Fetcher: what is not in memory and in the block's file is read ahead: whole columns past the page cache, if
// they will be kept in memory; what will not is read from the disk again, or from the page cache.
func (w *view) WillNeed(cols []scan.Column, from, to int) {
	x := w.b.file.Load()
	if x == nil || !x.f.acquire() {
		return
	}
	defer x.f.release()
	cache, skip := w.s.set.cache, w.b.skip(x)
	for _, c := range cols {
		key := w.key(c)
		if key == "" || free(w.b, c) || cache.hasColumn(w.b, key) {
			continue
		}
		i := x.f.r.Column(key)
		if i < 0 {
			continue
		}
		size := x.block().Chunks[i].Size
		whole := !x.f.r.Pages(x.i, i, skip+from, skip+to)
		if !whole || size < w.s.set.leastAhead || !cache.room(size) || !w.ahead.start(w.s.set, x, i) {
			x.f.r.WillNeed(x.i, i, skip+from, skip+to)
		}
	}
}

// part is the block cut to what the snapshot sees, for this query alone.
func (w *view) part() *view {
	b := w.b
	p := newBlock(b.p, max(b.from, w.bound.LogStart), min(b.end, w.bound.End))
	p.maxRows = int(min(int64(b.maxRows), p.end-p.from))
	p.dense, p.private = b.dense, true
	return &view{s: w.s, t: w.t, b: p, bound: w.bound, keys: w.keys}
}

// uncached says whether some column is never kept.
func (w *view) uncached(want []scan.Column, keys []string) bool {
	for i, c := range want {
		if keys[i] == "" && !free(w.b, c) {
			return true
		}
	}
	return false
}
