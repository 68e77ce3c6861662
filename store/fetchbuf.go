package store

import (
	"math/bits"
	"sync"
)

// Fetch reads from files into buffers that go back to a pool when the caller says so:
// a new one would be cleared first, and both that and its collection cost about as
// much as reading the bytes.
const (
	minPooledBits = 16 // 64 KiB; less is not worth a pool
	maxPooledBits = 23 // 8 MiB; more is rare, and much to hold on to
)

// fetchBuffers has one pool for each power of two.
var fetchBuffers [maxPooledBits - minPooledBits + 1]sync.Pool

// fetchBuffer returns n bytes of any content.
func fetchBuffer(n int) []byte {
	class := bits.Len(uint(max(n, 1)-1)) - minPooledBits
	if class < 0 || class >= len(fetchBuffers) {
		return make([]byte, n)
	}
	if b, ok := fetchBuffers[class].Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return make([]byte, n, 1<<(class+minPooledBits))
}

// recycle gives a buffer back if it is a pool's.
func recycle(b []byte) {
	class := bits.Len(uint(cap(b))) - 1 - minPooledBits
	if class >= 0 && class < len(fetchBuffers) && cap(b) == 1<<(class+minPooledBits) {
		b = b[:0]
		fetchBuffers[class].Put(&b)
	}
}
