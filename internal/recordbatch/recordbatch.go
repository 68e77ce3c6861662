// Package recordbatch views Kafka record batches (format v2, the only stored
// one) without copying them, reads and checks their records, and builds new ones.
//
// A batch, big endian:
//
//	 0  8  base offset              outside the CRC
//	 8  4  length of what follows   outside the CRC
//	12  4  partition leader epoch   outside the CRC
//	16  1  magic, 2                 outside the CRC
//	17  4  CRC32C of bytes 21 to the end
//	21  2  attributes: 0-2 codec, 3 log append time, 4 transactional, 5 control
//	23  4  last offset delta
//	27  8  base timestamp
//	35  8  max timestamp
//	43  8  producer id
//	51  2  producer epoch
//	53  4  base sequence
//	57  4  number of records
//	61  …  records, compressed as one block when a codec is set
package recordbatch

import "errors"

// HeaderBytes is the fixed part of a batch before its records.
const HeaderBytes = 61

// lengthPrefixBytes precede what the length field counts: base offset and length.
const lengthPrefixBytes = 12

// MinRecordBytes is the smallest record there can be: seven one-byte fields.
const MinRecordBytes = 7

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
