package wal

import (
	"errors"
	"fmt"
	"runtime"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

func conflict(after, last commitlog.LSN) error {
	return fmt.Errorf("%w: entry decided after %d, but %d is the last", commitlog.ErrConflict, after, last)
}

// write is the writer goroutine: it takes whatever is queued, writes it with one
// call, hands it to the syncer and goes on, so that the next write runs beside
// the sync of the one before.
func (l *Log) write() {
	defer l.wg.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	yielded := false
	for {
		for !l.writerHasWork() {
			if l.closing && (l.failure != nil || l.unsynced == 0 && len(l.queue) == 0 && l.inHand() == 0) {
				if l.failure == nil && l.lastClaim != l.Last() {
					l.syncPointDue = true // the last frame: how far the log is synced
					continue
				}
				l.writerDone = true
				l.syncerWake.Signal()
				return
			}
			l.writerWake.Wait()
		}
		if l.inHand() == 0 && !yielded {
			// Whoever is about to append gets to do so first: one entry
			// wakes the writer, and those of many connections come together,
			// woken by the same sync. A quarter more entries share a sync.
			yielded = true
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
			continue
		}
		yielded = false
		if l.inHand() == 0 && len(l.queue) == 0 && l.cur.room(l.pos) < frameHeader {
			// A new file, for a sync point alone? The next entry will do.
			l.syncPointDue = false
			l.lastClaim = l.Last()
			continue
		}
		if l.inHand() == 0 {
			clear(l.hand)
			l.hand, l.queue = l.queue, l.hand[:0]
			l.handAt = 0
		}
		l.writerBusy = true
		l.syncPointDue = false
		synced := l.Last()
		g := l.newGroup()
		batch := l.hand[l.handAt:]
		l.mu.Unlock()
		n, dirty, err := l.writeGroup(g, batch, synced)
		l.mu.Lock()
		l.writerBusy = false
		if err != nil {
			l.fail(err, dirty) // drain finds the entries where they were
			l.releaseGroup(g)
			continue
		}
		clear(batch[:n]) // the group has them now; idle logs hold no payload
		l.handAt += n
		l.lastClaim = synced
		l.handOver(g)
	}
}

// inHand is how many entries the writer took from the queue and did not write yet.
func (l *Log) inHand() int { return len(l.hand) - l.handAt }

// writerHasWork is called with mu held.
func (l *Log) writerHasWork() bool {
	if l.failure != nil || l.unsynced >= l.o.UnsyncedBytes {
		return false
	}
	if l.inHand() > 0 || len(l.queue) > 0 {
		return true
	}
	return l.syncPointDue && l.unsynced == 0 && l.lastClaim != l.Last()
}

// handOver gives a written group to the syncer. Called with mu held.
func (l *Log) handOver(g *group) {
	l.written = append(l.written, g)
	l.unsynced += g.bytes
	l.syncerWake.Signal()
}

// newGroup and releaseGroup reuse groups. Called with mu held.
func (l *Log) newGroup() *group {
	if n := len(l.freeGroups); n > 0 {
		g := l.freeGroups[n-1]
		l.freeGroups = l.freeGroups[:n-1]
		return g
	}
	return &group{}
}

func (l *Log) releaseGroup(g *group) {
	clear(g.entries)
	*g = group{entries: g.entries[:0]}
	if cap(g.entries) <= 4096 && len(l.freeGroups) < 16 {
		l.freeGroups = append(l.freeGroups, g)
	}
}

// writeGroup writes the first entries of batch that go together, or a sync point
// when batch is empty, and says how many it took. dirty tells whether a failed
// write may have left something of them on the disk.
func (l *Log) writeGroup(g *group, batch []pending, synced commitlog.LSN) (taken int, dirty bool, err error) {
	if len(batch) > 0 && !l.cur.fits(l.pos, batch[0].bytes) {
		if dirty, err := l.rotate(synced, batch); err != nil {
			return 0, dirty, err
		}
	}
	g.file = l.cur
	b := &l.out
	b.reset()
	start := l.pos
	if !l.begun {
		l.head.synced = synced
		b.arena = appendHeader(b.arena, &l.head)
		start = 0
	}
	if len(batch) == 0 {
		b.frame(&frame{typ: frameSyncPoint, lsn: synced, synced: synced, epoch: l.epoch}, nil, l.cur.seed)
		l.pos += frameHeader
	}
	for taken < len(batch) && l.cur.fits(l.pos, batch[taken].bytes) && (taken == 0 || b.total+batch[taken].bytes <= l.o.GatherBytes) {
		p := &batch[taken]
		crc, flags, batches := sumBody(&p.entry)
		payload := p.entry.PayloadBytes()
		b.frame(&frame{
			typ:        frameEntry,
			flags:      flags,
			lsn:        p.lsn,
			synced:     synced,
			epoch:      l.epoch,
			metaLen:    uint32(len(p.entry.Meta)),
			payloadLen: uint32(payload),
			aux:        batches,
			bodyCRC:    crc,
		}, &p.entry, l.cur.seed)
		p.loc = commitlog.Location{File: l.cur.id, Offset: uint32(l.pos + frameHeader + int64(len(p.entry.Meta)))}
		l.pos += p.bytes
		g.entries = append(g.entries, *p)
		taken++
	}
	g.end = l.pos
	g.bytes = b.total
	if err := l.flush(start); err != nil {
		return taken, true, err
	}
	l.begun = true
	l.metrics.groups.Inc()
	return taken, false, nil
}

// flush writes what is in the frame buffer at off of the current file, and zeroes
// up to the end of the last page: a page that is written whole need not be
// read first when it has left the cache.
func (l *Log) flush(off int64) error {
	end := off + l.out.total
	pad := min((end+pageBytes-1)&^(pageBytes-1), l.cur.size) - end
	n, err := vfs.WriteVecAt(l.cur.f, l.out.vec(pad), off)
	l.out.forget()
	l.metrics.bytes.Add(float64(n))
	if err != nil {
		l.cur.tainted.Store(true)
		return &StorageError{Op: "write", File: l.cur.name, Err: err}
	}
	return nil
}

// rotate ends the current file and makes the next one current; its header goes
// out together with the first frames.
func (l *Log) rotate(synced commitlog.LSN, batch []pending) (dirty bool, err error) {
	sp, err := l.spares.take(batch[0].bytes, batch[0].entry.Reserved)
	if err != nil {
		return false, err
	}
	last := batch[0].lsn - 1
	l.out.reset()
	l.out.frame(&frame{typ: frameEnd, lsn: last, synced: synced, epoch: l.epoch, aux: sp.id}, nil, l.cur.seed)
	old, oldPos := l.cur, l.pos
	if err := l.flush(oldPos); err != nil {
		l.junk = append(l.junk, sp.name)
		return true, errors.Join(err, sp.f.Close())
	}
	l.pos += frameHeader
	l.install(sp, header{
		version: formatVersion, file: sp.id, logID: l.logID, prev: last, epoch: l.epoch,
		kind: kindContinue, prevFile: old.id, prevEnd: uint32(l.pos),
	})

	l.mu.Lock()
	g := l.newGroup()
	g.file, g.end, g.bytes = old, oldPos+frameHeader, frameHeader
	l.handOver(g)
	if l.spares.isStarved() {
		l.reserveOnly = true
	}
	l.mu.Unlock()
	return false, nil
}

// install makes sp, which h is the header of, the current file.
func (l *Log) install(sp *spare, h header) {
	lf := newLogFile(sp, h)
	l.cur, l.pos, l.head, l.begun = lf, fileDataStart, h, false
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	// Readers may hold the old slice.
	l.files = append(l.files[:len(l.files):len(l.files)], lf)
	l.metrics.fileCount.Set(float64(len(l.files)))
}

const (
	// copyBelowBytes: shorter payload slices are copied together, longer ones are
	// written from where they lie.
	copyBelowBytes = 16 << 10
	// keepArenaBytes is how large a buffer the writer keeps.
	keepArenaBytes = 1 << 20
)

// frameBuffer collects the slices of one write.
type frameBuffer struct {
	arena []byte   // headers, metas and short payloads
	from  int      // arena[from:] is not in list yet
	list  [][]byte // may point into earlier arrays of arena, which stay as they are
	total int64
}

// forget drops the payloads.
func (b *frameBuffer) forget() {
	clear(b.list)
	b.list = b.list[:0]
}

func (b *frameBuffer) reset() {
	b.forget()
	if cap(b.arena) > keepArenaBytes {
		b.arena = nil
	}
	b.arena = b.arena[:0]
	b.from, b.total = 0, 0
}

var zeroPage [pageBytes]byte

// frame adds a frame with e's meta and payload.
func (b *frameBuffer) frame(f *frame, e *commitlog.Entry, seed uint32) {
	if b.total == 0 {
		b.total = int64(len(b.arena)) // a file header
	}
	b.arena = appendFrame(b.arena, f, seed)
	if e != nil {
		b.bytes(e.Meta)
		for _, p := range e.Payload {
			b.bytes(p)
		}
	}
	n := f.bytes()
	pad := n - frameHeader - int64(f.metaLen) - int64(f.payloadLen)
	b.arena = append(b.arena, zeroPage[:pad]...)
	b.total += n
}

func (b *frameBuffer) bytes(p []byte) {
	if len(p) < copyBelowBytes {
		b.arena = append(b.arena, p...)
		return
	}
	b.seal()
	b.list = append(b.list, p)
}

func (b *frameBuffer) seal() {
	if b.from < len(b.arena) {
		b.list = append(b.list, b.arena[b.from:len(b.arena):len(b.arena)])
		b.from = len(b.arena)
	}
}

// vec returns the slices to write, pad zeroes behind them.
func (b *frameBuffer) vec(pad int64) [][]byte {
	b.arena = append(b.arena, zeroPage[:pad]...)
	b.seal()
	return b.list
}
