package kafka

import (
	"context"
	"sync"
)

// budget is a bound on bytes in use, handed out in the order asked. A single
// request larger than the whole is let through once everything else is back.
type budget struct {
	size int64

	mu    sync.Mutex
	used  int64
	queue []*budgetWaiter
}

type budgetWaiter struct {
	n     int64
	ready chan struct{} // closed when granted
}

func newBudget(size int64) *budget { return &budget{size: size} }

// acquire waits until n bytes fit, or ctx ends.
func (b *budget) acquire(ctx context.Context, n int64) error {
	b.mu.Lock()
	if len(b.queue) == 0 && b.fits(n) {
		b.used += n
		b.mu.Unlock()
		return nil
	}
	w := &budgetWaiter{n: n, ready: make(chan struct{})}
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

// acquireSome waits until floor bytes are free, and takes up to n: at most half of
// what is free, unless that is less than floor. So those who hold theirs long
// (slow clients) leave something for others. It returns what it took.
func (b *budget) acquireSome(ctx context.Context, n, floor int64) (int64, error) {
	b.mu.Lock()
	if free := b.size - b.used; len(b.queue) == 0 && free >= floor {
		n = min(n, max(floor, free/2))
		b.used += n
		b.mu.Unlock()
		return n, nil
	}
	b.mu.Unlock()
	n = min(n, floor)
	return n, b.acquire(ctx, n)
}

// release gives n bytes back (or takes more, unasked, when negative).
func (b *budget) release(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.grant()
	b.mu.Unlock()
}

func (b *budget) fits(n int64) bool { return b.used+n <= b.size || b.used == 0 }

func (b *budget) grant() {
	for len(b.queue) > 0 && b.fits(b.queue[0].n) {
		b.used += b.queue[0].n
		close(b.queue[0].ready)
		b.queue = b.queue[1:]
	}
}
