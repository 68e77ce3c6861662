package store

import (
	"context"
	"sync"
)

// budget bounds the payload bytes that are queued and not yet published, and
// holds producers back while the unsealed log is too large. Waiters are served
// in arrival order. A request larger than the whole budget passes alone.
type budget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	blocked bool // the unsealed log is over its bound
	waiters []*budgetWaiter
}

type budgetWaiter struct {
	bytes int64
	ready chan struct{}
}

func (b *budget) fits(n int64) bool {
	return !b.blocked && (b.used == 0 || b.used+n <= b.limit)
}

// acquire takes n bytes, waiting for room; the only error is ctx's.
func (b *budget) acquire(ctx context.Context, n int64) error {
	b.mu.Lock()
	if len(b.waiters) == 0 && b.fits(n) {
		b.used += n
		b.mu.Unlock()
		return nil
	}
	w := &budgetWaiter{bytes: n, ready: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.waiters {
		if x == w {
			b.waiters = append(b.waiters[:i], b.waiters[i+1:]...)
			b.wake()
			return ctx.Err()
		}
	}
	// Served at the same moment: give the room back.
	b.used -= n
	b.wake()
	return ctx.Err()
}

func (b *budget) release(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.wake()
	b.mu.Unlock()
}

// setBlocked holds all further acquires back (or lets them go on).
func (b *budget) setBlocked(v bool) {
	b.mu.Lock()
	b.blocked = v
	b.wake()
	b.mu.Unlock()
}

func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

func (b *budget) wake() {
	n := 0
	for n < len(b.waiters) && b.fits(b.waiters[n].bytes) {
		b.used += b.waiters[n].bytes
		close(b.waiters[n].ready)
		n++
	}
	if n > 0 {
		b.waiters = append(b.waiters[:0], b.waiters[n:]...)
	}
}
