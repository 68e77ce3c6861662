package wal

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"millrace/internal/vfs"
)

const (
	reserveName = "reserve"
	// starvedRetry is how often a full disk is tried again without being asked:
	// how soon after space returned the log takes entries again by itself.
	starvedRetry = time.Second
)

// spares has the next log file ready before it is needed: filled with zeroes,
// synced, and durably named. It keeps old files for reuse and, under the name
// "reserve", a small file for the day when the disk is full.
//
// File numbers rise in the order of use. Numbers are given when a file is made
// ready, so whatever hands out another file than the ready one puts the ready
// one back first.
type spares struct {
	fs           vfs.FS
	dir          string
	logger       *slog.Logger
	metrics      *metrics
	firstBytes   int64
	maxBytes     int64
	reserveBytes int64 // <= 0: no reserve
	poolFiles    int

	mu       sync.Mutex // guards what follows; never held during I/O
	changed  *sync.Cond
	busy     bool // somebody makes or moves files
	ready    *spare
	pool     []pooled
	nextID   uint32
	size     int64 // of the next file
	reserve  bool  // the reserve file is there
	starved  bool  // the disk was full; the filler tries again
	attempts uint64
	lastErr  error
	closed   bool

	kick  chan struct{} // wakes the filler
	quit  chan struct{}
	ended chan struct{}
}

// spare is a file that is ready to become a log file.
type spare struct {
	id   uint32
	name string
	f    vfs.File
	size int64
}

// pooled is a file that can be recycled once nobody reads it any more.
type pooled struct {
	name string
	size int64
	in   *logFile // nil: nobody can have it open
}

func (p pooled) idle() bool { return p.in == nil || p.in.refs.Load() == 0 }

// start begins filling in the background.
func (s *spares) start() {
	s.changed = sync.NewCond(&s.mu)
	s.kick = make(chan struct{}, 1)
	s.quit = make(chan struct{})
	s.ended = make(chan struct{})
	go s.run()
}

// close ends the background work and closes the ready file, which the next
// start finds again.
func (s *spares) close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	close(s.quit)
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		s.changed.Wait()
	}
	if s.ready != nil {
		err := s.ready.f.Close()
		s.ready = nil
		return err
	}
	return nil
}

func (s *spares) nudge() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *spares) run() {
	defer close(s.ended)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.kick:
		case <-timer.C:
		}
		s.mu.Lock()
		s.lock()
		need := s.ready == nil && !s.closed
		size := s.size
		s.mu.Unlock()
		var sp *spare
		var err error
		if need {
			sp, err = s.prepare(size)
			if err != nil && noSpace(err) && size > s.firstBytes {
				sp, err = s.prepare(s.firstBytes) // use what is left of the disk
			}
		}
		s.mu.Lock()
		if need {
			s.ready, s.lastErr = sp, err
		}
		s.attempts++
		if s.ready != nil {
			s.starved = false
		}
		wantReserve := s.ready != nil && !s.reserve && !s.closed && s.reserveBytes > 0
		s.unlock()
		s.mu.Unlock()
		if wantReserve {
			s.makeReserve()
		}
		s.mu.Lock()
		if s.starved {
			timer.Reset(starvedRetry)
		}
		s.mu.Unlock()
	}
}

// lock waits, with mu held, for the right to make and move files; unlock gives it back.
func (s *spares) lock() {
	for s.busy {
		s.changed.Wait()
	}
	s.busy = true
}

func (s *spares) unlock() {
	s.busy = false
	s.changed.Broadcast()
}

// isStarved says whether the disk was full when a file was last wanted.
func (s *spares) isStarved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starved
}

// retry makes one attempt to get a file ready, if none is, and waits for it.
func (s *spares) retry() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.await()
}

func (s *spares) await() error {
	for s.busy && s.ready == nil && !s.closed {
		s.changed.Wait() // an attempt that began earlier may have missed freed space
	}
	n := s.attempts
	for s.ready == nil {
		if s.closed {
			return errors.New("closed")
		}
		if s.attempts > n {
			return s.lastErr
		}
		s.nudge()
		s.changed.Wait()
	}
	return nil
}

// take hands out the next log file, with room for an entry frame of need bytes.
// With reserved, the reserve file will do when the disk is full.
func (s *spares) take(need int64, reserved bool) (*spare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := sizeFor(need)
	if want <= s.size || s.ready != nil && want <= s.ready.size {
		if err := s.await(); err != nil {
			return s.takeReserve(want, reserved, err)
		}
		if want <= s.ready.size {
			sp := s.ready
			s.ready = nil
			s.size = min(max(2*sp.size, s.firstBytes), s.maxBytes)
			s.nudge()
			return sp, nil
		}
		// The disk had no space for a larger one; try once more.
	}
	s.lock()
	ready := s.ready
	s.ready = nil
	s.mu.Unlock()
	var err error
	if ready != nil {
		err = s.discard(ready)
	}
	var sp *spare
	if err == nil {
		sp, err = s.prepare(want) // a file of its own for this entry
	}
	s.mu.Lock()
	s.unlock()
	if err != nil {
		return s.takeReserve(want, reserved, err)
	}
	s.nudge()
	return sp, nil
}

