package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

// What a crash leaves. Unsynced pages reach the disk in any order, so behind the
// last synced frame anything may be damaged or missing, and whole frames may
// follow damaged ones. Recovery keeps the unbroken run of good frames and finds
// S, the highest LSN that any header proves to have been synced: a frame or file
// header that the run leads to, one that lies loose behind its end, or the
// snapshot's. If the run reaches S, whatever follows is torn: it was never
// acknowledged. If it ends before S, acknowledged entries are damaged: corrupt.
//
// Only the files behind the last LSN that the file headers prove are walked;
// damage to older frames is found when they are read.
//
// Entries of the run behind S may not be on the disk yet, even though they can
// be read (a kernel whose write-back failed keeps serving pages that it will
// never write again). They are written once more and synced before anybody sees
// them, together with the first frame of a new epoch. Torn frames left behind it
// are of an older epoch, so they cannot come back.

// found is a log file as recovery sees it.
type found struct {
	spare
	head  header
	valid bool  // it has a header of its number
	end   int64 // behind the last good frame; 0 while not walked
	ended bool  // the last good frame is a frameEnd, which names next
	next  uint32
}

// mark is a frame that nothing proves to be synced: it lies behind the last
// entry that is proved.
type mark struct {
	in  *found
	off int64
	f   frame
}

type recovery struct {
	o        Options
	readOnly bool     // for Verify
	files    []*found // all with a number, ascending
	free     []pooled
	freeID   uint32 // highest number among them
	tmp      []string
	resv     bool

	logID uint64
	proof claim

	run    []*found // files of the log, in order
	walked int      // run[walked:] were walked
	last   commitlog.LSN
	epoch  uint32
	broken string // why the run ends where it does
	marks  []mark
	dead   []*found // files with a header that are not of the run
	void   int      // how many of them a fence made void
}

// Open opens the log in o.Dir, making it if there is none. ErrCorrupt, as a
// *CorruptError, when synced entries are damaged; nothing is changed then.
func Open(o Options) (*Log, error) {
	o.setDefaults()
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, storageError("recover", o.Dir, err)
	}
	r := &recovery{o: o}
	l, err := r.open()
	if err != nil {
		r.closeFiles()
		return nil, err
	}
	return l, nil
}

// closeFiles is for when there is an error that matters more than those of closing.
func (r *recovery) closeFiles() {
	for _, f := range r.files {
		if f.f != nil {
			_ = f.f.Close()
		}
	}
}

func (r *recovery) open() (*Log, error) {
	start := time.Now()
	if err := r.list(); err != nil {
		return nil, storageError("recover", r.o.Dir, err)
	}
	if err := r.headers(); err != nil {
		return nil, storageErrorUnless(err, r.o.Dir)
	}
	if err := r.snapshotClaim(); err != nil {
		return nil, storageErrorUnless(err, r.o.Dir)
	}
	fresh := !slices.ContainsFunc(r.files, func(f *found) bool { return f.valid })
	if fresh {
		if r.proof.synced > 0 {
			return nil, &CorruptError{File: r.o.Dir, LSN: r.proof.synced, Synced: r.proof.synced, Reason: "the log files are missing"}
		}
		if err := r.newLogID(); err != nil {
			return nil, err
		}
	} else {
		if err := r.walk(); err != nil {
			return nil, storageErrorUnless(err, r.o.Dir)
		}
		if err := r.judge(); err != nil {
			return nil, storageErrorUnless(err, r.o.Dir)
		}
	}
	for _, name := range r.tmp {
		if err := r.o.FS.Remove(filepath.Join(r.o.Dir, name)); err != nil {
			r.o.Logger.Warn("cannot remove a temporary file", "file", name, "error", err)
		}
	}
	l, err := r.build(fresh)
	if err != nil {
		return nil, err
	}
	if !fresh {
		r.o.Logger.Info("log recovered", "first", uint64(l.First()), "last", uint64(l.Last()), "proved", uint64(r.proof.synced),
			"epoch", l.epoch, "files", len(l.files), "torn_files", len(r.dead), "took", time.Since(start))
	}
	return l, nil
}

// storageErrorUnless leaves errors alone that already say what is wrong.
func storageErrorUnless(err error, dir string) error {
	if v := (*VersionError)(nil); errors.Is(err, commitlog.ErrCorrupt) || errors.As(err, &v) {
		return err
	}
	return storageError("recover", dir, err)
}

