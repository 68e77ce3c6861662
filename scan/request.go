package scan

import (
	"context"
	"errors"
	"fmt"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/store"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow"
)

// Limits of one scan. All are constants of the implementation, not options: no
// answer depends on them.
const (
	// MaxBatchRows is the largest number of rows in a record batch.
	MaxBatchRows = 8192
	// firstBatchRows is the target of the first record batch; targets double from
	// there, so that a LIMIT or a closed cursor costs little.
	firstBatchRows = 256
	// maxBatchBytes bounds the keys, values and headers gathered into one record
	// batch; a single larger record makes a batch of its own.
	maxBatchBytes = 8 << 20
)

var (
	// ErrMemory: what a query keeps needs more memory than it may have.
	ErrMemory = errors.New("scan: query memory budget exceeded")
	// ErrNoColumn: the request names a column that its table does not have.
	ErrNoColumn = errors.New("scan: no such column")
)

// ColumnKind says which column of a topic's table is meant.
type ColumnKind uint8

const (
	Partition ColumnKind = iota + 1 // Int32
	Offset                          // Int64
	Timestamp                       // Timestamp(ms, UTC); null outside MySQL's TIMESTAMP range
	Key                             // String; invalid UTF-8 shown as U+FFFD; null when absent
	Headers                         // String: a JSON object, the last of equal names wins
	Value                           // String; invalid UTF-8 shown as U+FFFD; null for a tombstone
	Error                           // String: why expansion failed; null when it did not
	Rest                            // String: JSON of what the column limits left out
	Expanded                        // by its type; Column.Index says which

	RawKey            // Binary, exact bytes
	RawValue          // Binary, exact bytes
	RawHeaders        // String: a JSON array of [name, value] pairs, in order, with duplicates
	TimestampProducer // Int64 ms, as the producer wrote it; -1 for none
	TimestampBroker   // Int64 ms, when the batch was appended; null when unknown
	TimestampType     // String: CreateTime or LogAppendTime
	LeaderEpoch       // Int32
	ProducerID        // Int64; null for a batch without a producer id
)

// Column is one column of a request; Index counts in Table.Expanded and matters
// only for Expanded.
type Column struct {
	Kind  ColumnKind
	Index int
}

// TimestampType of the _timestamp vector.
var timestampMillis = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}

// Type is the vector type of column c of table t.
func (c Column) Type(t *catalog.Table) (arrow.DataType, error) {
	switch c.Kind {
	case Partition, LeaderEpoch:
		return arrow.PrimitiveTypes.Int32, nil
	case Offset, TimestampProducer, TimestampBroker, ProducerID:
		return arrow.PrimitiveTypes.Int64, nil
	case Timestamp:
		return timestampMillis, nil
	case Key, Headers, Value, Error, Rest, RawHeaders, TimestampType:
		return arrow.BinaryTypes.String, nil
	case RawKey, RawValue:
		return arrow.BinaryTypes.Binary, nil
	case Expanded:
		if c.Index < 0 || c.Index >= len(t.Expanded) {
			return nil, fmt.Errorf("%w: expanded column %d of %d", ErrNoColumn, c.Index, len(t.Expanded))
		}
		return blobexpand.ArrowType(t.Expanded[c.Index].Type), nil
	}
	return nil, fmt.Errorf("%w: kind %d", ErrNoColumn, c.Kind)
}

// Name is the column's SQL name in table t (that of $raw for the raw kinds).
func (c Column) Name(t *catalog.Table) string {
	switch c.Kind {
	case Partition:
		return catalog.ColPartition
	case Offset:
		return catalog.ColOffset
	case Timestamp:
		return catalog.ColTimestamp
	case Key:
		return catalog.ColKey
	case Headers:
		return catalog.ColHeaders
	case Value:
		return catalog.ColValue
	case Error:
		return catalog.ColError
	case Rest:
		return catalog.ColRest
	case Expanded:
		if c.Index >= 0 && c.Index < len(t.Expanded) {
			return t.Expanded[c.Index].Name
		}
	case RawKey:
		return "key"
	case RawValue:
		return "value"
	case RawHeaders:
		return "headers"
	case TimestampProducer:
		return "timestamp_producer"
	case TimestampBroker:
		return "timestamp_broker"
	case TimestampType:
		return "timestamp_type"
	case LeaderEpoch:
		return "leader_epoch"
	case ProducerID:
		return "producer_id"
	}
	return "?"
}

// Request asks for rows of one topic. The zero value of every option means "no
// restriction".
type Request struct {
	Source  Source         // one snapshot
	Table   *catalog.Table // bound to the same snapshot
	Columns []Column       // in the order of the record batches' columns; may be empty
	Filter  Expr           // rows for which it is true; nil: all
	// Limit ends the scan after so many rows; 0: none.
	Limit int64
	// PartitionLimit ends each partition after so many rows; 0: none.
	PartitionLimit int64
	// Reverse reads each partition from its end. Partitions are in ascending
	// order either way.
	Reverse bool
}

// Source is what a scan reads: a snapshot of partitions. Safe for concurrent use.
type Source interface {
	Bounds(tp state.TopicPartition) (state.Bounds, error)
	// Batches is of use until ctx ends.
	Batches(ctx context.Context, tp state.TopicPartition, r store.BatchRange) (BatchIter, error)
}

// recordFilter is a BatchIter some records of whose batches do not count.
type recordFilter interface {
	// Keeps says whether the record at offset, in the present batch, counts.
	Keeps(offset int64) bool
}

// BatchIter iterates over raw batches; *store.BatchIter is one.
type BatchIter interface {
	Next() bool
	Info() store.BatchInfo
	Bytes() ([]byte, error)
	Err() error
	Close()
}

// FromSnapshot makes a Source of sn, which must outlive it.
func FromSnapshot(sn *store.Snapshot) Source { return snapshotSource{sn} }

type snapshotSource struct{ sn *store.Snapshot }

func (s snapshotSource) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	return s.sn.Bounds(tp)
}

func (s snapshotSource) Batches(_ context.Context, tp state.TopicPartition, r store.BatchRange) (BatchIter, error) {
	it, err := s.sn.Batches(tp, r)
	if err != nil {
		return nil, err // a nil *store.BatchIter must not become a non-nil interface
	}
	return it, nil
}
