// Package store is the partition store: one ordered commit log, the state
// replayed from it, and sealed segments, behind one write path (Submit) and one
// read path (Snapshot, Fetch).
package store

import (
	"context"
	"io"
	"log/slog"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// Options configure a store. Zero values take the defaults named here.
type Options struct {
	Dir      string
	FS       vfs.FS           // default: the operating system's
	Now      func() time.Time // default: time.Now
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics

	LogFileBytes   int64         // largest log file; default 128 MiB
	UnsealedBytes  int64         // bound of the unsealed log; produce is throttled beyond; default 4 GiB
	SealBytes      int64         // an unsealed range this large is sealed; default 256 MiB
	SealAge        time.Duration // ... or this old; default 10 min
	TailCacheBytes int64         // recent payload kept in memory; default 64 MiB
	InFlightBytes  int64         // queued, unsynced payload bytes; Submit waits beyond; default 64 MiB
	RetentionEvery time.Duration // retention check interval; default 5 min (Kafka's)
	MaxTopics      int           // default 10,000
	MaxPartitions  int           // default 100,000
}

// Store is safe for concurrent use.
type Store struct{}

// Open locks dir, recovers and starts the background work.
func Open(ctx context.Context, o Options) (*Store, error) { panic("todo") }

// Close drains queued submissions, checkpoints, and releases everything.
func (s *Store) Close() error { panic("todo") }

// ClusterID is stable for the life of the data directory (22 characters, Kafka's form).
func (s *Store) ClusterID() string { panic("todo") }

// --- write path ---

// Submit decides intent at once, in call order, queues its entry and returns.
// payload is the record batches of a Produce, one per Batch of the intent: their
// base offset and leader epoch fields are patched in place, and the memory is
// the store's from here on (never pooled by the caller).
// done is called exactly once, in submission order over all callers, when
// the result is durable and published: with the intent's result type, or with
// a commitlog error. It runs on the store's publisher and must not block.
// A refused or duplicate intent waits for everything decided before it.
// Submit itself blocks while the in-flight or unsealed budget is used up; ctx
// ends only that wait (then err != nil and done is never called).
func (s *Store) Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(result any, err error)) error {
	panic("todo")
}

// Commit is Submit and wait.
func (s *Store) Commit(ctx context.Context, intent state.Intent) (result any, err error) {
	panic("todo")
}

// --- published state (each call sees the latest published LSN) ---

// Topics is an immutable set of all topics, in name order; replaced when topics change.
func (s *Store) Topics() *TopicSet { panic("todo") }

// TopicSet is immutable.
type TopicSet struct{}

func (t *TopicSet) ByName(name string) (state.Topic, bool)    { panic("todo") }
func (t *TopicSet) ByID(id state.TopicID) (state.Topic, bool) { panic("todo") }
func (t *TopicSet) All() []state.Topic                        { panic("todo") }

// Bounds of one partition; ErrUnknownTopic.
func (s *Store) Bounds(tp state.TopicPartition) (state.Bounds, error) { panic("todo") }

// CommittedOffsets of a group (false: no such group).
func (s *Store) CommittedOffsets(group string) (map[state.TopicPartition]state.CommittedOffset, bool) {
	panic("todo")
}

// Groups calls fn with every known group and its PutGroup data (nil when only
// offsets were committed), in name order.
func (s *Store) Groups(fn func(group string, data []byte)) { panic("todo") }

// Document and Documents read what PutDocument stored; Documents in key order.
func (s *Store) Document(kind, key string) (state.Document, bool) { panic("todo") }
func (s *Store) Documents(kind string) []state.Document           { panic("todo") }

// DocumentsVersion changes whenever a document of that kind changes.
func (s *Store) DocumentsVersion(kind string) uint64 { panic("todo") }

// ProducerInfo is one producer's state in a partition.
type ProducerInfo struct {
	ProducerID    int64
	ProducerEpoch int16
	LastSequence  int32
	LastTimestamp state.Millis
}

// Producers of a partition with live sequence state.
func (s *Store) Producers(tp state.TopicPartition) []ProducerInfo { panic("todo") }

// SizeBytes of a partition's record batches on disk (log and segments).
func (s *Store) SizeBytes(tp state.TopicPartition) int64 { panic("todo") }

// --- reading records ---

// Isolation as in Kafka.
type Isolation int8

const (
	ReadUncommitted Isolation = 0
	ReadCommitted   Isolation = 1
)

// FetchResult holds whole batches exactly as stored.
type FetchResult struct {
	Bounds  state.Bounds
	Batches [][]byte // back to back batches; read-only, valid for ever (garbage collected)
	Bytes   int
}

