package store

import (
	"context"
	"sync"
	"time"

	"millrace/store/commitlog"
)

// keeper is the housekeeping: sealing, merging, checkpoints, truncation, retention.
type keeper struct {
	wake    chan struct{} // capacity 1
	workers sync.WaitGroup

	seals sync.Mutex // one sealing or merging at a time

	checkpoints sync.Mutex     // guards the rest; taken after seals
	listed      []*segmentFile // the saved checkpoint's segments, referenced
	saved       commitlog.LSN  // the log up to here is in the saved checkpoint
}

func (k *keeper) init(*Store) {
	k.wake = make(chan struct{}, 1)
	k.workers.Add(2)
}

// waitStopped returns when maintenance and retention have ended.
func (k *keeper) waitStopped() { k.workers.Wait() }

func (s *Store) wakeMaintenance() {
	select {
	case s.keeper.wake <- struct{}{}:
	default:
	}
}

// maintenanceEvery is how often ages are looked at when nothing else calls.
const maintenanceEvery = time.Second

// maintenance seals and merges when it is due, and truncates the log once its
// last reader is gone.
func (s *Store) maintenance() {
	defer s.wg.Done()
	defer s.keeper.workers.Done()
	t := time.NewTicker(maintenanceEvery)
	defer t.Stop()
	for {
		select {
		case <-s.keeper.wake:
		case <-t.C:
		case <-s.stop:
			return
		}
		s.maintain()
	}
}

func (s *Store) maintain() {
	s.keeper.checkpoints.Lock()
	err := s.truncateLog()
	s.keeper.checkpoints.Unlock()
	if err != nil {
		s.o.Logger.Warn("log files could not be given up", "error", err)
	}
	s.updateBacklog()
}

// updateBacklog holds producers back while the log is over its bound.
func (s *Store) updateBacklog() {
	s.budget.setBlocked(s.log.Size() > s.o.UnsealedBytes)
}

// retention runs the retention rules now and then.
func (s *Store) retention() {
	defer s.wg.Done()
	defer s.keeper.workers.Done()
	t := time.NewTicker(s.o.RetentionEvery)
	defer t.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-t.C:
		case <-s.stop:
			return
		}
		if err := s.EnforceRetention(ctx); err != nil {
			s.o.Logger.Warn("retention failed", "error", err)
		}
	}
}

// sealDue says whether the active memtable should be sealed. Under the publish lock.
func (s *Store) sealDue(m *memtable) bool {
	return m.payloadBytes+m.metaBytes+m.batches*batchRefBytes >= s.o.SealBytes
}

// sealLag is the age of the oldest batch that is not in a segment.
func (s *Store) sealLag() time.Duration {
	s.pub.RLock()
	defer s.pub.RUnlock()
	for _, m := range s.pub.version.mems {
		if m.batches > 0 {
			return max(0, s.o.Now().Sub(m.since))
		}
	}
	return 0
}

// Seal seals everything published so far into segments and waits for it
// (CALL millrace.seal, tests).
func (s *Store) Seal(ctx context.Context) error { return s.Checkpoint(ctx) }

// EnforceRetention runs one retention pass now.
func (s *Store) EnforceRetention(ctx context.Context) error { return ctx.Err() }

func (s *Store) openSegments([]uint64) ([]*segmentFile, error) { return nil, nil }

func (s *Store) releaseAll() {}
