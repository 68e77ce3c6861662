package recordbatch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Attribute bits above the codec.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
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
func Parse(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) < lengthPrefixBytes+5 {
		return Batch{}, nil, fmt.Errorf("%w: %d bytes are no batch header", ErrCorrupt, len(b))
	}
	// Magic lies at the same place in all formats, so old ones are told
	// apart from damage before their length is believed.
	if m := b[16]; m != 2 {
		return Batch{}, nil, fmt.Errorf("%w: magic %d", ErrMagic, m)
	}
	length := int64(int32(binary.BigEndian.Uint32(b[8:])))
	if length < HeaderBytes-lengthPrefixBytes || length > int64(len(b)-lengthPrefixBytes) {
		return Batch{}, nil, fmt.Errorf("%w: length field %d in %d bytes", ErrCorrupt, length, len(b))
	}
	total := lengthPrefixBytes + int(length)
	raw := b[:total:total]
	batch = Batch{
		Raw:             raw,
		BaseOffset:      int64(binary.BigEndian.Uint64(raw)),
		LeaderEpoch:     int32(binary.BigEndian.Uint32(raw[12:])),
		CRC:             binary.BigEndian.Uint32(raw[17:]),
		Attributes:      int16(binary.BigEndian.Uint16(raw[21:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(raw[23:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(raw[27:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(raw[35:])),
		ProducerID:      int64(binary.BigEndian.Uint64(raw[43:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(raw[51:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(raw[53:])),
		NumRecords:      int32(binary.BigEndian.Uint32(raw[57:])),
	}
	if batch.NumRecords < 0 || batch.LastOffsetDelta < 0 {
		return Batch{}, nil, fmt.Errorf("%w: %d records, last offset delta %d", ErrCorrupt, batch.NumRecords, batch.LastOffsetDelta)
	}
	return batch, b[total:], nil
}

// Codec is the compression codec, possibly an unknown one (5 to 7).
func (b *Batch) Codec() int { return int(b.Attributes & attrCodec) }

// LogAppendTime says whether all records carry MaxTimestamp as their time.
func (b *Batch) LogAppendTime() bool { return b.Attributes&attrLogAppendTime != 0 }

// Transactional says whether the batch belongs to a transaction.
func (b *Batch) Transactional() bool { return b.Attributes&attrTransactional != 0 }

// Control says whether the batch holds a transaction marker instead of data.
func (b *Batch) Control() bool { return b.Attributes&attrControl != 0 }

// LastOffset is the offset of the batch's last record.
func (b *Batch) LastOffset() int64 { return b.BaseOffset + int64(b.LastOffsetDelta) }

// Records is the batch's records as they lie in Raw, compressed or not.
func (b *Batch) Records() []byte { return b.Raw[HeaderBytes:] }

// CheckCRC says whether the stored CRC32C matches.
func (b *Batch) CheckCRC() bool {
	return crc32.Checksum(b.Raw[21:], castagnoli) == b.CRC
}

// SetBaseOffset and SetLeaderEpoch patch Raw; neither is covered by the CRC.
func SetBaseOffset(raw []byte, offset int64) { binary.BigEndian.PutUint64(raw, uint64(offset)) }

// SetLeaderEpoch see SetBaseOffset.
func SetLeaderEpoch(raw []byte, epoch int32) { binary.BigEndian.PutUint32(raw[12:], uint32(epoch)) }

// SetLogAppendTime sets the timestamp type and max timestamp and sums the batch anew.
func SetLogAppendTime(raw []byte, ms int64) {
	raw[22] |= attrLogAppendTime
	binary.BigEndian.PutUint64(raw[35:], uint64(ms))
	sum(raw)
}

// SetCreateTime clears the timestamp type, sets the max timestamp and sums the
// batch anew.
func SetCreateTime(raw []byte, maxTimestamp int64) {
	raw[22] &^= attrLogAppendTime
	binary.BigEndian.PutUint64(raw[35:], uint64(maxTimestamp))
	sum(raw)
}

// SetProducer sets the idempotent producer's fields and sums the batch anew.
func SetProducer(raw []byte, id int64, epoch int16, baseSequence int32) {
	binary.BigEndian.PutUint64(raw[43:], uint64(id))
	binary.BigEndian.PutUint16(raw[51:], uint16(epoch))
	binary.BigEndian.PutUint32(raw[53:], uint32(baseSequence))
	sum(raw)
}

func sum(raw []byte) {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
}
