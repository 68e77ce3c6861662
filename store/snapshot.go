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
	instant
	own      int64     // the producer whose open transaction counts; NoProducer: none does
	others   *Snapshot // the same without own; itself if there is none
	released sync.Once
}

// instant is what all snapshots of it share.
type instant struct {
	s       *Store
	version *version
	bounds  boundsView
	topics  *TopicSet
	lsn     commitlog.LSN
	time    time.Time
}

// NoProducer is no producer's id.
const NoProducer int64 = -1

// Snapshot takes the present instant. It costs little, whatever the number of partitions.
func (s *Store) Snapshot() *Snapshot { return s.SnapshotOf(NoProducer) }

// SnapshotOf takes the present instant as the owner of a transaction sees it: what the producer has written and not
// ended counts as if it were committed. NoProducer: nothing does.
func (s *Store) SnapshotOf(producer int64) *Snapshot {
	s.pub.RLock()
	defer s.pub.RUnlock()
	sn := &Snapshot{own: NoProducer, instant: instant{
		s:       s,
		version: s.pub.version.ref(),
		bounds:  s.pub.bounds.view(),
		topics:  s.pub.topics,
		lsn:     s.pub.lsn,
		time:    s.o.Now(),
	}}
	sn.others = sn
	if producer != NoProducer {
		return &Snapshot{instant: sn.instant, own: producer, others: sn}
	}
	return sn
}

// Others is the same instant as everyone else sees it; sn itself where that is the same. It ends with sn and must
// not be released.
func (sn *Snapshot) Others() *Snapshot { return sn.others }

// Release gives up what the snapshot holds; iterators over it must be closed
// before. Further calls do nothing.
func (sn *Snapshot) Release() { sn.released.Do(sn.version.unref) }

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
