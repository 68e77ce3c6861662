// Package state is Millrace's deterministic state machine: topics, partitions,
// offsets, producers, committed group offsets and catalog documents. It does no
// I/O, reads no clock and makes no random choice; time, ids and salts arrive
// inside intents. Where the same entries were applied, Hash is equal.
package state

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/google/uuid"
)

// TopicID identifies a topic for its whole life; a re-created topic has another.
type TopicID = uuid.UUID

// TopicPartition names one partition.
type TopicPartition struct {
	Topic     TopicID
	Partition int32
}

// Compare orders partitions by topic id, then number: the order of whatever is sorted by
// partition, on disk too.
func (tp TopicPartition) Compare(o TopicPartition) int {
	if c := bytes.Compare(tp.Topic[:], o.Topic[:]); c != 0 {
		return c
	}
	return cmp.Compare(tp.Partition, o.Partition)
}

// Millis is a Unix time in milliseconds, Kafka's unit. -1 means none.
type Millis = int64

// Sentinels a result can carry. server/kafka maps them to protocol codes,
// server/mysql to error numbers; nothing else is returned by Decide.
var (
	ErrUnknownTopic         = errors.New("unknown topic or partition")
	ErrTopicExists          = errors.New("topic already exists")
	ErrInvalidTopicName     = errors.New("invalid topic name")
	ErrInvalidPartitions    = errors.New("invalid number of partitions")
	ErrInvalidConfig        = errors.New("invalid config")
	ErrTooMany              = errors.New("a limit of the store is reached") // Limits, or the greatest size of one thing
	ErrOffsetOutOfRange     = errors.New("offset out of range")
	ErrOutOfOrderSequence   = errors.New("out of order sequence number")
	ErrDuplicateSequence    = errors.New("duplicate sequence number outside the window") // Decide says ErrOutOfOrderSequence, as Kafka 4 does
	ErrInvalidProducerEpoch = errors.New("invalid producer epoch")
	ErrUnknownProducer      = errors.New("unknown producer id")
	ErrVersionMismatch      = errors.New("document version mismatch")
	ErrUnknownGroup         = errors.New("unknown group")
	ErrGroupNotEmpty        = errors.New("group is not empty")
	ErrRequestRefused       = errors.New("another batch of the request was refused")
	// ErrInvalidBatch: a batch header that makes no sense (fewer than one record);
	// the caller should have refused it.
	ErrInvalidBatch = errors.New("invalid record batch header")
	// ErrNoTransaction: the producer has no open transaction, or not of that partition or
	// group, or it ended the other way (Kafka's INVALID_TXN_STATE).
	ErrNoTransaction = errors.New("no open transaction")
	// ErrInvalidProducerID: the transactional id is unknown or has another producer id
	// (Kafka's INVALID_PRODUCER_ID_MAPPING).
	ErrInvalidProducerID = errors.New("producer id does not belong to the transactional id")
)

// Intent is a wish to change the state. Decide turns it into an entry, or
// refuses it.
type Intent interface{ intent() }

// Batch is what the state machine needs to know of one record batch.
type Batch struct {
	TopicPartition
	Records       int32 // number of offsets it takes (last offset delta + 1), >= 1
	SizeBytes     int32
	MinTimestamp  Millis // true minimum; -1 unknown
	MaxTimestamp  Millis
	ProducerID    int64 // -1 none
	ProducerEpoch int16
	FirstSequence int32
	Transactional bool
	// Opaque: who checked the records saw that column inference has nothing to learn from
	// them. The state machine does not look at it and no entry has it: it saves the
	// store's readers a look as long as the batch is young.
	Opaque bool
}

// Produce appends batches, in order, in one entry. A batch that is refused does
// not hinder the others, unless AllOrNothing: then the others, duplicates
// included, answer ErrRequestRefused and nothing is appended.
// A transactional batch needs its producer's ongoing transaction to hold the partition
// (ErrNoTransaction otherwise), unless AddPartitions (transactions version 2): then it
// begins the transaction and adds the partition on the way. Answer: ProduceResult.
type Produce struct {
	Batches      []Batch
	AllOrNothing bool
	// TransactionalID is the one whose producer may send transactional batches here
	// (ErrInvalidProducerID for another's).
	TransactionalID string
	AddPartitions   bool
}

// ProduceResult answers Produce; one element per batch, in order.
type ProduceResult struct {
	Batches []BatchResult
}

// BatchResult says what became of one batch.
type BatchResult struct {
	Err        error // nil, or a sentinel of this package
	BaseOffset int64 // -1 on error; of the first append for a duplicate
	LogStart   int64
	Duplicate  bool // already in the log (or on its way): nothing was appended
}

// CreateTopic makes a topic; the caller brings the id. Answer: TopicResult.
type CreateTopic struct {
	ID         TopicID
	Name       string
	Partitions int32
	Configs    map[string]string // explicitly set ones only, already validated
}

// DeleteTopic removes a topic. Answer: TopicResult.
type DeleteTopic struct{ ID TopicID }

// CreatePartitions raises the partition count to Count. Answer: TopicResult.
type CreatePartitions struct {
	ID    TopicID
	Count int32
}

