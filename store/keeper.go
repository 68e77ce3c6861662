package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"millrace/store/commitlog"
)

// keeper is the housekeeping: sealing, merging, checkpoints, truncation, retention.
type keeper struct {
	wake    chan struct{} // capacity 1
	workers sync.WaitGroup
	ctx     context.Context // ends with the store
	cancel  context.CancelFunc

	// mergeDue: segments or what is dead in them changed since the last look.
	mergeDue atomic.Bool

	seals  sync.Mutex // one sealing or merging at a time; guards the next two
	lastID uint64     // of a segment file
	closed bool

	passes sync.Mutex // one retention pass at a time

	compacts  sync.Mutex // one compaction at a time; taken before seals
	compactor compactor  // guarded by compacts

	checkpoints sync.Mutex     // guards the rest; taken after seals
	listed      []*segmentFile // the saved checkpoint's segments, referenced
	saved       commitlog.LSN  // the log up to here is in the saved checkpoint and segments
	stateBytes  int            // of the state in the last checkpoint
}

func (k *keeper) init() {
	k.wake = make(chan struct{}, 1)
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.workers.Add(3)
}

// end stops maintenance, retention and compaction and waits for them and for running seals.
func (k *keeper) end() {
	k.cancel()
	k.workers.Wait()
	k.compacts.Lock() // one that was called for ends with ctx
	defer k.compacts.Unlock()
	k.seals.Lock()
	k.closed = true
	k.seals.Unlock()
}

func (s *Store) wakeMaintenance() {
	select {
	case s.keeper.wake <- struct{}{}:
	default:
	}
}

const (
	// maintenanceEvery is how often ages are looked at when nothing else calls.
	maintenanceEvery = time.Second
	// Waits after a failed sealing, a full disk for instance.
	maintenanceBackoffMin = time.Second
	maintenanceBackoffMax = 30 * time.Second
)

// maintenance seals and merges when it is due, and truncates the log once its
// last reader is gone.
func (s *Store) maintenance() {
	defer s.wg.Done()
	defer s.keeper.workers.Done()
	t := time.NewTicker(maintenanceEvery)
	defer t.Stop()
	backoff := maintenanceBackoffMin
	for {
		select {
		case <-s.keeper.wake:
		case <-t.C:
		case <-s.stop:
			return
		}
		err := s.maintain(s.keeper.ctx)
		switch {
		case err == nil:
			backoff = maintenanceBackoffMin
		case s.keeper.ctx.Err() != nil:
			return
		default:
			s.o.Logger.Error("sealing failed; the log keeps the records and it is tried again", "error", err, "next try in", backoff)
			if !s.pause(backoff) {
				return
			}
			backoff = min(2*backoff, maintenanceBackoffMax)
		}
	}
}

func (s *Store) maintain(ctx context.Context) error {
	s.keeper.checkpoints.Lock()
	err := s.truncateLog()
	s.keeper.checkpoints.Unlock()
	if err != nil {
		s.o.Logger.Warn("log files could not be given up", "error", err)
	}
	s.keeper.seals.Lock()
	defer s.keeper.seals.Unlock()
	s.pub.RLock()
	m := s.pub.version.active()
	freeze := s.sealDue(m) || s.pub.version.unsealedBytes() > s.o.UnsealedBytes ||
		m.batches > 0 && s.o.Now().Sub(m.since) >= s.o.SealAge
	frozen := len(s.pub.version.mems) > 1
	s.pub.RUnlock()
	if freeze {
		s.freeze(false)
	}
	if freeze || frozen {
		if err := s.sealFrozen(ctx); err != nil {
			return err
		}
	}
	s.updateBacklog()
	if s.keeper.mergeDue.Swap(false) {
		if err := s.mergeAll(ctx); err != nil {
			s.keeper.mergeDue.Store(true)
			return err
		}
	}
	return nil
}

// updateBacklog holds producers back while what is not sealed is over its bound.
func (s *Store) updateBacklog() {
	s.pub.RLock()
	n := s.pub.version.unsealedBytes()
	s.pub.RUnlock()
	s.budget.Block(n > s.o.UnsealedBytes)
}

// indexWeight is how much more a byte of index counts than one of the log when it
// comes to sealing: it lies in memory.
const indexWeight = 4

// sealDue says whether the active memtable should be sealed. Under the publish lock.
func (s *Store) sealDue(m *memtable) bool {
	return m.payloadBytes+m.metaBytes+indexWeight*(batchRefBytes*m.batches+m.transactionBytes) >= s.o.SealBytes
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

// retention runs the retention rules now and then.
func (s *Store) retention() {
	defer s.wg.Done()
	defer s.keeper.workers.Done()
	t := time.NewTicker(s.o.RetentionEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-s.stop:
			return
		}
		err := s.EnforceRetention(s.keeper.ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.o.Logger.Warn("retention failed", "error", err)
		}
	}
}
