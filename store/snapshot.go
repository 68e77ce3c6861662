package store

import (
	"sync"
	"time"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// Snapshot is one instant of everything published; it keeps what it names
// readable until Release. Immutable, safe for concurrent use.
type Snapshot struct {
	s       *Store
	version *version
	bounds  boundsView
	topics  *TopicSet
	lsn     commitlog.LSN
	time    time.Time
	release sync.Once
}

// Snapshot takes the present instant. It costs little, whatever the number of partitions.
func (s *Store) Snapshot() *Snapshot {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return &Snapshot{
		s:       s,
		version: s.pub.version.ref(),
		bounds:  s.pub.bounds.view(),
		topics:  s.pub.topics,
		lsn:     s.pub.lsn,
		time:    s.o.Now(),
	}
}

// Release gives up what the snapshot holds; iterators over it must be closed
// before. Further calls do nothing.
func (sn *Snapshot) Release() { sn.release.Do(sn.version.unref) }

// LSN is the last entry that the snapshot contains.
func (sn *Snapshot) LSN() commitlog.LSN { return sn.lsn }

// Time is when the snapshot was taken.
func (sn *Snapshot) Time() time.Time { return sn.time }

// Topics at the snapshot.
func (sn *Snapshot) Topics() *TopicSet { return sn.topics }

// Bounds at the snapshot; what lies in [LogStart, End) stays readable.
// state.ErrUnknownTopic.
func (sn *Snapshot) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	p := sn.topics.partition(tp)
	if p == nil {
		return state.Bounds{}, state.ErrUnknownTopic
	}
	return sn.bounds.get(p.slot), nil
}

// Document as of the snapshot or newer.
func (sn *Snapshot) Document(kind, key string) (state.Document, bool) {
	return sn.s.Document(kind, key)
}
