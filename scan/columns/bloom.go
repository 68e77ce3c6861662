package columns

import (
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/segment/colfile"
)

// filterKey is where a column's filter is kept in the cache, beside the column.
func filterKey(key string) string { return "\x00" + key }

// filterOverhead is what an entry of the cache takes beside its buffers, about.
const filterOverhead = 200

// pieceQuestions is how many values are looked up in pieces of a filter in a file; then it is read whole, and kept: that is
// some forty pieces.
const pieceQuestions = 8

// MayContain implements exec.Block. Filters come from the block's file; for a block that is in none one is made of the
// column, when that is in memory and was asked for a value before: making it costs more than one look at
// all rows, and less than two.
func (w *view) MayContain(c scan.Column, v exec.Const) bool {
	if v.Null || v.T.Kind != vector.String {
		return true
	}
	key := w.key(c)
	if key == "" {
		return true
	}
	b, cache := w.b, w.s.set.cache
	cache.mu.Lock()
	x := b.columns[filterKey(key)]
	if x != nil {
		cache.pinLocked(x)
	}
	vec := b.columns[key]
	if x == nil || !x.final && vec != nil {
		if vec != nil {
			cache.pinLocked(vec)
		}
	} else {
		vec = nil
	}
	cache.mu.Unlock()
	defer func() { cache.unpin([]*column{x, vec}) }()
	if x != nil && x.final {
		return x.filter.MayContain(v.Bytes)
	}
	made := &column{b: b, key: filterKey(key)}
	if x == nil || x.asked.Add(1) <= pieceQuestions {
		may, ok := w.pieceFromFile(key, v.Bytes)
		if ok && x == nil {
			made.bytes = filterOverhead
			cache.unpin([]*column{cache.put(made)})
		}
		if ok {
			return may
		}
	}
	if f, ok := w.filterFromFile(key); ok {
		made.filter, made.final = f, true
	} else if vec == nil {
		return true
	} else if x != nil {
		made.filter, made.final = colfile.BloomOf(vec.vec), true
	}
	if made.final && x != nil {
		cache.dropColumn([]*block{b}, filterKey(key))
	}
	made.bytes = int64(len(made.filter)) + filterOverhead
	kept := cache.put(made)
	defer cache.unpin([]*column{kept})
	return !kept.final || kept.filter.MayContain(v.Bytes)
}

// WillAsk implements exec.Fetcher.
func (w *view) WillAsk(c scan.Column, v exec.Const) {
	key := w.key(c)
	if v.Null || v.T.Kind != vector.String || key == "" {
		return
	}
	w.withFile(key, func(x *sealed, i int) error {
		cache := w.s.set.cache
		cache.mu.Lock()
		kept := w.b.columns[filterKey(key)]
		cache.mu.Unlock()
		if kept == nil || !kept.final {
			x.f.r.WillNeedBloom(x.i, i, v.Bytes)
		}
		return nil
	})
}

// withFile has do look at a column of the block's file, which is read no more if it is damaged; false when there is no file, it does not
// have the column, or do failed.
func (w *view) withFile(key string, do func(x *sealed, i int) error) bool {
	x := w.b.file.Load()
	if x == nil || !x.f.acquire() {
		return false
	}
	defer x.f.release()
	i := x.f.r.Column(key)
	if i < 0 {
		return false
	}
	if err := do(x, i); err != nil {
		x.f.damaged(err)
		return false
	}
	return true
}

// pieceFromFile looks a value up in the filter of the block's file; not ok: that is not in pieces, or there is none.
func (w *view) pieceFromFile(key string, value []byte) (may, ok bool) {
	found := w.withFile(key, func(x *sealed, i int) (err error) {
		may, ok, err = x.f.r.BloomMayContain(x.i, i, value)
		return err
	})
	return may, ok && found
}

// filterFromFile is the filter of the block's file (nil: it has none); false when there is no file, or it does not have the column.
func (w *view) filterFromFile(key string) (f colfile.Bloom, ok bool) {
	ok = w.withFile(key, func(x *sealed, i int) (err error) {
		f, err = x.f.r.Bloom(x.i, i)
		return err
	})
	return f, ok
}
