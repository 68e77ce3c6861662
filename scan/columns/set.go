package columns

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"millrace/internal/vfs"
	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// Options of a Set. Zero values take the defaults named here.
type Options struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
	// CacheBytes bounds the vectors kept in memory that no query is using; default 1 GiB, or a
	// quarter of the machine's memory if that is less. With less, more is read or
	// expanded again.
	CacheBytes int64
	// Dir is where files of columns lie, in FS (default: the operating system's); "": none are kept.
	Dir string
	FS  vfs.FS
	// BlockRows and BlockBytes are what a block holds at most; default (and most) exec.MaxBlockRows, and
	// 64 MiB of raw batches (8 MiB of records of 16 KiB and more): what one goroutine of a query expands at a time.
	BlockRows  int
	BlockBytes int64
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Set knows the blocks of all partitions and their columns. Safe for concurrent use.
type Set struct {
	o     Options
	cache *cache
	m     *metrics
	kept  atomic.Pointer[workspace] // of the last Seal; nil while one runs
	reads vfs.Reads

	smallChunks int64 // columns of so many bytes are not read page by page,
	leastAhead  int64 // and those of less not past the page cache, where what lies beside them is read with them

	mu     sync.Mutex // guards the maps only
	parts  map[state.TopicPartition]*part
	topics map[state.TopicID]*topicFiles
}

// New makes an empty one.
func New(o Options) *Set {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = DefaultCacheBytes()
	}
	if o.BlockRows <= 0 || o.BlockRows > exec.MaxBlockRows {
		o.BlockRows = exec.MaxBlockRows
	}
	if o.BlockBytes <= 0 {
		o.BlockBytes = defaultBlockBytes
	}
	s := &Set{o: o, parts: map[state.TopicPartition]*part{}, topics: map[state.TopicID]*topicFiles{}, smallChunks: defaultSmallChunks, leastAhead: defaultLeastAhead}
	s.cache = newCache(o.CacheBytes)
	s.m = newMetrics(o.Registry, s.cache)
	s.cache.m = s.m
	return s
}

// Source gives the blocks of sn, which must outlive every use of it.
func (s *Set) Source(sn *store.Snapshot) exec.Source { return &source{set: s, sn: sn} }

func (s *Set) part(t state.Topic, partition int32) *part {
	tp := state.TopicPartition{Topic: t.ID, Partition: partition}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[tp]
	if p == nil {
		p = newPart(s, t, tp)
		s.parts[tp] = p
	}
	return p
}

// BlockRows is how many rows a full block has, unless its bytes are too many.
func (s *Set) BlockRows() int { return s.o.BlockRows }

// MinFileRows is from how many rows on what is left of an idle partition is worth a file: fewer are expanded faster than a
// file is opened.
const MinFileRows = 8192

// WorthFile is from how many rows on a partition gets files at all, sooner or later.
func (s *Set) WorthFile() int64 { return int64(min(MinFileRows, s.o.BlockRows)) }

// Knows says whether files of a topic are open.
func (s *Set) Knows(id state.TopicID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topics[id] != nil
}

// Close closes the files. Nobody may use the Set, or a Source of it, any more.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tf := range s.topics {
		for _, f := range tf.files {
			f.release()
		}
	}
	s.topics, s.parts = nil, nil
	s.reads.Close()
	s.cache.slabs.Close()
	return nil
}

// Forget drops what is kept of topics that are not in live.
func (s *Set) Forget(live *store.TopicSet) {
	var dead []*part
	s.mu.Lock()
	for tp, p := range s.parts {
		if _, ok := live.ByID(tp.Topic); !ok {
			delete(s.parts, tp)
			dead = append(dead, p)
		}
	}
	var files []*topicFiles
	for id, tf := range s.topics {
		if _, ok := live.ByID(id); !ok {
			delete(s.topics, id)
			files = append(files, tf)
		}
	}
	s.mu.Unlock()
	for _, tf := range files {
		s.forgetFiles(tf)
	}
	for _, p := range dead {
		s.cache.drop(p.state.Load().list)
	}
}
