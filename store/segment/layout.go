package segment

import (
	"encoding/binary"
	"hash/crc32"

	"millrace/store/state"
)

// All integers are little endian; checksums are CRC32C. See docs/format/segment.md.
const (
	magic   = "MRSEG\x00\r\n"
	version = 3 // version 1 knew no transactions, 2 no compacted copies; both are read as they are

	headerBytes    = 64
	trailerBytes   = 40
	footerFixed    = 48
	directoryBytes = 144
	blockBytes     = 80

	// BlockBytes is when a block of small batches is closed. Smaller blocks find
	// an offset or time with less reading, larger ones need fewer index entries.
	BlockBytes = 64 << 10

	// maxBlockBatches bounds a block's table, whatever it says of itself.
	maxBlockBatches = BlockBytes

	// minTableEntry is the least bytes that a batch takes in its block's table.
	minTableEntry = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var le = binary.LittleEndian

func encodeHeader(h Header) []byte {
	b := make([]byte, 0, headerBytes)
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, h.Level)
	b = le.AppendUint64(b, h.ID)
	b = le.AppendUint64(b, h.FirstLSN)
	b = le.AppendUint64(b, h.LastLSN)
	b = le.AppendUint64(b, uint64(h.Created))
	b = append(b, make([]byte, headerBytes-4-len(b))...)
	return le.AppendUint32(b, sum(b))
}

func decodeHeader(b []byte) Header {
	return Header{
		Level:    le.Uint32(b[12:]),
		ID:       le.Uint64(b[16:]),
		FirstLSN: le.Uint64(b[24:]),
		LastLSN:  le.Uint64(b[32:]),
		Created:  int64(le.Uint64(b[40:])),
	}
}

func appendDirectory(b []byte, p *Partition) []byte {
	b = append(b, p.Topic[:]...)
	b = le.AppendUint32(b, uint32(p.Partition))
	b = le.AppendUint32(b, p.blocks)
	for _, v := range [...]int64{
		p.FirstOffset, p.EndOffset, p.Batches, p.DataBytes, p.MinTimestamp, p.MaxTimestamp,
		int64(p.FirstLSN), int64(p.LastLSN), p.MinAppendTime, p.MaxAppendTime, p.indexAt,
	} {
		b = le.AppendUint64(b, uint64(v))
	}
	b = le.AppendUint32(b, p.indexCRC)
	b = le.AppendUint32(b, p.transactionsCRC)
	b = le.AppendUint32(b, p.Transactions)
	b = le.AppendUint32(b, p.transactionsBytes)
	b = le.AppendUint64(b, uint64(p.transactionsAt))
	if p.Transactions == 0 {
		return le.AppendUint64(b, 0)
	}
	return le.AppendUint64(b, uint64(p.MinAborted))
}

func decodeDirectory(b []byte) Partition {
	i64 := func(i int) int64 { return int64(le.Uint64(b[24+8*i:])) }
	p := Partition{
		TopicPartition: state.TopicPartition{Topic: state.TopicID(b[:16]), Partition: int32(le.Uint32(b[16:]))},
		FirstOffset:    i64(0),
		EndOffset:      i64(1),
		Batches:        i64(2),
		DataBytes:      i64(3),
		MinTimestamp:   i64(4),
		MaxTimestamp:   i64(5),
		FirstLSN:       uint64(i64(6)),
		LastLSN:        uint64(i64(7)),
		MinAppendTime:  i64(8),
		MaxAppendTime:  i64(9),
		indexAt:        i64(10),
		blocks:         le.Uint32(b[20:]),
		indexCRC:       le.Uint32(b[24+11*8:]),

		transactionsCRC:   le.Uint32(b[116:]),
		Transactions:      le.Uint32(b[120:]),
		transactionsBytes: le.Uint32(b[124:]),
		transactionsAt:    int64(le.Uint64(b[128:])),
		MinAborted:        int64(le.Uint64(b[136:])),
	}
	return p
}

func appendBlock(b []byte, k *Block) []byte {
	for _, v := range [...]int64{
		k.At, k.FirstOffset, k.EndOffset, k.MinTimestamp, k.MaxTimestamp, int64(k.FirstLSN), int64(k.LastLSN), k.tableAt,
	} {
		b = le.AppendUint64(b, uint64(v))
	}
	b = le.AppendUint32(b, k.DataBytes)
	b = le.AppendUint32(b, k.Batches)
	b = le.AppendUint32(b, k.tableBytes)
	return le.AppendUint32(b, k.tableCRC)
}

func decodeBlock(b []byte) Block {
	i64 := func(i int) int64 { return int64(le.Uint64(b[8*i:])) }
	return Block{
		At:           i64(0),
		FirstOffset:  i64(1),
		EndOffset:    i64(2),
		MinTimestamp: i64(3),
		MaxTimestamp: i64(4),
		FirstLSN:     uint64(i64(5)),
		LastLSN:      uint64(i64(6)),
		tableAt:      i64(7),
		DataBytes:    le.Uint32(b[64:]),
		Batches:      le.Uint32(b[68:]),
		tableBytes:   le.Uint32(b[72:]),
		tableCRC:     le.Uint32(b[76:]),
	}
}