// takeReserve is for when nothing else could be had, because of err.
func (s *spares) takeReserve(want int64, reserved bool, err error) (*spare, error) {
	if !noSpace(err) {
		return nil, storageError("prepare", "", err)
	}
	s.starved = true
	defer s.nudge()
	s.lock()
	defer s.unlock()
	if !reserved || !s.reserve || want > s.reserveBytes {
		return nil, storageError("prepare", "", err)
	}
	if s.ready != nil { // got ready meanwhile; its number is lower
		sp := s.ready
		if want <= sp.size {
			s.ready = nil
			return sp, nil
		}
		return nil, storageError("prepare", "", err)
	}
	s.reserve = false
	s.mu.Unlock()
	sp, err := s.adopt(reserveName, s.reserveBytes)
	s.mu.Lock()
	return sp, storageError("prepare", "", err)
}

func (s *spares) newID() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	return id
}

// prepare makes a file of at least size bytes ready. Called with the right to
// move files, without mu.
func (s *spares) prepare(size int64) (*spare, error) {
	s.mu.Lock()
	for i, p := range s.pool {
		if p.size >= size && p.idle() {
			s.pool = append(s.pool[:i:i], s.pool[i+1:]...)
			s.mu.Unlock()
			sp, err := s.adopt(p.name, p.size)
			if err == nil {
				s.metrics.recycled.Inc()
			}
			return sp, err
		}
	}
	s.mu.Unlock()
	tmp := filepath.Join(s.dir, "next"+tmpSuffix)
	if err := s.fill(tmp, size); err != nil {
		return nil, err
	}
	s.metrics.filled.Inc()
	return s.adopt("next"+tmpSuffix, size)
}

// fill makes a file of zeroes and syncs it.
func (s *spares) fill(name string, size int64) error {
	f, err := s.fs.Create(name)
	if err != nil {
		return err
	}
	err = f.Preallocate(size)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		// Half a file on a full disk is worse than none.
		_ = s.fs.Remove(name)
	}
	return err
}

// adopt gives a filled file the next number, durably, and opens it.
func (s *spares) adopt(base string, size int64) (*spare, error) {
	id := s.newID()
	name := filepath.Join(s.dir, fileName(id, walSuffix))
	if err := s.fs.Rename(filepath.Join(s.dir, base), name); err != nil {
		return nil, err
	}
	err := s.fs.SyncDir(s.dir)
	if err == nil {
		var f vfs.File
		if f, err = s.fs.OpenReadWrite(name); err == nil {
			return &spare{id: id, name: name, f: f, size: size}, nil
		}
	}
	// The number is burnt; the file, of no use to anybody, goes.
	_ = s.fs.Remove(name)
	return nil, err
}

// discard puts a ready file back.
func (s *spares) discard(sp *spare) error {
	if err := sp.f.Close(); err != nil {
		return err
	}
	return s.recycle(pooled{name: sp.name, size: sp.size})
}

// recycle takes a file, by its full name, out of the log durably: into the pool, or away
// when the pool is full or the file too small to be wanted again. After a
// failure it may be called again: what has its new name already stays so.
func (s *spares) recycle(p pooled) error {
	s.mu.Lock()
	keep := len(s.pool) < s.poolFiles && p.size >= s.size && (p.in == nil || !p.in.tainted.Load())
	s.mu.Unlock()
	if keep {
		id, _ := parseName(filepath.Base(p.name), walSuffix)
		free := fileName(id, freeSuffix)
		if err := s.fs.Rename(p.name, filepath.Join(s.dir, free)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		p.name = free
	} else if err := s.fs.Remove(p.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return err
	}
	if keep {
		s.mu.Lock()
		s.pool = append(s.pool, p)
		s.mu.Unlock()
	}
	return nil
}

// makeReserve makes the reserve file; failing to is no failure of the log.
func (s *spares) makeReserve() {
	s.mu.Lock()
	s.lock()
	s.mu.Unlock()
	name := filepath.Join(s.dir, reserveName)
	err := s.fill(name+tmpSuffix, s.reserveBytes)
	if err == nil {
		err = s.fs.Rename(name+tmpSuffix, name)
	}
	if err == nil {
		err = s.fs.SyncDir(s.dir)
	}
	if err != nil {
		s.logger.Warn("no reserve for a full disk", "dir", s.dir, "error", err)
	}
	s.mu.Lock()
	s.reserve = err == nil
	s.unlock()
	s.mu.Unlock()
}

// giveReserve removes the reserve file so that its space can be used for
// something else; false when there is none. The filler makes a new one later.
func (s *spares) giveReserve() bool {
	s.mu.Lock()
	s.lock()
	have := s.reserve
	s.reserve = false
	s.mu.Unlock()
	if have {
		if err := s.fs.Remove(filepath.Join(s.dir, reserveName)); err != nil {
			s.logger.Warn("cannot give up the reserve", "dir", s.dir, "error", err)
			have = false
		}
	}
	s.mu.Lock()
	s.unlock()
	s.mu.Unlock()
	return have
}
