package store

import (
	"sync"
	"time"
)

const (
	// clockSlack is how far the wall clock may run ahead of the monotonic one
	// between two looks before it counts as a jump.
	clockSlack = 10 * time.Minute
	// clockStartSlack is the same for the time since the store was last in use,
	// of which nothing monotonic is known. Longer, since servers are stopped over
	// night; still far less than what is worth waiting for.
	clockStartSlack = 24 * time.Hour
	// clockSettle is how long everything that expires by wall-clock time waits after
	// a jump: a clock that is set right again within it costs no records, no
	// committed offsets and no producers' sequences.
	clockSettle = time.Hour
)

// clockGuard notices when the wall clock jumps ahead.
type clockGuard struct {
	mu      sync.Mutex
	wall    time.Time // at the last look, and
	mono    time.Time // the same instant, with its monotonic reading
	jumped  bool
	settled time.Time // monotonic; after it the clock is believed again
}

// started tells when the store was last in use as far as is known; the zero time
// if nothing is.
func (g *clockGuard) started(lastUse, wall, mono time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wall, g.mono = wall.Round(0), mono
	if !lastUse.IsZero() && g.wall.Sub(lastUse) > clockStartSlack {
		g.jumped, g.settled = true, mono.Add(clockSettle)
	}
}

// believes looks at the wall clock; mono is time.Now().
func (g *clockGuard) believes(wall, mono time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall = wall.Round(0)
	if !g.mono.IsZero() && wall.Sub(g.wall)-mono.Sub(g.mono) > clockSlack {
		g.jumped, g.settled = true, mono.Add(clockSettle)
	}
	g.wall, g.mono = wall, mono
	if g.jumped && !mono.Before(g.settled) {
		g.jumped = false
	}
	return !g.jumped
}
