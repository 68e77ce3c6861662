// Package workmem is what statements may keep: rows and text in memory while there is any, and files beside it.
package workmem

import (
	"bytes"
	"context"
	"math"
	"os"
	"runtime/debug"
	heap "runtime/metrics"
	"strconv"
	"sync/atomic"
	"time"

	"millrace/scan/exec"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// heapShare of the memory there is may be in use before statements are refused more.
const heapShare = 0.8

// Guard tells the engine how much memory is in use, before each row that is kept. The
// engine's own reporter stops the world to know; this one reads a counter of the runtime, and only
// now and then.
type Guard struct {
	max   uint64
	held  atomic.Int64 // granted to statements in columns
	calls atomic.Uint64
	used  atomic.Uint64

	collecting chan struct{} // held by who does, and guards the two below
	collected  time.Time     // when garbage was last collected because memory was full
	again      time.Time     // not before
}

// Between two collections of garbage for want of memory there is a pause of so many times what the last one took.
const (
	collectPause     = 5
	collectPauseMost = 500 * time.Millisecond
)

// sampleEvery so many kept rows the heap is looked at. Rows may have megabytes: not many more.
const sampleEvery = 64

var _ sql.Reporter = (*Guard)(nil)

// NewGuard allows limit bytes of heap; 0 means the share of what the Go runtime or the
// machine is limited to.
func NewGuard(limit uint64) *Guard {
	if limit == 0 {
		limit = uint64(heapShare * float64(availableMemory()))
	}
	return &Guard{max: limit, collecting: make(chan struct{}, 1)}
}

// availableMemory is the runtime's memory limit, or else the machine's memory.
func availableMemory() uint64 {
	if n := debug.SetMemoryLimit(-1); n != math.MaxInt64 {
		return uint64(n)
	}
	info, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		if _, rest, ok := bytes.Cut(info, []byte("MemTotal:")); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				if kib, err := strconv.ParseUint(string(fields[0]), 10, 64); err == nil {
					return kib << 10
				}
			}
		}
	}
	return 1 << 62 // not known
}

// MaxMemory is the heap from which on statements may keep no more.
func (g *Guard) MaxMemory() uint64 { return g.max }

// UsedMemory is the heap in use, a few calls ago at most.
func (g *Guard) UsedMemory() uint64 {
	used := g.used.Load()
	if used < g.max && g.calls.Add(1)%sampleEvery != 1 {
		return used
	}
	sample := [...]heap.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap.Read(sample[:])
	used = sample[0].Value.Uint64()
	g.used.Store(used)
	return used
}

// Full is ErrNoMemory when there is no memory for more rows, or why ctx ended while it waited for some.
func (g *Guard) Full(ctx context.Context) error {
	if g.UsedMemory() < g.max {
		return nil
	}
	if err := g.collect(ctx); err != nil { // much of it may be garbage
		return err
	}
	if g.UsedMemory() < g.max {
		return nil
	}
	return sqlerr.ErrNoMemory
}

// collect collects garbage for whom there is no memory. That takes all processors' time, the producers' as well, so who
// asks again too soon waits, or until ctx ends.
func (g *Guard) collect(ctx context.Context) error {
	asked := time.Now()
	select {
	case g.collecting <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-g.collecting }()
	if g.collected.After(asked) {
		return nil // for another one, meanwhile
	}
	pause := time.NewTimer(time.Until(g.again))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	began := time.Now()
	debug.FreeOSMemory()
	g.collected = time.Now()
	g.again = g.collected.Add(min(collectPause*g.collected.Sub(began), collectPauseMost))
	return nil
}

// Admits is ErrNoMemory when there is no memory for text of so many bytes that a function made; a
// statement may have thousands of such in a row. Short text is not asked about.
func (g *Guard) Admits(bytes int) error {
	if bytes < 1<<16 {
		return nil
	}
	if bytes >= 1<<20 {
		g.calls.Store(0) // look at the heap now
	}
	return g.Full(context.Background()) // half a second at most
}

// DefaultQueryBytes is what a statement keeps in memory before it spills, unless Options say otherwise.
const DefaultQueryBytes = 512 << 20

// NewBudget is that of a statement that may keep limit bytes, and never more than half of what all have.
func (g *Guard) NewBudget(limit uint64) *Budget {
	return &Budget{guard: g, max: min(limit, g.max/2)}
}

// Budget is what one statement in columns may keep: its own share, while all together leave any.
type Budget struct {
	guard *Guard
	max   uint64
	held  atomic.Int64
}

var _ exec.Budget = (*Budget)(nil)

// freeBytes every statement may keep: without them not even a sum is computed.
const freeBytes = 512 << 10

// Grow implements exec.Budget. What vectors hold need not lie in the heap that the guard looks at, so it is
// counted as well.
func (b *Budget) Grow(n int64) bool {
	if b.held.Load()+n > freeBytes && b.guard.Full(context.Background()) != nil {
		return false
	}
	if own, all := b.held.Add(n), b.guard.held.Add(n); own > freeBytes && (uint64(own) > b.max || uint64(all) > b.guard.max) {
		b.Shrink(n)
		return false
	}
	return true
}

// Shrink implements exec.Budget.
func (b *Budget) Shrink(n int64) {
	b.held.Add(-n)
	b.guard.held.Add(-n)
}