// list reads the directory.
func (r *recovery) list() error {
	entries, err := r.o.FS.ReadDir(r.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if id, ok := parseName(name, walSuffix); ok {
			r.files = append(r.files, &found{spare: spare{id: id, name: filepath.Join(r.o.Dir, name)}})
			continue
		}
		freeID, isFree := parseName(name, freeSuffix)
		switch {
		case isFree:
			r.freeID = max(r.freeID, freeID)
			info, err := e.Info()
			if err != nil {
				return err
			}
			r.free = append(r.free, pooled{name: name, size: info.Size()})
		case name == reserveName:
			info, err := e.Info()
			if err != nil {
				return err
			}
			if info.Size() == r.o.ReserveBytes {
				r.resv = true
			} else {
				r.tmp = append(r.tmp, name)
			}
		case strings.HasSuffix(name, tmpSuffix):
			r.tmp = append(r.tmp, name)
		}
	}
	slices.SortFunc(r.files, func(a, b *found) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return nil
}

// headers opens every file and reads its header.
func (r *recovery) headers() error {
	block := make([]byte, fileDataStart)
	for _, f := range r.files {
		var err error
		if r.readOnly {
			f.f, err = r.o.FS.Open(f.name)
		} else {
			f.f, err = r.o.FS.OpenReadWrite(f.name)
		}
		if err != nil {
			return err
		}
		if f.size, err = f.f.Size(); err != nil {
			return err
		}
		n := min(f.size, fileDataStart)
		if k, err := f.f.ReadAt(block[:n], 0); int64(k) < n {
			return err
		}
		if f.head, f.valid = parseHeader(block[:n], f.id); !f.valid {
			continue
		}
		if f.head.version != formatVersion {
			return &VersionError{File: f.name, Version: f.head.version, Known: formatVersion}
		}
		if r.logID == 0 {
			r.logID = f.head.logID
		}
		if f.head.logID != r.logID {
			return &CorruptError{File: f.name, LSN: f.head.prev, Reason: "the file belongs to another log"}
		}
		r.proof.add(f.head.synced, f.head.epoch)
		if f.head.kind == kindFence {
			r.proof.add(f.head.prev, f.head.epoch)
		}
	}
	return nil
}

// snapshotClaim adds what the snapshot proves. A damaged one proves nothing;
// LoadSnapshot reports it.
func (r *recovery) snapshotClaim() error {
	f, err := r.o.FS.Open(filepath.Join(r.o.Dir, snapshotName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // read only
	sr := &snapshotReader{f: f, name: filepath.Join(r.o.Dir, snapshotName)}
	logID, synced, err := sr.begin()
	switch {
	case errors.Is(err, commitlog.ErrCorrupt):
		return nil
	case err != nil:
		return err
	case r.logID != 0 && logID != r.logID:
		return &CorruptError{File: sr.name, LSN: synced, Reason: "the snapshot belongs to another log"}
	}
	r.proof.add(synced, 0)
	return nil
}

func (r *recovery) newLogID() error {
	var b [8]byte
	for r.logID == 0 {
		if _, err := rand.Read(b[:]); err != nil {
			return err
		}
		r.logID = binary.LittleEndian.Uint64(b[:])
	}
	return nil
}

// walk follows the run.
func (r *recovery) walk() error {
	files := r.chain()
	r.void = len(r.dead)
	first := 0
	for i, f := range files {
		if f.head.prev <= r.proof.synced {
			first = i
		}
	}
	for i, f := range files[:first] {
		next := files[i+1].head
		f.end = f.size
		if next.prevFile == f.id {
			f.end = min(f.size, int64(next.prevEnd))
		}
	}
	r.run = append(r.run, files[:first]...)
	r.walked = first
	r.last, r.epoch = files[first].head.prev, files[first].head.epoch
	for _, f := range files[first:] {
		if err := r.enter(f); err != nil {
			return err
		}
	}
	return nil
}

// chain returns the files that have a header, without those that a later one made void.
func (r *recovery) chain() []*found {
	var files []*found
	for _, f := range r.files {
		if !f.valid {
			continue
		}
		// A file that a fence made void may outlive it: its removal is not synced.
		for n := len(files); f.head.kind == kindFence && n > 1 && files[n-1].head.prev >= f.head.prev; n-- {
			r.dead = append(r.dead, files[n-1])
			files = files[:n-1]
		}
		files = append(files, f)
	}
	return files
}

// enter goes on with file f if the log does. A fence comes first or not at all:
// it proves what it continues from, so that nothing before it is walked.
func (r *recovery) enter(f *found) error {
	h := f.head
	switch {
	case len(r.run) == r.walked:
	case h.kind == kindContinue && h.epoch == r.epoch && h.prev == r.last && len(r.dead) == r.void:
		// If the end frame before it is missing, nothing else is.
	default:
		r.dead = append(r.dead, f)
		if r.broken == "" {
			r.broken = fmt.Sprintf("log file %d does not follow", f.id)
		}
		return nil
	}
	r.run = append(r.run, f)
	r.last, r.epoch, r.broken = h.prev, h.epoch, ""
	sc := &scanner{f: f.f, size: f.size, seed: frameSeed(r.logID, f.id)}
	f.end = fileDataStart
	for {
		fr, ok, err := sc.frame(f.end)
		if err != nil {
			return err
		}
		if !ok {
			r.broken = "no frame"
			return nil
		}
		switch {
		case fr.typ == frameEntry && fr.epoch == r.epoch && fr.lsn == r.last+1:
			ok, err := sc.checkBody(f.end, &fr)
			if err != nil {
				return err
			}
			if !ok {
				r.proof.add(fr.synced, fr.epoch)
				r.broken = "frame body does not match its checksum"
				return nil
			}
			r.last++
		case fr.typ == frameSyncPoint && fr.epoch == r.epoch && fr.lsn == r.last:
		case fr.typ == frameEpoch && fr.epoch > r.epoch && fr.lsn == r.last:
			r.epoch = fr.epoch
		case fr.typ == frameEnd && fr.epoch == r.epoch && fr.lsn == r.last:
			r.proof.add(fr.synced, fr.epoch)
			f.end += fr.bytes()
			f.ended, f.next = true, fr.aux
			return nil
		default:
			r.broken = "frame out of order"
			return nil
		}
		r.marks = append(r.marks, mark{f, f.end, fr})
		r.proof.add(fr.synced, fr.epoch)
		r.prune()
		f.end += fr.bytes()
	}
}

// prune forgets marks up to the last entry that was proved meanwhile. Other
// frames are not proved by an LSN: a restart whose sync failed leaves a frame
// that can be read, in front of which everything is proved, and which a power
// loss takes away with all that was built on it.
func (r *recovery) prune() {
	n := 0
	for i, m := range r.marks {
		if m.f.typ == frameEntry {
			if m.f.lsn > r.proof.synced {
				break
			}
			n = i + 1
		}
	}
	r.marks = r.marks[n:]
}

// judge decides between torn and corrupt, and ends the run before the first
// unproved entry whose payload is damaged.
func (r *recovery) judge() error {
	tail := r.run[len(r.run)-1]
	for _, f := range append([]*found{tail}, r.dead...) {
		sc := &scanner{f: f.f, size: f.size, seed: frameSeed(r.logID, f.id)}
		if err := sc.claims(max(f.end, fileDataStart), &r.proof); err != nil {
			return err
		}
	}
	if r.proof.synced > r.last {
		reason := r.broken
		if reason == "" {
			reason = "the log ends too early"
		}
		return &CorruptError{File: tail.name, Offset: tail.end, LSN: r.last + 1, Synced: r.proof.synced, Reason: reason}
	}
	if tail.ended && !slices.ContainsFunc(r.files, func(f *found) bool { return f.id == tail.next }) {
		return &CorruptError{
			File: tail.name, Offset: tail.end, LSN: r.last + 1, Synced: r.proof.synced,
			Reason: fmt.Sprintf("log file %d, which follows, is missing", tail.next),
		}
	}
	r.prune()
	for i, m := range r.marks {
		if m.f.typ != frameEntry {
			continue
		}
		sc := &scanner{f: m.in.f, size: m.in.size, seed: frameSeed(r.logID, m.in.id)}
		ok, err := sc.checkBatches(m.off, &m.f)
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		r.last = m.f.lsn - 1
		r.marks = r.marks[:i]
		at := slices.Index(r.run, m.in)
		r.dead = append(r.dead, r.run[at+1:]...)
		r.run = r.run[:at+1]
		m.in.end, m.in.ended = m.off, false
		break
	}
	return nil
}

// build makes the log from what was found, and makes the tail durable.
func (r *recovery) build(fresh bool) (*Log, error) {
	m := newMetrics(r.o.Registry)
	l := &Log{o: r.o, logger: r.o.Logger, metrics: m, logID: r.logID, epoch: r.proof.epoch, lastQueued: r.last, lastClaim: r.proof.synced}
	l.writerWake, l.syncerWake, l.settled = sync.NewCond(&l.mu), sync.NewCond(&l.mu), sync.NewCond(&l.mu)
	l.synced.Store(uint64(r.last))
	l.idle = time.AfterFunc(time.Hour, l.onIdle)
	l.idle.Stop()
	l.spares = &spares{
		fs: r.o.FS, dir: r.o.Dir, logger: r.o.Logger, metrics: m,
		firstBytes: r.o.FirstFileBytes, maxBytes: r.o.FileBytes, reserveBytes: r.o.ReserveBytes, poolFiles: r.o.PoolFiles,
		size: r.o.FirstFileBytes, pool: r.free, reserve: r.resv, nextID: r.freeID + 1,
	}
	if n := len(r.files); n > 0 {
		l.spares.nextID = max(l.spares.nextID, r.files[n-1].id+1)
	}
	inPlace := false
	var tail *found
	if !fresh {
		tail = r.run[len(r.run)-1]
		l.spares.size = min(max(2*tail.size, r.o.FirstFileBytes), r.o.FileBytes)
		for _, f := range r.run {
			lf := newLogFile(&f.spare, f.head)
			lf.used.Store(f.end)
			l.files = append(l.files, lf)
		}
		l.cur = l.files[len(l.files)-1]
		l.pos, l.head, l.begun = tail.end, tail.head, true
		inPlace = !tail.ended && l.cur.room(l.pos) >= frameHeader
		if inPlace {
			l.epoch++
		}
		if err := r.harden(l, inPlace); err != nil {
			return nil, err
		}
	}
	l.spares.start()
	err := r.sortOut(l.spares, tail)
	switch {
	case err != nil:
	case fresh:
		err = l.beginFirst()
	case !inPlace:
		err = l.fence()
	}
	if err != nil {
		if l.spares.ready != nil {
			// Close would close it; so will Open.
			r.files = slices.DeleteFunc(r.files, func(f *found) bool { return f.name == l.spares.ready.name })
		}
		return nil, storageError("recover", r.o.Dir, errors.Join(err, l.spares.close()))
	}
	m.fileCount.Set(float64(len(l.files)))
	l.spares.nudge()
	l.wg.Add(2)
	go l.write()
	go l.sync()
	l.mu.Lock()
	if l.lastClaim != l.Last() {
		l.idle.Reset(r.o.SyncPointAfter)
	}
	l.mu.Unlock()
	return l, nil
}

// harden writes the unproved tail again, with the first frame of the new epoch
// behind it if it is to go on in the same file, and syncs it.
func (r *recovery) harden(l *Log, inPlace bool) error {
	for i, f := range r.run[r.walked:] {
		from := f.end
		if f.head.prev >= r.proof.synced {
			from = 0
		} else if k := slices.IndexFunc(r.marks, func(m mark) bool { return m.in == f }); k >= 0 {
			from = r.marks[k].off
		}
		isTail := r.walked+i == len(r.run)-1
		if from == f.end && !(isTail && inPlace) {
			continue
		}
		if err := rewrite(f.f, from, f.end); err != nil {
			return storageError("recover", f.name, err)
		}
		if isTail && inPlace {
			l.out.reset()
			l.out.frame(&frame{typ: frameEpoch, lsn: r.last, synced: r.proof.synced, epoch: l.epoch}, nil, l.cur.seed)
			if err := l.flush(l.pos); err != nil {
				return err
			}
			l.pos += frameHeader
			l.cur.used.Store(l.pos)
		}
		if err := f.f.SyncData(); err != nil {
			return storageError("recover", f.name, err)
		}
	}
	return storageError("recover", r.o.Dir, r.o.FS.SyncDir(r.o.Dir))
}

// rewrite makes [from,to) dirty again without changing it.
func rewrite(f vfs.File, from, to int64) error {
	buf := make([]byte, min(1<<20, to-from))
	for from < to {
		b := buf[:min(int64(len(buf)), to-from)]
		if n, err := f.ReadAt(b, from); n < len(b) {
			return err
		}
		if _, err := f.WriteAt(b, from); err != nil {
			return err
		}
		from += int64(len(b))
	}
	return nil
}

// sortOut finds a place for the files that are not of the log: the first one
// behind its end is the next to be used, all others are recycled.
func (r *recovery) sortOut(s *spares, tail *found) error {
	inRun := map[*found]bool{}
	for _, f := range r.run {
		inRun[f] = true
	}
	for _, f := range r.files {
		if inRun[f] {
			continue
		}
		isDead := f.valid && slices.Contains(r.dead, f)
		if !isDead && s.ready == nil && f.size >= r.o.FirstFileBytes && (tail == nil || f.id > tail.id) {
			s.ready = &f.spare
			continue
		}
		file := f.f
		f.f = nil
		if err := file.Close(); err != nil {
			return err
		}
		if err := s.recycle(pooled{name: f.name, size: f.size}); err != nil {
			return err
		}
	}
	return nil
}

// beginFirst begins an empty log.
func (l *Log) beginFirst() error {
	sp, err := l.spares.take(frameHeader, false)
	if err != nil {
		return err
	}
	l.epoch = 1
	h := header{version: formatVersion, file: sp.id, logID: l.logID, epoch: l.epoch}
	_, err = sp.f.WriteAt(appendHeader(nil, &h), 0)
	if err == nil {
		err = sp.f.SyncData()
	}
	if err != nil {
		return errors.Join(err, sp.f.Close())
	}
	l.install(sp, h)
	l.begun = true
	return nil
}
