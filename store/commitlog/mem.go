package commitlog

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Mem is a Log in memory. Durability is simulated: an entry counts as durable
// once its done was called with nil, and Reopen gives the log that a restart
// would find. Hold keeps entries from becoming durable, Fail makes them fail.
type Mem struct {
	mu       sync.Mutex // guards everything below
	wake     *sync.Cond
	entries  []memEntry // durable, LSN first..first+len-1
	first    LSN
	queue    []memQueued
	busy     bool // the goroutine is inside done
	held     bool
	inject   error // pending failure
	failed   error // set: no appends
	noSpace  bool  // only Reserved entries are let through
	closed   bool
	snapshot []byte
	hasSnap  bool
	ended    chan struct{}
}

type memEntry struct {
	meta    []byte
	payload []byte
}

type memQueued struct {
	memEntry
	lsn  LSN
	done func(Location, error)
}

var (
	_ Log        = (*Mem)(nil)
	_ MetaReader = (*Mem)(nil)
)

// NewMem returns an empty log. It has a goroutine until Close.
func NewMem() *Mem { return newMem(&Mem{first: 1}) }

func newMem(m *Mem) *Mem {
	m.wake = sync.NewCond(&m.mu)
	m.ended = make(chan struct{})
	go m.run()
	return m
}

// Hold keeps queued entries from becoming durable (or failing) until Release.
func (m *Mem) Hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = true
}

// Release ends Hold.
func (m *Mem) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = false
	m.wake.Broadcast()
}

// Fail makes the log fail with err, which should be ErrStorage or wrap it: all
// queued entries, or the next one if none is queued, and then Append until Resume.
func (m *Mem) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inject = err
	m.wake.Broadcast()
}

// Full turns a full disk on or off: while on, entries without Reserved fail with
// ErrNoSpace, and Resume lets only Reserved ones through.
func (m *Mem) Full(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noSpace = on
}

// Reopen returns a new log with everything that is durable in m, as a restart
// after a crash at this moment would find it. m is not touched.
func (m *Mem) Reopen() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return newMem(&Mem{
		first:    m.first,
		entries:  slices.Clone(m.entries),
		snapshot: m.snapshot,
		hasSnap:  m.hasSnap,
	})
}

func (m *Mem) last() LSN { return m.first + LSN(len(m.entries)) - 1 }

// Append copies the entry at once.
func (m *Mem) Append(after LSN, e Entry, done func(Location, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if m.failed != nil {
		return m.failed
	}
	if m.noSpace && !e.Reserved {
		return ErrNoSpace
	}
	next := m.last() + LSN(len(m.queue)) + 1
	if after+1 != next {
		return fmt.Errorf("%w: entry %d decided, %d is next", ErrConflict, after+1, next)
	}
	m.queue = append(m.queue, memQueued{
		memEntry: memEntry{meta: slices.Clone(e.Meta), payload: bytes.Join(e.Payload, nil)},
		lsn:      next,
		done:     done,
	})
	m.wake.Broadcast()
	return nil
}

func (m *Mem) run() {
	defer close(m.ended)
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for (len(m.queue) == 0 || m.held) && !m.closed {
			m.wake.Wait()
		}
		if len(m.queue) == 0 {
			return
		}
		m.busy = true
		if m.inject != nil {
			m.failed, m.inject = m.inject, nil
			queue := m.queue
			m.queue = nil
			m.mu.Unlock()
			for _, q := range queue {
				q.done(Location{}, m.failed)
			}
			m.mu.Lock()
		} else {
			q := m.queue[0]
			m.queue = slices.Delete(m.queue, 0, 1)
			m.entries = append(m.entries, q.memEntry)
			m.mu.Unlock()
			q.done(memLocation(q.lsn), nil)
			m.mu.Lock()
		}
		m.busy = false
		m.wake.Broadcast()
	}
}

// memLocation gives each entry a file of its own.
func memLocation(lsn LSN) Location { return Location{File: uint32(lsn)} }

// Resume ends a failure.
func (m *Mem) Resume() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.failed != nil && m.busy {
		m.wake.Wait()
	}
	if m.closed {
		return ErrClosed
	}
	if m.inject != nil {
		return m.inject
	}
	if m.failed == nil && m.noSpace {
		return ErrNoSpace
	}
	m.failed = nil
	return nil
}

// Read calls fn without the log's lock held.
func (m *Mem) Read(from LSN, fn func(Replayed) error) error { return m.read(from, true, fn) }

// ReadMeta is Read without payloads.
func (m *Mem) ReadMeta(from LSN, fn func(Replayed) error) error { return m.read(from, false, fn) }

func (m *Mem) read(from LSN, payload bool, fn func(Replayed) error) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	if from < m.first {
		first := m.first
		m.mu.Unlock()
		return fmt.Errorf("%w: %d is gone, the first is %d", ErrTruncated, from, first)
	}
	var entries []memEntry
	if from <= m.last() {
		entries = m.entries[from-m.first:]
	}
	m.mu.Unlock()
	for i, e := range entries {
		lsn := from + LSN(i)
		r := Replayed{LSN: lsn, Meta: e.meta, Location: memLocation(lsn)}
		if payload {
			r.Payload = e.payload
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// ReadAt reads within one entry.
func (m *Mem) ReadAt(p []byte, loc Location) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	lsn := LSN(loc.File)
	if lsn < m.first {
		return fmt.Errorf("%w: entry %d", ErrTruncated, lsn)
	}
	if lsn > m.last() {
		return fmt.Errorf("commit log: nothing at %+v", loc)
	}
	payload := m.entries[lsn-m.first].payload
	if int64(loc.Offset)+int64(len(p)) > int64(len(payload)) {
		return fmt.Errorf("commit log: %d bytes at %+v: %w", len(p), loc, io.ErrUnexpectedEOF)
	}
	copy(p, payload[loc.Offset:])
	return nil
}

// First is the lowest LSN.
func (m *Mem) First() LSN {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first
}

// Last is the highest durable LSN.
func (m *Mem) Last() LSN {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last()
}

// Size is the sum of metas and payloads.
func (m *Mem) Size() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for _, e := range m.entries {
		n += int64(len(e.meta) + len(e.payload))
	}
	return n
}

// Truncate is exact here: First becomes before.
func (m *Mem) Truncate(before LSN) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	before = min(before, m.last()+1)
	if before > m.first {
		// A new slice, so that a Read that runs keeps its own.
		m.entries = slices.Clone(m.entries[before-m.first:])
		m.first = before
	}
	return nil
}

// SaveSnapshot keeps what write produces if it succeeds.
func (m *Mem) SaveSnapshot(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.snapshot, m.hasSnap = b.Bytes(), true
	return nil
}

// LoadSnapshot hands out what SaveSnapshot kept.
func (m *Mem) LoadSnapshot(read func(io.Reader) error) (bool, error) {
	m.mu.Lock()
	snapshot, ok, closed := m.snapshot, m.hasSnap, m.closed
	m.mu.Unlock()
	if closed {
		return false, ErrClosed
	}
	if !ok {
		return false, nil
	}
	return true, read(bytes.NewReader(snapshot))
}

// Close ends Hold, waits for queued entries and ends the goroutine.
func (m *Mem) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	m.closed, m.held = true, false
	m.wake.Broadcast()
	m.mu.Unlock()
	<-m.ended
	return nil
}
