// Package budget bounds the bytes that many requests hold at once.
package budget

import (
	"context"
	"sync"
)

// Budget is a bound on bytes in use, handed out in the order asked. A single request
// larger than the whole is let through once everything else is back. Safe for
// concurrent use.
type Budget struct {
	size int64

	mu      sync.Mutex // guards what follows
	used    int64
	blocked bool
	queue   []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{} // closed when granted
}

// New returns a budget of size bytes.
func New(size int64) *Budget { return &Budget{size: size} }

// Acquire waits until n bytes fit; the only error is ctx's. What is free is given
// even if ctx has ended.
func (b *Budget) Acquire(ctx context.Context, n int64) error {
	b.mu.Lock()
	if len(b.queue) == 0 && b.fits(n) {
		b.used += n
		b.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	b.queue = append(b.queue, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.ready: // granted meanwhile: give it back
		b.used -= n
	default:
		for i := range b.queue {
			if b.queue[i] == w {
				b.queue = append(b.queue[:i], b.queue[i+1:]...)
				break
			}
		}
	}
	b.grant()
	return ctx.Err()
}

// AcquireSome waits until floor bytes are free, and takes up to n: at most half of
// what is free, unless that is less than floor. So those who hold theirs long
// (slow clients) leave something for others. It returns what it took, 0 with an error.
func (b *Budget) AcquireSome(ctx context.Context, n, floor int64) (int64, error) {
	b.mu.Lock()
	if free := b.size - b.used; !b.blocked && len(b.queue) == 0 && free >= floor {
		n = min(n, max(floor, free/2))
		b.used += n
		b.mu.Unlock()
		return n, nil
	}
	b.mu.Unlock()
	n = min(n, floor)
	if err := b.Acquire(ctx, n); err != nil {
		return 0, err
	}
	return n, nil
}

// Release gives n bytes back (or takes more, unasked, when negative).
func (b *Budget) Release(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.grant()
	b.mu.Unlock()
}

// Block holds everyone who asks back while on, whatever is free.
func (b *Budget) Block(on bool) {
	b.mu.Lock()
	b.blocked = on
	b.grant()
	b.mu.Unlock()
}

// InUse is the bytes handed out.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

func (b *Budget) fits(n int64) bool { return !b.blocked && (b.used == 0 || b.used+n <= b.size) }

func (b *Budget) grant() {
	n := 0
	for n < len(b.queue) && b.fits(b.queue[n].n) {
		b.used += b.queue[n].n
		close(b.queue[n].ready)
		n++
	}
	if n > 0 {
		rest := copy(b.queue, b.queue[n:])
		clear(b.queue[rest:])
		b.queue = b.queue[:rest]
	}
}
