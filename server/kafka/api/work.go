package api

import (
	"context"
	"time"
)

// Work counts the time that a connection's goroutine spends on requests, as long as somebody has a quota for
// it: not the time in which it waits for the disk or for other clients.
type Work struct {
	Now   func() time.Time
	since time.Time // zero: it does not count now
	spent time.Duration
}

// Begin starts counting.
func (w *Work) Begin() { w.since = w.Now() }

// Take returns what was counted, and goes on from zero.
func (w *Work) Take() time.Duration {
	if w.since.IsZero() {
		return 0
	}
	now := w.Now()
	spent := w.spent + now.Sub(w.since)
	w.since, w.spent = now, 0
	return spent
}

// End stops counting. What was not taken is charged with the next request if it is kept.
func (w *Work) End(keep bool) {
	if w.pause(); !keep {
		w.spent = 0
	}
}

// pause stops counting until the returned function is called.
func (w *Work) pause() (resume func()) {
	if w.since.IsZero() {
		return func() {}
	}
	w.spent += w.Now().Sub(w.since)
	w.since = time.Time{}
	return func() { w.since = w.Now() }
}

type workKey struct{}

// WithWork is ctx for a connection whose work is counted by w.
func WithWork(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// Waiting pauses the count of the connection that has ctx: defer Waiting(ctx)().
func Waiting(ctx context.Context) (over func()) {
	if w, ok := ctx.Value(workKey{}).(*Work); ok {
		return w.pause()
	}
	return func() {}
}
