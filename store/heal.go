package store

import (
	"time"

	"millrace/store/commitlog"
)

// Waits between attempts to make a failed log take appends again. The first
// attempt comes at once.
const (
	healBackoffMin = 50 * time.Millisecond
	healBackoffMax = time.Second
)

// fail is called by the publisher for each failed slot.
func (s *Store) fail(err error) {
	s.failed.Store(true)
	if s.failing.Swap(true) {
		return
	}
	s.lastFailure.Store(&err)
	s.metrics.logFailures.Inc()
	s.o.Logger.Error("commit log failed; appends are refused until it takes writes again", "error", err)
	s.wantHealing()
}

func (s *Store) wantHealing() {
	select {
	case s.healWanted <- struct{}{}:
	default:
	}
}

// failure is the error that appends are refused with while the log is failed.
func (s *Store) failure() error {
	if e := s.lastFailure.Load(); e != nil {
		return *e
	}
	return commitlog.ErrStorage
}

// healer makes the store writable again after a failure: it resumes the log,
// replaces the decided state (which ran ahead of what is durable) by a copy of
// the published one, and lets the sequencer go on.
func (s *Store) healer() {
	defer s.wg.Done()
	for {
		select {
		case <-s.healWanted:
		case <-s.stop:
			return
		}
		if !s.failed.Load() {
			if !s.awaitRoom() {
				return
			}
			continue
		}
		// Whoever entered Submit before the store was failed has left it after
		// this; nobody appends from here on, and all that was appended is failed
		// once the queue has come so far. What is queued later is refused anyway.
		s.seq.Lock()
		s.seq.Unlock() //nolint:staticcheck // a barrier
		s.queue.drain()
		wait := healBackoffMin
		for {
			err := s.log.Resume()
			if err == nil {
				break
			}
			s.lastFailure.Store(&err)
			s.o.Logger.Warn("commit log still takes no appends", "error", err, "next try in", wait)
			if !s.pause(wait) {
				return
			}
			wait = min(2*wait, healBackoffMax)
		}
		s.seq.Lock()
		s.pub.RLock()
		s.seq.decided = s.pub.state.Clone()
		s.seq.last = s.pub.lsn
		s.pub.RUnlock()
		s.failing.Store(false)
		s.failed.Store(false)
		s.seq.Unlock()
		s.o.Logger.Info("commit log takes appends again", "lsn", s.pubLSN())
	}
}

// awaitRoom looks now and then whether a full disk, of which only the log's reserve is
// left, has room again: not with every refused entry, and also when nobody tries to
// append any more, as when a load balancer sends no clients to a server that is not
// healthy. It returns when there is room or the log failed; false when the store is being closed.
func (s *Store) awaitRoom() bool {
	for s.noSpace.Load() && !s.failed.Load() {
		err := s.log.Resume()
		if err == nil {
			s.noSpace.Store(false)
			s.o.Logger.Info("the disk has room again")
			break
		}
		s.o.Logger.Debug("commit log still has no room", "error", err)
		if !s.pause(healBackoffMax) {
			return false
		}
	}
	return s.pause(healBackoffMin)
}

// pause waits for d; false when the store is being closed.
func (s *Store) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stop:
		return false
	}
}
