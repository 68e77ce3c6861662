package segment

import (
	"container/list"
	"sync"
)

// Cache keeps block and transaction indexes of many segments in bounded memory, the least
// recently used evicted first. A nil Cache keeps nothing.
type Cache struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	entries map[cacheKey]*list.Element
	recent  list.List // of *cacheEntry, most recent first
}

type cacheKey struct {
	r            *Reader
	directory    int
	transactions bool // the transaction index, not the block index
}

type cacheEntry struct {
	key          cacheKey
	blocks       []Block
	transactions *Transactions
}

// blockMemory is what one cached Block takes, and entryMemory what each list adds.
const (
	blockMemory = 96
	entryMemory = 160
)

func (e *cacheEntry) bytes() int64 {
	n := entryMemory + int64(len(e.blocks))*blockMemory
	if e.transactions != nil {
		n += int64(len(e.transactions.list)) * transactionMemory
	}
	return n
}

// NewCache returns a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, entries: map[cacheKey]*list.Element{}}
}

// Bytes is the memory in use.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *Cache) get(key cacheKey) *cacheEntry {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cacheEntry)
}

func (c *Cache) put(e *cacheEntry) {
	if c == nil {
		return
	}
	if e.bytes() > c.limit/2 {
		return // it would push everything else out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.key] != nil {
		return
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += e.bytes()
	for c.bytes > c.limit {
		c.remove(c.recent.Back())
	}
}

func (c *Cache) remove(el *list.Element) {
	e := c.recent.Remove(el).(*cacheEntry)
	delete(c.entries, e.key)
	c.bytes -= e.bytes()
}

// forget drops what was cached of r.
func (c *Cache) forget(r *Reader) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range r.directory {
		for _, key := range [...]cacheKey{{r, i, false}, {r, i, true}} {
			if el := c.entries[key]; el != nil {
				c.remove(el)
			}
		}
	}
}
