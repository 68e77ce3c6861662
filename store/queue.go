package store

import (
	"sync"
	"time"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// slot is one submitted intent on its way to publication.
type slot struct {
	q       *queue
	intent  state.Intent
	result  any
	entry   []byte   // nil: nothing was appended
	payload [][]byte // the accepted batches or the markers, in entry order
	markers []state.AppliedBatch
	bytes   int64     // taken from the budget
	start   time.Time // when it was decided
	now     state.Millis
	lsn     commitlog.LSN
	done    func(any, error)

	// Set before ready, read by the publisher after it.
	loc commitlog.Location
	err error
	// refused: the log did not queue the entry; what was decided later does not
	// build on it.
	refused bool
	ready   bool // guarded by queue.mu
}

// logDone is the log's completion callback of the slot's entry.
func (sl *slot) logDone(loc commitlog.Location, err error) {
	sl.loc, sl.err = loc, err
	sl.q.markReady(sl)
}

// queue holds the submitted slots in submission order until the publisher takes
// them. A slot is taken only when it and all before it are ready, so results
// without an entry wait for everything decided before them.
type queue struct {
	wake chan struct{} // capacity 1: the head may be ready

	mu    sync.Mutex
	slots []*slot // slots[head:] are queued
	head  int
	// Slots ever pushed, and ever finished by the publisher. They are finished in
	// the order in which they were pushed.
	pushed, finished uint64
	waiters          int
	progress         *sync.Cond // finished moved; only signalled with waiters
}

func newQueue() *queue {
	q := &queue{wake: make(chan struct{}, 1)}
	q.progress = sync.NewCond(&q.mu)
	return q
}

func (q *queue) push(sl *slot, ready bool) {
	q.mu.Lock()
	sl.q = q
	sl.ready = ready
	q.slots = append(q.slots, sl)
	q.pushed++
	signal := ready && q.head == len(q.slots)-1
	q.mu.Unlock()
	if signal {
		q.signal()
	}
}

func (q *queue) markReady(sl *slot) {
	q.mu.Lock()
	sl.ready = true
	signal := q.slots[q.head] == sl
	q.mu.Unlock()
	if signal {
		q.signal()
	}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take moves up to max ready slots from the front to dst.
func (q *queue) take(dst []*slot, max int) []*slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(dst) < max && q.head < len(q.slots) && q.slots[q.head].ready {
		dst = append(dst, q.slots[q.head])
		q.slots[q.head] = nil
		q.head++
	}
	if q.head == len(q.slots) {
		q.slots, q.head = q.slots[:0], 0
	} else if q.head > 1024 && q.head*2 > len(q.slots) {
		n := copy(q.slots, q.slots[q.head:])
		clear(q.slots[n:])
		q.slots, q.head = q.slots[:n], 0
	}
	return dst
}

// finish says that the publisher is done with n taken slots.
func (q *queue) finish(n int) {
	q.mu.Lock()
	q.finished += uint64(n)
	if q.waiters > 0 {
		q.progress.Broadcast()
	}
	q.mu.Unlock()
}

// drain returns once everything that was pushed before the call is finished.
func (q *queue) drain() {
	q.mu.Lock()
	q.waiters++
	for upTo := q.pushed; q.finished < upTo; {
		q.progress.Wait()
	}
	q.waiters--
	q.mu.Unlock()
}