// SetTopicConfigs replaces all explicitly set configs if the topic's
// ConfigVersion is still ExpectVersion (ErrVersionMismatch otherwise; retry).
// Answer: TopicResult.
type SetTopicConfigs struct {
	ID            TopicID
	ExpectVersion uint64
	Configs       map[string]string
}

// TopicResult answers the topic intents with the topic as it is afterwards.
type TopicResult struct {
	Err   error
	Topic Topic
}

// AdvanceLogStart raises log starts (DeleteRecords, retention): per partition,
// everything below Before is gone. Before = -1 means the high watermark.
// Lower than the log start is a no-op; above the end is ErrOffsetOutOfRange.
// Answer: AdvanceLogStartResult.
type AdvanceLogStart struct{ Partitions []LogStartMove }

// LogStartMove is one partition of AdvanceLogStart.
type LogStartMove struct {
	TopicPartition
	Before int64
}

// AdvanceLogStartResult has one element per partition, in order.
type AdvanceLogStartResult struct {
	Partitions []struct {
		Err      error
		LogStart int64
	}
}

// AllocateProducerID gives out the next producer id with epoch 0 (idempotent
// producers without a transactional id), or, with ProducerID >= 0, bumps that
// producer's epoch (a new id when the epoch is exhausted). Answer: ProducerIDResult.
type AllocateProducerID struct {
	ProducerID    int64 // -1: a new one
	ProducerEpoch int16
}

// ProducerIDResult answers AllocateProducerID.
type ProducerIDResult struct {
	Err           error
	ProducerID    int64
	ProducerEpoch int16
}

// ExpireProducers forgets the sequence state of producers that appended nothing
// for IdleMillis (by append time, never by record timestamps). Answer: nil.
type ExpireProducers struct{ IdleMillis int64 }

// CommitOffsets stores committed offsets of a group; creates the group.
// Member and generation checks are the coordinator's. Answer: CommitOffsetsResult.
type CommitOffsets struct {
	Group   string
	Offsets []OffsetCommit
}

// OffsetCommit is one partition's committed offset.
type OffsetCommit struct {
	TopicPartition
	Offset      int64
	LeaderEpoch int32 // -1 unknown
	Metadata    string
	ExpireAt    Millis // -1: by group retention; only OffsetCommit v2-4 may set it
}

// CommitOffsetsResult has one error (or nil) per offset, in order. Err, of
// CommitTransactionOffsets only, concerns all of them; Errs is then nil.
type CommitOffsetsResult struct {
	Err  error
	Errs []error
}

// DeleteOffsets removes committed offsets; that there was none is no error.
// Answer: CommitOffsetsResult.
type DeleteOffsets struct {
	Group      string
	Partitions []TopicPartition
}

// PutGroup stores what the coordinator must find again after a restart: the last
// completed generation with its members and assignment, opaque here.
// Empty says that it has no members (offsets may then expire). Answer: GroupResult.
type PutGroup struct {
	Group string
	Empty bool
	Data  []byte
}

// DeleteGroup removes a group and its offsets. Answer: GroupResult.
type DeleteGroup struct{ Group string }

// GroupResult answers PutGroup and DeleteGroup.
type GroupResult struct{ Err error }

// ExpireOffsets drops, from groups without members, the offsets for which both the
// commit and the moment the group became empty lie RetentionMillis back, and
// those past their own ExpireAt; then the groups that are left without offsets. A
// group that PutGroup last stored with members keeps everything. Answer: nil.
type ExpireOffsets struct{ RetentionMillis int64 }

// PutDocument stores a document under (Kind, Key) if its version is still
// ExpectVersion (0: it must not exist). Data nil deletes. What it means belongs to
// catalog and server/auth. Answer: DocumentResult.
type PutDocument struct {
	Kind, Key     string
	ExpectVersion uint64
	Data          []byte
}

// DocumentResult answers PutDocument; Version is the new one (0 after a delete),
// or the present one with ErrVersionMismatch.
type DocumentResult struct {
	Err     error
	Version uint64
}

func (Produce) intent()            {}
func (CreateTopic) intent()        {}
func (DeleteTopic) intent()        {}
func (CreatePartitions) intent()   {}
func (SetTopicConfigs) intent()    {}
func (AdvanceLogStart) intent()    {}
func (AllocateProducerID) intent() {}
func (ExpireProducers) intent()    {}
func (CommitOffsets) intent()      {}
func (DeleteOffsets) intent()      {}
func (PutGroup) intent()           {}
func (DeleteGroup) intent()        {}
func (ExpireOffsets) intent()      {}
func (PutDocument) intent()        {}

// Topic is an immutable description of one topic.
type Topic struct {
	ID            TopicID
	Name          string
	Partitions    int32
	Configs       map[string]string // explicitly set; never modified in place
	ConfigVersion uint64
	CreatedAt     Millis
}

// Bounds are one partition's offsets.
type Bounds struct {
	LogStart   int64 // first offset that exists
	LastStable int64 // read_committed ends here
	End        int64 // one past the last record; the high watermark
	// Dense: every offset in [LogStart, End) is a visible data record (no
	// markers, aborted or compacted records), so End-LogStart counts them.
	Dense bool
}

// CommittedOffset is what a group committed for one partition.
type CommittedOffset struct {
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	CommitTime  Millis
}

// Document is a stored document.
type Document struct {
	Kind, Key string
	Version   uint64
	Data      []byte // never modified in place
}
