// Package segment is the file format of sealed records: packs of raw record
// batches, sorted by topic and partition, with a sparse index. docs/format/segment.md
// draws it. A pack is written once, in order, and never changes.
package segment

import (
	"errors"
	"fmt"

	"millrace/store/state"
)

// ErrCorrupt: bytes of a segment do not match their checksum, or make no sense.
var ErrCorrupt = errors.New("segment: corrupt")

// ErrVersion: the segment was written by a newer Millrace.
var ErrVersion = errors.New("segment: unknown format version")

// CorruptError says where in which file; it wraps ErrCorrupt.
type CorruptError struct {
	File   string
	Offset int64
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s at byte %d: %s", e.File, e.Offset, e.Reason)
}

func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// Batch is what a segment keeps of one record batch beside its bytes.
type Batch struct {
	BaseOffset   int64
	LastOffset   int64
	MinTimestamp state.Millis // -1 unknown
	MaxTimestamp state.Millis // the batch header's if the minimum is unknown
	LSN          uint64
	AppendTime   state.Millis
	SizeBytes    int32
	At           int64 // where the batch begins in the file; set by readers

	Transactional bool  // a batch of a transaction, or a marker
	Control       bool  // a marker
	ProducerID    int64 // of a transactional batch; otherwise not kept
}

// Header is what identifies a segment.
type Header struct {
	ID       uint64
	Level    uint32 // 0: sealed from the log or merged from such, without columns; Compacted
	FirstLSN uint64 // the log range that the segment was sealed from
	LastLSN  uint64
	Created  state.Millis
}

// Compacted is the level of a segment that holds compacted copies: each of its partitions takes the place of
// everything that older segments have of that partition below its EndOffset.
const Compacted = 2

// Partition is the directory entry of one partition.
type Partition struct {
	state.TopicPartition
	FirstOffset   int64 // base offset of the first batch
	EndOffset     int64 // one past the last batch's last offset
	Batches       int64
	DataBytes     int64        // raw batches
	MinTimestamp  state.Millis // -1 unknown
	MaxTimestamp  state.Millis // -1 unknown
	FirstLSN      uint64
	LastLSN       uint64
	MinAppendTime state.Millis
	MaxAppendTime state.Millis

	// Transactions is how many transactions of the partition have their marker here.
	Transactions uint32
	// MinAborted is the least first offset of those that were aborted; without any,
	// math.MaxInt64.
	MinAborted int64

	blocks    uint32
	indexAt   int64 // of the block list
	indexCRC  uint32
	directory int // position in the directory

	transactionsAt    int64
	transactionsBytes uint32
	transactionsCRC   uint32
}

// Block is the sparse index entry of a run of batches, about BlockBytes long,
// which lie back to back in the file.
type Block struct {
	At           int64 // first byte of the first batch
	FirstOffset  int64
	EndOffset    int64
	MinTimestamp state.Millis // -1 unknown
	MaxTimestamp state.Millis // -1 unknown
	FirstLSN     uint64
	LastLSN      uint64
	DataBytes    uint32
	Batches      uint32

	tableAt    int64 // of the batch table
	tableBytes uint32
	tableCRC   uint32
}
