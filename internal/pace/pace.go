// Package pace has background work make way for what clients wait for. The operating system shares processors among all that
// want them, a few milliseconds to each; who waits for an answer that passes through six goroutines would wait for the background six times.
// So the background works in slices far shorter than that, and rests between them while clients wait.
package pace

import (
	"context"
	"runtime"
	"time"
)

const (
	// Slice is how long work goes on without a rest at least, and Longest at most, if it is far behind: what a client waits for it. Less
	// costs more rests, and a rest is about a millisecond however short it is asked for.
	Slice   = 250 * time.Microsecond
	Longest = 8 * Slice
	// rest is how long it sleeps between.
	rest = 500 * time.Microsecond
)

// Pace is that of one worker. Used by one goroutine.
type Pace struct {
	busy  func() bool
	slice time.Duration
	began time.Time // the slice
}

// New makes a Pace for work that rests while busy says that clients wait.
func New(busy func() bool) *Pace { return &Pace{busy: busy, slice: Slice} }

// Behind says how far the work is behind, in what is usual: slices become so many times as long. So the work takes the part of
// a processor that it needs to keep up, and no more.
func (p *Pace) Behind(times float64) {
	p.slice = min(Longest, max(Slice, time.Duration(times*float64(Slice))))
}

// Step is called often, at best each 50 µs of work; it rests when the slice is over. The error is the context's.
func (p *Pace) Step(ctx context.Context) error {
	if now := time.Now(); now.Sub(p.began) >= p.slice {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if p.busy() {
			time.Sleep(rest)
			now = time.Now()
		} else {
			runtime.Gosched()
		}
		p.began = now
	}
	return nil
}
