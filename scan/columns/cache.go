package columns

import (
	"container/list"
	"sync"
	"sync/atomic"

	"millrace/internal/vector"
	"millrace/scan/exec"
	"millrace/store/segment/colfile"
)

// cache holds the columns of blocks, and bounds those that nobody uses. Its mutex is a leaf.
type cache struct {
	limit int64
	m     *metrics

	slabs vector.Slabs // where columns lie, outside the heap

	mu   sync.Mutex
	used int64
	lru  list.List // of *column without pins; the front is the latest
}

// column is a column of a block in memory.
type column struct {
	b     *block
	key   string
	vec   *vector.Vector
	mem   []byte // of the cache's slabs: vec's buffers
	bytes int64

	// Of an entry that is a column's filter instead. It is not final when none was made yet; then it counts the questions.
	filter colfile.Bloom
	final  bool
	asked  atomic.Int32
	// Of an entry that is a column's tally; nil: it has none.
	tally *exec.Tally
	// Of an entry that is sums; nil: there are none.
	sums *exec.Sums

	// Guarded by the cache's mutex.
	pins    int
	dropped bool          // gone from the block, freed with the last pin
	at      *list.Element // in lru; nil while there are pins
}

func newCache(limit int64) *cache { return &cache{limit: limit} }

func (c *cache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// room says whether so many bytes more can be kept without dropping others.
func (c *cache) room(bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used+bytes <= c.limit
}

// pin takes the columns of b that are in memory, into dst by index; false when one is missing.
func (c *cache) pin(b *block, keys []string, dst []*column) (all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = true
	for i, k := range keys {
		if k == "" || dst[i] != nil {
			continue
		}
		x := b.columns[k]
		if x == nil {
			all = false
			continue
		}
		c.pinLocked(x)
		dst[i] = x
	}
	return all
}

func (c *cache) pinLocked(x *column) {
	x.pins++
	if x.at != nil {
		c.lru.Remove(x.at)
		x.at = nil
	}
}

// add puts a column and its bounds into its block, pinned, unless one came before it; the one that is there
// is returned.
func (c *cache) add(x *column, st exec.Stats) *column {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.b.keepStats(x.key, st)
	x.b.rows = x.vec.Len
	return c.putLocked(x)
}

// put is add of what has no bounds.
func (c *cache) put(x *column) *column {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.putLocked(x)
}

func (c *cache) putLocked(x *column) *column {
	if y := x.b.columns[x.key]; y != nil {
		c.pinLocked(y)
		if x.mem != nil {
			c.slabs.Free(x.mem)
		}
		return y
	}
	if x.b.columns == nil {
		x.b.columns = map[string]*column{}
	}
	x.b.columns[x.key] = x
	x.pins = 1
	c.used += x.bytes
	c.shrink()
	return x
}

// unpin gives columns back; nils are skipped.
func (c *cache) unpin(cols []*column) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range cols {
		if x == nil {
			continue
		}
		if x.pins--; x.pins > 0 {
			continue
		}
		if x.dropped || x.b.private {
			c.remove(x)
			continue
		}
		x.at = c.lru.PushFront(x)
	}
	c.shrink()
}

// shrink drops the columns that were not used for longest. Under mu.
func (c *cache) shrink() {
	for c.used > c.limit {
		e := c.lru.Back()
		if e == nil {
			return
		}
		c.remove(e.Value.(*column))
		c.m.evicted.Inc()
	}
}

// remove takes an unpinned column out. Under mu.
func (c *cache) remove(x *column) {
	if x.at != nil {
		c.lru.Remove(x.at)
		x.at = nil
	}
	if !x.dropped {
		delete(x.b.columns, x.key)
	}
	x.dropped = true
	c.used -= x.bytes
	if x.mem != nil {
		c.slabs.Free(x.mem)
	}
	x.vec, x.mem = nil, nil
}

// drop takes out all columns of blocks that are of no use any more.
func (c *cache) drop(blocks []*block) {
	if len(blocks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(blocks)
}

func (c *cache) dropLocked(blocks []*block) {
	for _, b := range blocks {
		c.dropLocked(b.donors)
		b.donors = nil
		for k, x := range b.columns {
			if x.pins > 0 {
				x.dropped = true
				delete(b.columns, k)
				continue
			}
			c.remove(x)
		}
		b.private = true // a query that still has it leaves nothing behind
	}
}
