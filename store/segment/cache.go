package segment

import (
	"container/list"
	"sync"
)

// Cache keeps block indexes of many segments in bounded memory, the least
// recently used evicted first. A nil Cache keeps nothing.
type Cache struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	entries map[cacheKey]*list.Element
	recent  list.List // of *cacheEntry, most recent first
}

type cacheKey struct {
	r         *Reader
	directory int
}

type cacheEntry struct {
	key    cacheKey
	blocks []Block
}

// blockMemory is what one cached Block takes, and entryMemory what each list adds.
const (
	blockMemory = 96
	entryMemory = 160
)

func (e *cacheEntry) bytes() int64 { return entryMemory + int64(len(e.blocks))*blockMemory }

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

func (c *Cache) get(r *Reader, directory int) []Block {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[cacheKey{r, directory}]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cacheEntry).blocks
}

func (c *Cache) put(r *Reader, directory int, blocks []Block) {
	if c == nil {
		return
	}
	e := &cacheEntry{cacheKey{r, directory}, blocks}
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
		if el := c.entries[cacheKey{r, i}]; el != nil {
			c.remove(el)
		}
	}
}
