package vfs

import (
	"fmt"
	"sync"
)

// Op is a kind of operation, or a set of kinds.
type Op uint32

const (
	OpCreate Op = 1 << iota
	OpOpen
	OpRemove
	OpRename
	OpMkdir
	OpReadDir
	OpStat
	OpSyncDir
	OpLock
	OpRead
	OpWrite
	OpSync
	OpSyncData
	OpTruncate
	OpPreallocate

	// OpAny is every kind.
	OpAny Op = 1<<iota - 1
	// OpChange is every kind that changes or syncs something.
	OpChange = OpCreate | OpRemove | OpRename | OpMkdir | OpSyncDir | OpWrite | OpSync | OpSyncData | OpTruncate | OpPreallocate
)

// Event describes an operation that is about to happen.
type Event struct {
	Op     Op // one kind
	Name   string
	Offset int64 // reads and writes; the new size of Truncate and Preallocate
	Bytes  int   // reads and writes
	N      int   // this is the Nth operation of its kind, from 1
}

// ShortWriteError, returned by a hook or given to FailNth for a write, lets the
// first Bytes bytes be written before the write fails with Err.
type ShortWriteError struct {
	Bytes int
	Err   error
}

func (e *ShortWriteError) Error() string {
	return fmt.Sprintf("short write of %d bytes: %v", e.Bytes, e.Err)
}
func (e *ShortWriteError) Unwrap() error { return e.Err }

type plan struct {
	ops  Op
	left int // fails when it reaches 0; negative: every time
	err  error
}

type faults struct {
	mu     sync.Mutex
	counts [32]int
	plans  []*plan
	hook   func(Event) error
}

// FailNth makes the nth operation from now (1 is the next) among ops fail with
// err, once. A failed write writes nothing unless err is a ShortWriteError.
func (m *Mem) FailNth(ops Op, n int, err error) {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	m.faults.plans = append(m.faults.plans, &plan{ops: ops, left: max(n, 1), err: err})
}

// FailAll makes every operation among ops fail with err until ClearFaults.
func (m *Mem) FailAll(ops Op, err error) {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	m.faults.plans = append(m.faults.plans, &plan{ops: ops, left: -1, err: err})
}

// ClearFaults forgets FailNth, FailAll and the hook.
func (m *Mem) ClearFaults() {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	m.faults.plans, m.faults.hook = nil, nil
}

// SetHook has fn called before each operation, on its goroutine and without any
// lock held; an error makes the operation fail. nil removes it.
func (m *Mem) SetHook(fn func(Event) error) {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	m.faults.hook = fn
}

// Count is the number of operations among ops so far, failed ones included.
func (m *Mem) Count(ops Op) int {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	n := 0
	for i, c := range m.faults.counts {
		if ops&(1<<i) != 0 {
			n += c
		}
	}
	return n
}

func (f *faults) check(e Event) error {
	f.mu.Lock()
	for i := range f.counts {
		if e.Op == 1<<i {
			f.counts[i]++
			e.N = f.counts[i]
		}
	}
	var err error
	keep := f.plans[:0]
	for _, p := range f.plans {
		if p.ops&e.Op != 0 {
			if p.left > 0 {
				p.left--
			}
			if p.left <= 0 && err == nil {
				err = p.err
			}
		}
		if p.left != 0 {
			keep = append(keep, p)
		}
	}
	clear(f.plans[len(keep):])
	f.plans = keep
	hook := f.hook
	f.mu.Unlock()
	if hook != nil {
		if herr := hook(e); herr != nil {
			return herr
		}
	}
	return err
}