// table encodes a block's batches, each relative to the one before:
//
//	size, base offset − previous end, last − base offset, LSN − previous   unsigned
//	append time − previous, max timestamp − previous                       zigzag
//	0 if the minimum timestamp is unknown, else 1 + max − min              unsigned
//
// The first is relative to the block's FirstOffset and FirstLSN, and to zero times.
// Behind the last batch, for each batch of a transaction or marker:
//
//	batches since the last such one (from the first batch: 0) × 2 + 1 for a marker   unsigned
//	producer id − previous                                                           zigzag
type table struct {
	end       int64
	lsn       uint64
	appended  int64
	timestamp int64
}

func (t *table) append(b []byte, m *Batch) []byte {
	b = binary.AppendUvarint(b, uint64(m.SizeBytes))
	b = binary.AppendUvarint(b, uint64(m.BaseOffset-t.end))
	b = binary.AppendUvarint(b, uint64(m.LastOffset-m.BaseOffset))
	b = binary.AppendUvarint(b, m.LSN-t.lsn)
	b = binary.AppendVarint(b, m.AppendTime-t.appended)
	b = binary.AppendVarint(b, m.MaxTimestamp-t.timestamp)
	spread := uint64(0)
	if m.MinTimestamp >= 0 && m.MinTimestamp <= m.MaxTimestamp {
		spread = 1 + uint64(m.MaxTimestamp-m.MinTimestamp)
	}
	b = binary.AppendUvarint(b, spread)
	t.end, t.lsn, t.appended, t.timestamp = m.LastOffset+1, m.LSN, m.AppendTime, m.MaxTimestamp
	return b
}

// decode appends n batches to dst; false if b holds something else.
func (t *table) decode(b []byte, n int, at int64, dst []Batch) ([]Batch, bool) {
	ok := true
	uvarint := func() uint64 {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			ok = false
			return 0
		}
		b = b[k:]
		return v
	}
	varint := func() int64 {
		v, k := binary.Varint(b)
		if k <= 0 {
			ok = false
			return 0
		}
		b = b[k:]
		return v
	}
	for range n {
		var m Batch
		size := uvarint()
		m.BaseOffset = t.end + int64(uvarint())
		m.LastOffset = m.BaseOffset + int64(uvarint())
		m.LSN = t.lsn + uvarint()
		m.AppendTime = t.appended + varint()
		m.MaxTimestamp = t.timestamp + varint()
		m.MinTimestamp = -1
		if spread := uvarint(); spread > 0 {
			m.MinTimestamp = m.MaxTimestamp - int64(spread-1)
		}
		if !ok || size > 1<<31-1 || m.BaseOffset < t.end || m.LastOffset < m.BaseOffset {
			return dst, false
		}
		m.SizeBytes = int32(size)
		m.At = at
		at += int64(size)
		dst = append(dst, m)
		t.end, t.lsn, t.appended, t.timestamp = m.LastOffset+1, m.LSN, m.AppendTime, m.MaxTimestamp
	}
	batches := dst[len(dst)-n:]
	var producer int64
	for i, first := 0, true; len(b) > 0; first = false {
		v := uvarint()
		producer += varint()
		if !ok || v>>1 >= uint64(n) || !first && v>>1 == 0 {
			return dst, false
		}
		if i += int(v >> 1); i >= n {
			return dst, false
		}
		m := &batches[i]
		m.Transactional, m.Control, m.ProducerID = true, v&1 != 0, producer
	}
	return dst, true
}

// producers encodes which batches of a block are transactional; see table.
type producers struct {
	b        []byte
	last     int
	producer int64
}

// add says that the block's batch i is m.
func (p *producers) add(i int, m *Batch) {
	if !m.Transactional {
		return
	}
	v := uint64(i-p.last) << 1
	if m.Control {
		v |= 1
	}
	p.b = binary.AppendUvarint(p.b, v)
	p.b = binary.AppendVarint(p.b, m.ProducerID-p.producer)
	p.last, p.producer = i, m.ProducerID
}

func (p *producers) reset() { *p = producers{b: p.b[:0]} }

// span gathers extremes. A batch without a known minimum makes the whole unknown (-1):
// its maximum is a claim.
type span struct {
	any, unknown bool
	min, max     int64
}

func (s *span) add(minTime, maxTime int64) {
	switch {
	case s.unknown:
	case minTime < 0:
		*s = span{any: true, unknown: true, min: -1, max: -1}
	case !s.any:
		s.any, s.min, s.max = true, minTime, maxTime
	default:
		s.min, s.max = min(s.min, minTime), max(s.max, maxTime)
	}
}
