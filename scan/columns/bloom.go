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
	if f, ok := w.filterFromFile(key); ok {
		made.filter, made.final = f, true
	} else if vec == nil {
		return true
	} else if x != nil {
		made.filter, made.final = colfile.BloomOf(vec.vec), true
		cache.dropColumn([]*block{b}, filterKey(key))
	}
	made.bytes = int64(len(made.filter)) + filterOverhead
	kept := cache.put(made)
	defer cache.unpin([]*column{kept})
	return !kept.final || kept.filter.MayContain(v.Bytes)
}

// filterFromFile is the filter of the block's file (nil: it has none); false when there is no file, or it does not have the column.
func (w *view) filterFromFile(key string) (colfile.Bloom, bool) {
	x := w.b.file.Load()
	if x == nil || !x.f.acquire() {
		return nil, false
	}
	defer x.f.release()
	i := x.f.r.Column(key)
	if i < 0 {
		return nil, false
	}
	f, err := x.f.r.Bloom(x.i, i)
	if err != nil {
		x.f.damaged(err)
		return nil, false
	}
	return f, true
}
