package store

import "sync"

// entryBufs recycles the buffers that entries are built in: neither the log nor
// the state keeps one after the entry is published.
type entryBufs struct{ pool sync.Pool }

// Buffers outside these bounds are not worth keeping.
const (
	entryBufBytes    = 256
	maxEntryBufBytes = 64 << 10
)

func (p *entryBufs) get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, entryBufBytes)
}

func (p *entryBufs) put(b []byte) {
	if cap(b) == 0 || cap(b) > maxEntryBufBytes {
		return
	}
	p.pool.Put(&b)
}
