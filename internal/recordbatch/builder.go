package recordbatch

import "encoding/binary"

// Builder makes batches (commands, SQL INSERT, tests). The zero value is an
// empty builder of uncompressed batches without a producer id. Not safe for
// concurrent use.
type Builder struct {
	// Codec compresses the records; None to Zstd.
	Codec int

	body     []byte
	n        int32
	base     int64
	max      int64
	producer bool
	txn      bool
	id       int64
	epoch    int16
	sequence int32
}

// SetProducer makes the next batch one of an idempotent producer.
func (b *Builder) SetProducer(id int64, epoch int16, baseSequence int32) {
	b.producer, b.id, b.epoch, b.sequence = true, id, epoch, baseSequence
}

// SetTransaction makes the next batch one of an idempotent producer's transaction.
func (b *Builder) SetTransaction(id int64, epoch int16, baseSequence int32) {
	b.SetProducer(id, epoch, baseSequence)
	b.txn = true
}

// Append adds a record; timestamp in Unix ms. A nil key, value or header value is
// null. All bytes are copied.
func (b *Builder) Append(timestamp int64, key, value []byte, headers []Header) {
	if b.n == 0 {
		b.base, b.max = timestamp, timestamp
	}
	if timestamp > b.max {
		b.max = timestamp
	}
	timeDelta := timestamp - b.base
	size := 1 + varintLen(timeDelta) + varintLen(int64(b.n)) +
		bytesLen(key) + bytesLen(value) + varintLen(int64(len(headers)))
	for i := range headers {
		size += varintLen(int64(len(headers[i].Key))) + len(headers[i].Key) + bytesLen(headers[i].Value)
	}
	dst := appendVarint(b.body, int64(size))
	dst = append(dst, 0)
	dst = appendVarint(dst, timeDelta)
	dst = appendVarint(dst, int64(b.n))
	dst = appendBytes(dst, key)
	dst = appendBytes(dst, value)
	dst = appendVarint(dst, int64(len(headers)))
	for i := range headers {
		dst = appendVarint(dst, int64(len(headers[i].Key)))
		dst = append(dst, headers[i].Key...)
		dst = appendBytes(dst, headers[i].Value)
	}
	b.body = dst
	b.n++
}

// MaxRecordBytes is what Append adds for such a record at most.
func MaxRecordBytes(key, value []byte, headers []Header) int {
	n := 5 + 1 + 10 + 5 + bytesLen(key) + bytesLen(value) + 5
	for i := range headers {
		n += 5 + len(headers[i].Key) + bytesLen(headers[i].Value)
	}
	return n
}

func bytesLen(b []byte) int {
	if b == nil {
		return 1
	}
	return varintLen(int64(len(b))) + len(b)
}

func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return appendVarint(dst, -1)
	}
	dst = appendVarint(dst, int64(len(b)))
	return append(dst, b...)
}

// Len is the number of records.
func (b *Builder) Len() int { return int(b.n) }

// Size is the bytes of the batch so far, header included, uncompressed.
func (b *Builder) Size() int { return HeaderBytes + len(b.body) }

// Build returns the finished batch, the caller's to keep, and resets the builder
// (its codec stays). A batch without records is possible but accepted nowhere.
func (b *Builder) Build() []byte {
	id, epoch, sequence := int64(-1), int16(-1), int32(-1)
	if b.producer {
		id, epoch, sequence = b.id, b.epoch, b.sequence
	}
	raw := make([]byte, HeaderBytes, HeaderBytes+len(b.body))
	raw = Compress(b.Codec, raw, b.body)
	raw[16] = 2
	attributes := b.Codec & attrCodec
	if b.txn {
		attributes |= attrTransactional
	}
	binary.BigEndian.PutUint16(raw[21:], uint16(attributes))
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-lengthPrefixBytes))
	binary.BigEndian.PutUint32(raw[23:], uint32(max(b.n-1, 0)))
	binary.BigEndian.PutUint64(raw[27:], uint64(b.base))
	binary.BigEndian.PutUint64(raw[35:], uint64(b.max))
	binary.BigEndian.PutUint64(raw[43:], uint64(id))
	binary.BigEndian.PutUint16(raw[51:], uint16(epoch))
	binary.BigEndian.PutUint32(raw[53:], uint32(sequence))
	binary.BigEndian.PutUint32(raw[57:], uint32(b.n))
	sum(raw)
	b.body, b.n, b.base, b.max, b.producer, b.txn = b.body[:0], 0, 0, 0, false, false
	return raw
}

// Recompress returns b with its records under another codec: decompressed
// (at most limit bytes) and compressed anew. All else stays; the memory is new.
func Recompress(b *Batch, codec, limit int) ([]byte, error) {
	plain := b.Records()
	if b.Codec() != None {
		var err error
		if plain, err = Decompress(b.Codec(), nil, plain, limit); err != nil {
			return nil, err
		}
	}
	raw := make([]byte, HeaderBytes, HeaderBytes+len(plain))
	copy(raw, b.Raw[:HeaderBytes])
	raw = Compress(codec, raw, plain)
	raw[22] = raw[22]&^attrCodec | byte(codec&attrCodec)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-lengthPrefixBytes))
	sum(raw)
	return raw, nil
}