// Fetch reads from offset on: whole batches, the first containing offset,
// at most maxBytes in all, but always the first batch when minOne.
// state.ErrUnknownTopic, state.ErrOffsetOutOfRange (outside [LogStart, End]; Bounds is still set).
func (s *Store) Fetch(tp state.TopicPartition, offset int64, maxBytes int, minOne bool, iso Isolation) (FetchResult, error) {
	panic("todo")
}

// OffsetForTime returns the first offset whose timestamp is >= ts, exactly (looking
// into batches); found=false when there is none.
func (s *Store) OffsetForTime(tp state.TopicPartition, ts state.Millis, iso Isolation) (offset int64, timestamp state.Millis, found bool, err error) {
	panic("todo")
}

// MaxTimestamp returns the offset and timestamp of the record with the highest
// timestamp (ListOffsets -3); found=false when the partition is empty.
func (s *Store) MaxTimestamp(tp state.TopicPartition) (offset int64, timestamp state.Millis, found bool, err error) {
	panic("todo")
}

// Watch registers w for the partitions: the next publish that moves one of their bounds
// (or deletes the topic) makes w.C ready (capacity 1, never blocks the
// publisher). The registration stays until Close.
func (s *Store) Watch(tps []state.TopicPartition) *Watcher { panic("todo") }

// Watcher tells that a watched partition changed since the last receive from C.
type Watcher struct{ C <-chan struct{} }

// Close ends the registration.
func (w *Watcher) Close() { panic("todo") }

// --- snapshots (SQL) ---

// Snapshot is one instant of everything published; it keeps what it names
// readable until Release. Safe for concurrent use.
func (s *Store) Snapshot() *Snapshot { panic("todo") }

// Snapshot is immutable.
type Snapshot struct{}

func (sn *Snapshot) Release()           { panic("todo") }
func (sn *Snapshot) LSN() commitlog.LSN { panic("todo") }
func (sn *Snapshot) Time() time.Time    { panic("todo") }
func (sn *Snapshot) Topics() *TopicSet  { panic("todo") }

// Bounds at the snapshot; what lies in [LogStart, End) stays readable.
func (sn *Snapshot) Bounds(tp state.TopicPartition) (state.Bounds, error) { panic("todo") }

// Document as of the snapshot or newer.
func (sn *Snapshot) Document(kind, key string) (state.Document, bool) { panic("todo") }

// BatchRange says which batches a scan needs; it may only save work: a batch is
// skipped only if it certainly holds no record in the range.
type BatchRange struct {
	FromOffset, ToOffset       int64         // [From, To)
	MinTimestamp, MaxTimestamp state.Millis  // [Min, Max], closed; math.MinInt64/MaxInt64: no bound
	AfterLSN                   commitlog.LSN // only batches of later entries
	Reverse                    bool          // last batch first
}

// BatchInfo is what is known of a batch without reading it.
type BatchInfo struct {
	BaseOffset   int64
	LastOffset   int64
	MinTimestamp state.Millis // -1 unknown
	MaxTimestamp state.Millis
	LSN          commitlog.LSN
	AppendTime   state.Millis
	SizeBytes    int32
}

// Batches iterates over a partition's batches in the range, visible in this snapshot.
func (sn *Snapshot) Batches(tp state.TopicPartition, r BatchRange) (*BatchIter, error) { panic("todo") }

// BatchIter is used by one goroutine.
type BatchIter struct{}

func (it *BatchIter) Next() bool      { panic("todo") }
func (it *BatchIter) Info() BatchInfo { panic("todo") }

// Bytes reads the batch (raw, as stored; checked against its CRC). Valid until the next call of Next.
func (it *BatchIter) Bytes() ([]byte, error) { panic("todo") }
func (it *BatchIter) Err() error             { panic("todo") }
func (it *BatchIter) Close()                 { panic("todo") }

// --- housekeeping ---

// Seal seals everything published so far into segments and waits for it
// (CALL millrace.seal, tests).
func (s *Store) Seal(ctx context.Context) error { panic("todo") }

// Checkpoint saves the state so that the next start replays less.
func (s *Store) Checkpoint(ctx context.Context) error { panic("todo") }

// EnforceRetention runs one retention pass now.
func (s *Store) EnforceRetention(ctx context.Context) error { panic("todo") }

// Stats for system tables and metrics.
type Stats struct {
	LastLSN             commitlog.LSN
	LogBytes            int64 // unsealed
	SegmentBytes        int64
	Segments            int
	DiskTotal, DiskFree int64
	Healthy             bool // false while the log takes no appends
}

func (s *Store) Stats() Stats { panic("todo") }

// Verify checks every checksum of the closed data directory and writes one line per
// finding to w; problems is their number.
func Verify(ctx context.Context, fs vfs.FS, dir string, w io.Writer) (problems int, err error) {
	panic("todo")
}
