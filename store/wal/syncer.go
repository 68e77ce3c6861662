package wal

import (
	"errors"
	"time"

	"millrace/store/commitlog"
)

// sync is the syncer goroutine: it makes written groups durable, tells their
// owners in LSN order, and, when something failed, tells everybody else.
func (l *Log) sync() {
	defer l.wg.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	var taken []*group
	for {
		for len(l.written) == 0 && (l.failure == nil || l.drained || l.writerBusy) {
			if l.writerDone && (l.failure == nil || l.drained) {
				return
			}
			l.syncerWake.Wait()
		}
		if len(l.written) == 0 {
			l.drain(nil)
			continue
		}
		taken, l.written = l.written, taken[:0]
		l.mu.Unlock()
		err := l.syncGroups(taken)
		l.mu.Lock()
		if err != nil {
			l.fail(err, true)
			for l.writerBusy {
				l.syncerWake.Wait()
			}
			l.drain(taken)
			clear(taken)
			continue
		}
		last := l.Last()
		for _, g := range taken {
			l.unsynced -= g.bytes
			if n := len(g.entries); n > 0 {
				last = g.entries[n-1].lsn
			}
			g.file.used.Store(g.end)
		}
		l.synced.Store(uint64(last))
		l.writerWake.Signal()
		l.mu.Unlock()
		n := 0
		for _, g := range taken {
			for i := range g.entries {
				p := &g.entries[i]
				p.done(p.loc, nil)
			}
			n += len(g.entries)
		}
		l.metrics.appended.Add(float64(n))
		l.mu.Lock()
		for i, g := range taken {
			l.releaseGroup(g)
			taken[i] = nil
		}
		if l.unsynced == 0 && len(l.queue) == 0 && l.lastClaim != l.Last() && !l.closing {
			l.idle.Reset(l.o.SyncPointAfter)
		}
	}
}

// onIdle runs when nothing was written for a while.
func (l *Log) onIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsynced == 0 && len(l.queue) == 0 && l.inHand() == 0 {
		l.syncPointDue = true
		l.writerWake.Signal()
	}
}

// syncGroups syncs each file once, in order.
func (l *Log) syncGroups(groups []*group) error {
	for i, g := range groups {
		if i+1 < len(groups) && groups[i+1].file == g.file {
			continue
		}
		start := time.Now()
		if err := g.file.f.SyncData(); err != nil {
			g.file.tainted.Store(true)
			return &StorageError{Op: "sync", File: g.file.name, Err: err}
		}
		l.metrics.syncs.Observe(time.Since(start).Seconds())
	}
	return nil
}

// fail stops the log. Called with mu held.
func (l *Log) fail(err error, dirty bool) {
	l.dirty = l.dirty || dirty
	if l.failure == nil {
		l.failure = storageError("write", "", err)
		l.metrics.failures.Inc()
		l.logger.Error("the log takes no entries: a write or sync failed", "error", err)
	}
	l.writerWake.Signal()
	l.syncerWake.Signal()
}

// drain fails everything that is not durable: first taken, whose sync failed,
// then what was written behind it, what the writer has in hand, and the queue.
// Called with mu held and the writer at rest.
//
// The failed entries are given up on the disk before anybody hears of the
// failure, if the disk lets us: afterwards ErrStorage means for certain that
// they never come back. If not, the error says ErrInDoubt too.
func (l *Log) drain(taken []*group) {
	var lost []pending
	for _, groups := range [][]*group{taken, l.written} {
		for _, g := range groups {
			lost = append(lost, g.entries...)
		}
	}
	lost = append(append(lost, l.hand[l.handAt:]...), l.queue...)
	clear(l.written)
	clear(l.hand)
	clear(l.queue)
	l.written, l.hand, l.handAt, l.queue = l.written[:0], l.hand[:0], 0, l.queue[:0]
	l.unsynced = 0
	l.lastQueued = l.Last()
	err := l.failure
	dirty := l.dirty
	l.mu.Unlock()
	fenced := false
	if dirty {
		ferr := l.fence()
		fenced = ferr == nil
		if ferr != nil {
			l.logger.Error("failed entries cannot be given up yet", "error", ferr)
			err = &StorageError{Op: "give up failed entries", InDoubt: true, Err: errors.Join(err, ferr)}
		}
	}
	for i := range lost {
		lost[i].done(commitlog.Location{}, err)
	}
	l.mu.Lock()
	l.fenced = fenced
	l.drained = true
	l.settled.Broadcast()
}

// fence begins a new epoch in a new file behind the last durable entry, so that
// whatever was written after it is void. Called by the syncer or by Resume
// while nobody writes.
func (l *Log) fence() error {
	sp, err := l.spares.take(frameHeader, true)
	if err != nil {
		return err
	}
	l.epoch++ // even if this fails: some of it may get to the disk
	last := l.Last()
	l.filesMu.RLock()
	before := l.files[l.survivors(last)-1]
	l.filesMu.RUnlock()
	h := header{
		version: formatVersion, file: sp.id, logID: l.logID, prev: last, synced: last, epoch: l.epoch, kind: kindFence,
		prevFile: before.id, prevEnd: uint32(before.used.Load()),
	}
	_, err = sp.f.WriteAt(appendHeader(nil, &h), 0)
	if err == nil {
		err = sp.f.SyncData()
	}
	if err != nil {
		l.junk = append(l.junk, sp.name)
		return errors.Join(&StorageError{Op: "fence", File: sp.name, Err: err}, sp.f.Close())
	}
	l.filesMu.Lock()
	keep := l.survivors(last) // Truncate may have been here
	void := append([]*logFile(nil), l.files[keep:]...)
	l.files = l.files[:keep:keep]
	l.filesMu.Unlock()
	l.install(sp, h)
	l.begun = true
	for _, lf := range void {
		l.junk = append(l.junk, lf.name)
		if err := lf.release(); err != nil {
			l.logger.Warn("closing a log file that was given up", "file", lf.name, "error", err)
		}
	}
	for _, name := range l.junk {
		if err := l.o.FS.Remove(name); err != nil {
			l.logger.Warn("cannot remove a log file that was given up", "file", name, "error", err)
		}
	}
	l.junk = nil
	return nil
}

// survivors is how many of the files hold something up to last. A file that
// begins behind it holds failed entries only. The first one always stays.
// Called with filesMu held.
func (l *Log) survivors(last commitlog.LSN) int {
	n := len(l.files)
	for n > 1 && l.files[n-1].prev >= last {
		n--
	}
	return n
}

// Resume makes a failed log take entries again; see commitlog.Log.
func (l *Log) Resume() error {
	l.resumeMu.Lock()
	defer l.resumeMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return commitlog.ErrClosed
	}
	if l.failure == nil {
		if l.reserveOnly {
			l.mu.Unlock()
			err := l.spares.retry()
			l.mu.Lock()
			if err != nil {
				return storageError("prepare", "", err)
			}
			l.reserveOnly = false
		}
		return nil
	}
	for !l.drained {
		l.settled.Wait()
	}
	if !l.fenced {
		l.mu.Unlock()
		err := l.fence()
		l.mu.Lock()
		if err != nil {
			return storageError("fence", "", err)
		}
	}
	l.failure, l.dirty, l.drained, l.fenced = nil, false, false, false
	l.reserveOnly = l.spares.isStarved()
	l.lastClaim = l.Last()
	l.logger.Info("the log takes entries again", "lsn", l.Last(), "epoch", l.epoch, "reserved only", l.reserveOnly)
	l.writerWake.Signal()
	return nil
}
