// Package store is the partition store: one ordered commit log, the state
// replayed from it, and sealed segments, behind one write path (Submit) and one
// read path (Snapshot, Fetch).
//
// The sequencer (submit.go) decides intents against the decided state, which
// runs ahead of the disk. The publisher (publish.go) applies what the log has
// made durable to the published state, the only one that readers see. Reading
// goes through a version (version.go): sealed segments and memtables, which
// index the unsealed log. Lock order: seq, pub, then the leaf locks (budget,
// queue, tail, watch lists, version set).
package store

import (
	"sync"
	"sync/atomic"

	"millrace/internal/budget"
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// Store is safe for concurrent use.
type Store struct {
	o         Options
	log       commitlog.Log
	metrics   *metrics
	clusterID string
	closers   []func() error // directory lock and the like, released last

	budget    *budget.Budget
	queue     *queue
	entryBufs entryBufs
	tail      *tailCache
	versions  *versionSet
	cache     *segment.Cache

	seq sequencer
	pub published

	topics atomic.Pointer[TopicSet] // pub.topics, for readers without the lock

	failed      atomic.Bool // appends are refused
	noSpace     atomic.Bool // the log last refused records for want of space
	lastFailure atomic.Pointer[error]
	healWanted  chan struct{} // capacity 1

	readErrorLogged atomic.Int64 // Unix second of the last log line about one

	// failing: an entry failed and the decided state is not rebuilt yet. Set by
	// the publisher, ended by the healer.
	failing atomic.Bool
	touched []*partition // the publisher's scratch

	publishedBytes atomic.Int64

	keeper keeper
	clock  clockGuard

	stop          chan struct{} // ends the background work
	stopPublisher chan struct{} // ends the publisher, after the rest
	wg            sync.WaitGroup
	closeOnce     sync.Once
	closeErr      error
}

// sequencer is the decided side.
type sequencer struct {
	sync.Mutex
	decided *state.State
	last    commitlog.LSN // of the last queued entry
	closed  bool
}

// published is the readers' side.
type published struct {
	sync.RWMutex
	state     *state.State
	lsn       commitlog.LSN
	topics    *TopicSet
	parts     map[state.TopicPartition]*partition
	bounds    boundsTable
	slots     int // slots ever used
	freeSlots []int
	version   *version
	open      openTransactions
	closed    bool
}

// ClusterID is stable for the life of the data directory (22 characters, Kafka's form).
func (s *Store) ClusterID() string { return s.clusterID }

// Topics is an immutable set of all topics, in name order; replaced when topics change.
func (s *Store) Topics() *TopicSet { return s.topics.Load() }

// Bounds of one partition; ErrUnknownTopic.
func (s *Store) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	p := s.pub.parts[tp]
	if p == nil {
		return state.Bounds{}, state.ErrUnknownTopic
	}
	return s.pub.bounds.get(p.slot), nil
}

// CommittedOffsets of a group (false: no such group).
func (s *Store) CommittedOffsets(group string) (map[state.TopicPartition]state.CommittedOffset, bool) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.GroupOffsets(group)
}

// Groups calls fn with every known group and its PutGroup data (nil when only
// offsets were committed), in name order. fn runs without locks held; data is
// read-only.
func (s *Store) Groups(fn func(group string, data []byte)) {
	type group struct {
		name string
		data []byte
	}
	var all []group
	s.pub.RLock()
	s.pub.state.Groups(func(name string, data []byte) { all = append(all, group{name, data}) })
	s.pub.RUnlock()
	for _, g := range all {
		fn(g.name, g.data)
	}
}

// Document reads what PutDocument stored.
func (s *Store) Document(kind, key string) (state.Document, bool) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.Document(kind, key)
}

// Documents of a kind in key order.
func (s *Store) Documents(kind string) []state.Document {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.Documents(kind)
}

// DocumentsVersion changes whenever a document of that kind changes.
func (s *Store) DocumentsVersion(kind string) uint64 {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.DocumentsVersion(kind)
}

// ProducerInfo is one producer's state in a partition.
type ProducerInfo struct {
	ProducerID    int64
	ProducerEpoch int16
	LastSequence  int32
	LastTimestamp state.Millis
	TxnStart      int64 // first offset of its open transaction here; -1 none
}

// Producers of a partition with live sequence state.
func (s *Store) Producers(tp state.TopicPartition) []ProducerInfo {
	s.pub.RLock()
	all := s.pub.state.Producers(tp)
	s.pub.RUnlock()
	out := make([]ProducerInfo, len(all))
	for i, p := range all {
		out[i] = producerInfo(p)
	}
	return out
}

// PublishedBytes is how many bytes of record batches were submitted and published, or
// refused, since the store was opened. It costs nothing: background readers see by it
// when they must hurry to find records still in memory.
func (s *Store) PublishedBytes() int64 { return s.publishedBytes.Load() }

// Stats for system tables and metrics.
type Stats struct {
	LastLSN             commitlog.LSN
	LogBytes            int64 // unsealed
	SegmentBytes        int64
	Segments            int
	DiskTotal, DiskFree int64
	Healthy             bool // false while the log takes no appends
}

// Stats reads the present figures.
func (s *Store) Stats() Stats {
	st := Stats{LastLSN: s.pubLSN(), LogBytes: s.log.Size(), Healthy: !s.failed.Load() && !s.noSpace.Load()}
	v := s.acquire()
	st.Segments = len(v.segs)
	for _, sf := range v.segs {
		st.SegmentBytes += sf.size
	}
	v.unref()
	st.DiskTotal, st.DiskFree, _ = s.o.FS.Free(s.o.Dir)
	return st
}

func (s *Store) pubLSN() commitlog.LSN {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.lsn
}

// acquire returns the present version with a reference.
func (s *Store) acquire() *version {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.version.ref()
}

func producerInfo(p state.Producer) ProducerInfo {
	return ProducerInfo{ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, LastSequence: p.LastSequence, LastTimestamp: p.LastTimestamp, TxnStart: p.TxnStart}
}
