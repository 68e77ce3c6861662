// Package recordbatch views Kafka record batches (format v2, the only stored
// one) without copying them.
package recordbatch

import "errors"

// HeaderBytes is the fixed part of a batch before its records.
const HeaderBytes = 61

// Compression codecs as in the attributes' lowest three bits.
const (
	None   = 0
	Gzip   = 1
	Snappy = 2
	LZ4    = 3
	Zstd   = 4
)

// NoTimestamp is Kafka's "no timestamp".
const NoTimestamp = -1

var (
	ErrCorrupt  = errors.New("record batch: corrupt")                          // CORRUPT_MESSAGE
	ErrMagic    = errors.New("record batch: not format v2")                    // UNSUPPORTED_FOR_MESSAGE_FORMAT / CORRUPT
	ErrInvalid  = errors.New("record batch: invalid record")                   // INVALID_RECORD
	ErrCodec    = errors.New("record batch: unknown compression codec")        // UNSUPPORTED_COMPRESSION_TYPE
	ErrTooLarge = errors.New("record batch: decompressed size over the limit") // MESSAGE_TOO_LARGE
)

// Batch is a parsed header over the bytes it was read from.
type Batch struct {
	Raw             []byte // the whole batch, header included
	BaseOffset      int64
	LeaderEpoch     int32
	CRC             uint32
	Attributes      int16
	LastOffsetDelta int32
	BaseTimestamp   int64
	MaxTimestamp    int64
	ProducerID      int64
	ProducerEpoch   int16
	BaseSequence    int32
	NumRecords      int32
}

// Parse reads the batch at the front of b and returns what follows it. It checks
// lengths and magic, not the CRC. Batch.Raw aliases b.
func Parse(b []byte) (batch Batch, rest []byte, err error) { panic("todo") }

func (b *Batch) Codec() int          { return int(b.Attributes & 7) }
func (b *Batch) LogAppendTime() bool { return b.Attributes&8 != 0 }
func (b *Batch) Transactional() bool { return b.Attributes&16 != 0 }
func (b *Batch) Control() bool       { return b.Attributes&32 != 0 }
func (b *Batch) LastOffset() int64   { return b.BaseOffset + int64(b.LastOffsetDelta) }

// CheckCRC says whether the stored CRC32C matches.
func (b *Batch) CheckCRC() bool { panic("todo") }

// SetBaseOffset and SetLeaderEpoch patch Raw; neither is covered by the CRC.
func SetBaseOffset(raw []byte, offset int64) { panic("todo") }
func SetLeaderEpoch(raw []byte, epoch int32) { panic("todo") }

// SetLogAppendTime sets the timestamp type and max timestamp and sums the batch anew.
func SetLogAppendTime(raw []byte, ms int64) { panic("todo") }

// Record is one record; its slices alias the (decompressed) batch. Key and Value
// are nil for null, empty but not nil for zero bytes.
type Record struct {
	Offset    int64
	Timestamp int64 // already the append time for LogAppendTime batches
	Key       []byte
	Value     []byte
	headers   []byte
	nHeaders  int32
}

// Headers appends the record's headers to dst.
func (r *Record) Headers(dst []Header) ([]Header, error) { panic("todo") }

// Header is one record header; Value nil for null.
type Header struct {
	Key   string
	Value []byte
}

// Reader iterates over batches' records; it owns decompression buffers and is
// reused. Not safe for concurrent use.
type Reader struct {
	// MaxDecompressedBytes bounds one batch's decompressed records; default 64 MiB. ErrTooLarge beyond.
	MaxDecompressedBytes int
}

// Reset points the reader at a batch, decompressing its records into the
// reader's buffer (records of uncompressed batches alias Raw).
func (r *Reader) Reset(b *Batch) error { panic("todo") }

// Next decodes the next record into rec, valid until Reset; false at the end or on error.
func (r *Reader) Next(rec *Record) bool { panic("todo") }

// Err is ErrInvalid (wrapped with where) when the records do not match the header.
func (r *Reader) Err() error { panic("todo") }

// Builder makes batches (commands, SQL INSERT, tests).
type Builder struct{ Codec int }

// Append adds a record; timestamp in Unix ms.
func (b *Builder) Append(timestamp int64, key, value []byte, headers []Header) { panic("todo") }

// Len is the number of records, Size the bytes so far, uncompressed.
func (b *Builder) Len() int  { panic("todo") }
func (b *Builder) Size() int { panic("todo") }

// Build returns the finished batch and resets the builder.
func (b *Builder) Build() []byte { panic("todo") }
