// Package wal is the commit log in local files: zero-filled, recycled, written by
// one goroutine and synced by another while the next write runs.
//
// docs/format/wal.md describes the bytes; frame.go and file.go hold the drawings.
// recover.go decides, after a crash, what is torn and what is corrupt.
package wal

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"

	"github.com/prometheus/client_golang/prometheus"
)

// Options configure a log. Zero values take the defaults named here.
type Options struct {
	FS       vfs.FS                // default: the operating system's
	Dir      string                // made if missing; the caller holds its lock
	Logger   *slog.Logger          // default: none
	Registry prometheus.Registerer // nil: no metrics

	// FileBytes is the size of a log file; files start at FirstFileBytes and double.
	// Larger files mean fewer switches, and more space that truncation must leave.
	// Default 128 MiB, at most 1 GiB.
	FileBytes int64
	// FirstFileBytes is what a first start has to fill before it can serve. Default 4 MiB.
	FirstFileBytes int64
	// ReserveBytes is the size of the reserve for a full disk. Default 1 MiB; negative: none.
	ReserveBytes int64
	// PoolFiles is how many old files are kept for recycling: as many as truncation
	// sets free at once should do, since filling a new one costs as much as writing it. Default 8.
	PoolFiles int
	// GatherBytes bounds one write. More does not make it faster, and the sync
	// that covers it takes longer. Default 4 MiB.
	GatherBytes int64
	// UnsyncedBytes bounds what is written but not yet synced. Default 16 MiB.
	UnsyncedBytes int64
	// SyncPointAfter is how long an idle log waits before it records how far it is synced.
	// Damage to entries after the last record looks like a torn write. Default 50 ms.
	SyncPointAfter time.Duration
}

func (o *Options) setDefaults() {
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	def := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	def(&o.FileBytes, 128<<20)
	def(&o.FirstFileBytes, 4<<20)
	def(&o.ReserveBytes, 1<<20)
	def(&o.GatherBytes, 4<<20)
	def(&o.UnsyncedBytes, 16<<20)
	const least = fileDataStart + 4*pageBytes
	o.FileBytes = min(max(o.FileBytes, least), 1<<30) &^ (pageBytes - 1)
	o.FirstFileBytes = min(max(o.FirstFileBytes, least), o.FileBytes) &^ (pageBytes - 1)
	if o.ReserveBytes > 0 {
		o.ReserveBytes = max(o.ReserveBytes, least) &^ (pageBytes - 1)
	}
	if o.PoolFiles == 0 {
		o.PoolFiles = 8
	}
	if o.SyncPointAfter == 0 {
		o.SyncPointAfter = 50 * time.Millisecond
	}
}

// Log implements commitlog.Log. Safe for concurrent use, as far as "one appender
// at a time" allows.
//
// Lock order: resumeMu, truncateMu, snapshotMu, mu, filesMu, spares.mu.
type Log struct {
	o       Options
	logger  *slog.Logger
	metrics *metrics
	spares  *spares
	logID   uint64

	// Owned by the writer; while the log fails, by whoever makes the fence.
	cur   *logFile
	pos   int64 // where the next frame goes in cur
	begun bool  // cur has its header
	head  header
	epoch uint32
	out   frameBuffer
	junk  []string // names of files that failed before they held anything

	mu           sync.Mutex // guards what follows
	writerWake   *sync.Cond
	syncerWake   *sync.Cond
	settled      *sync.Cond // failures drained, Resume done
	queue        []pending  // appended, not yet taken by the writer
	lastQueued   commitlog.LSN
	hand         []pending // taken by the writer; written up to handAt
	handAt       int
	written      []*group // written, not yet taken by the syncer
	unsynced     int64    // bytes of written and of what the syncer has
	writerBusy   bool
	writerDone   bool
	syncPointDue bool
	lastClaim    commitlog.LSN // synced LSN in the last frame written
	failure      error         // set: no appends, no writes
	dirty        bool          // bytes of entries that failed may be in the log
	drained      bool          // everybody has been told of failure
	fenced       bool          // the failed entries are given up durably already
	reserveOnly  bool          // the disk is full; Reserved entries only
	closing      bool
	freeGroups   []*group
	idle         *time.Timer

	synced atomic.Uint64 // the last durable LSN

	filesMu sync.RWMutex
	files   []*logFile // ascending; the last one is written
	closed  bool       // files are gone

	resumeMu   sync.Mutex
	truncateMu sync.Mutex
	snapshotMu sync.Mutex
	leaving    *logFile // guarded by truncateMu: out of files, not yet recycled

	wg sync.WaitGroup
}

var (
	_ commitlog.Log        = (*Log)(nil)
	_ commitlog.MetaReader = (*Log)(nil)
)

// pending is one entry on its way.
type pending struct {
	lsn   commitlog.LSN
	entry commitlog.Entry
	bytes int64 // of its frame
	loc   commitlog.Location
	done  func(commitlog.Location, error)
}

// group is what one write carried.
type group struct {
	file    *logFile
	end     int64 // where its frames end
	bytes   int64
	entries []pending
}

// Append queues e; see commitlog.Log.
func (l *Log) Append(after commitlog.LSN, e commitlog.Entry, done func(commitlog.Location, error)) error {
	meta, payload := int64(len(e.Meta)), e.PayloadBytes()
	if meta+payload > maxEntryBytes {
		return commitlog.ErrTooLarge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closing:
		return commitlog.ErrClosed
	case l.failure != nil:
		return l.failure
	case l.reserveOnly && !e.Reserved:
		if l.spares.isStarved() {
			return commitlog.ErrNoSpace
		}
		l.reserveOnly = false
	}
	if after != l.lastQueued {
		return conflict(after, l.lastQueued)
	}
	l.lastQueued++
	l.queue = append(l.queue, pending{lsn: l.lastQueued, entry: e, bytes: frameBytes(meta, payload), done: done})
	l.writerWake.Signal()
	return nil
}

// First is the lowest LSN that can be read.
func (l *Log) First() commitlog.LSN {
	l.filesMu.RLock()
	defer l.filesMu.RUnlock()
	return l.files[0].prev + 1
}

// Last is the last durable LSN.
func (l *Log) Last() commitlog.LSN { return commitlog.LSN(l.synced.Load()) }

// Size is the bytes of all frames.
func (l *Log) Size() int64 {
	l.filesMu.RLock()
	defer l.filesMu.RUnlock()
	var n int64
	for _, f := range l.files {
		n += max(0, f.used.Load()-fileDataStart)
	}
	return n
}

// Close waits for queued entries, records how far the log is synced, and
// releases everything. ErrClosed the second time.
func (l *Log) Close() error {
	l.resumeMu.Lock()
	defer l.resumeMu.Unlock()
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		return commitlog.ErrClosed
	}
	l.closing = true
	l.writerWake.Broadcast()
	l.syncerWake.Broadcast()
	l.mu.Unlock()
	l.wg.Wait()
	l.idle.Stop()

	l.truncateMu.Lock()
	defer l.truncateMu.Unlock()
	errs := []error{l.spares.close()}
	if l.leaving != nil {
		errs = append(errs, l.leaving.release())
	}
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	l.closed = true
	for _, f := range l.files {
		errs = append(errs, f.release())
	}
	l.metrics.fileCount.Set(0)
	return errors.Join(errs...)
}
