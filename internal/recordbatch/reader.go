package recordbatch

import "fmt"

// DefaultMaxDecompressedBytes bounds the decompressed records of one batch
// where no other limit is given. Higher lets a small hostile batch take that
// much memory of every reader; lower makes honest, well compressed batches
// unreadable.
const DefaultMaxDecompressedBytes = 64 << 20

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
func (r *Record) Headers(dst []Header) ([]Header, error) {
	i := 0
	for n := r.nHeaders; n > 0; n-- {
		key, value, next := header(r.headers, i)
		if next < 0 {
			return dst, fmt.Errorf("%w: offset %d: malformed headers", ErrInvalid, r.Offset)
		}
		i = next
		dst = append(dst, Header{Key: string(key), Value: value})
	}
	if i != len(r.headers) {
		return dst, fmt.Errorf("%w: offset %d: %d bytes after the headers", ErrInvalid, r.Offset, len(r.headers)-i)
	}
	return dst, nil
}

// Header is one record header; Value nil for null. Value aliases the batch.
type Header struct {
	Key   string
	Value []byte
}

// header decodes the header at b[i:]; next is -1 when it is malformed.
func header(b []byte, i int) (key, value []byte, next int) {
	n, i := varint32(b, i)
	if i < 0 || n < 0 || int(n) > len(b)-i {
		return nil, nil, -1
	}
	key = b[i : i+int(n) : i+int(n)]
	i += int(n)
	n, i = varint32(b, i)
	if i < 0 || n < -1 || int(n) > len(b)-i {
		return nil, nil, -1
	}
	if n >= 0 {
		value = b[i : i+int(n) : i+int(n)]
		i += int(n)
	}
	return key, value, i
}

// Reader iterates over batches' records; it owns decompression buffers and is
// reused. Not safe for concurrent use.
type Reader struct {
	// MaxDecompressedBytes bounds one batch's decompressed records; default 64 MiB. ErrTooLarge beyond.
	MaxDecompressedBytes int

	buf []byte // decompressed records; reused by the next Reset

	data       []byte // the records being read
	pos        int
	index      int32 // of the next record
	n          int32
	lastDelta  int32 // offset delta of the previous record; -1 before the first
	maxDelta   int32
	baseOffset int64
	baseTime   int64
	appendTime int64
	fixedTime  bool // all records carry appendTime
	err        error
}

// retainBytes is the largest decompression buffer a reader keeps when the next
// batch needs less than an eighth of it: one huge batch must not pin its
// memory for ever.
const retainBytes = 4 << 20

// Reset points the reader at a batch, decompressing its records into the
// reader's buffer (records of uncompressed batches alias Raw). ErrCodec,
// ErrTooLarge, or ErrInvalid for damaged compressed bytes; the reader is then empty.
func (r *Reader) Reset(b *Batch) error {
	r.data, r.pos, r.index, r.n, r.lastDelta, r.err = nil, 0, 0, 0, -1, nil
	data := b.Records()
	if codec := b.Codec(); codec != None {
		limit := r.MaxDecompressedBytes
		if limit <= 0 {
			limit = DefaultMaxDecompressedBytes
		}
		if cap(r.buf) > retainBytes && len(data) < cap(r.buf)/64 {
			r.buf = nil
		}
		var err error
		if r.buf, err = Decompress(codec, r.buf[:0], data, limit); err != nil {
			r.err = err
			return err
		}
		data = r.buf
	}
	r.data = data
	r.n = b.NumRecords
	r.maxDelta = b.LastOffsetDelta
	r.baseOffset = b.BaseOffset
	r.baseTime = b.BaseTimestamp
	r.appendTime = b.MaxTimestamp
	r.fixedTime = b.LogAppendTime()
	return nil
}

// Next decodes the next record into rec, valid until Reset; false at the end or on error.
func (r *Reader) Next(rec *Record) bool {
	if r.err != nil {
		return false
	}
	if r.index >= r.n {
		if r.pos != len(r.data) {
			r.fail("bytes after the last record")
		}
		return false
	}
	n, i := varint32(r.data, r.pos)
	if i < 0 || n < MinRecordBytes-1 || int(n) > len(r.data)-i {
		return r.fail("length out of bounds")
	}
	end := i + int(n)
	b := r.data[:end:end]
	i++ // attributes: unused by Kafka
	timeDelta, i := varint64(b, i)
	if i < 0 {
		return r.fail("malformed timestamp delta")
	}
	offsetDelta, i := varint32(b, i)
	if i < 0 {
		return r.fail("malformed offset delta")
	}
	// Compacted batches have gaps, but no batch goes back or beyond its end.
	if offsetDelta <= r.lastDelta || offsetDelta > r.maxDelta {
		return r.fail("offset delta out of order")
	}
	var key, value []byte
	kn, i := varint32(b, i)
	if i < 0 || kn < -1 || int(kn) > end-i {
		return r.fail("key length out of bounds")
	}
	if kn >= 0 {
		key = b[i : i+int(kn) : i+int(kn)]
		i += int(kn)
	}
	vn, i := varint32(b, i)
	if i < 0 || vn < -1 || int(vn) > end-i {
		return r.fail("value length out of bounds")
	}
	if vn >= 0 {
		value = b[i : i+int(vn) : i+int(vn)]
		i += int(vn)
	}
	hn, i := varint32(b, i)
	// A header takes two bytes at least; none leaves nothing over.
	if i < 0 || hn < 0 || int(hn) > (end-i)/2 || (hn == 0 && i != end) {
		return r.fail("header count out of bounds")
	}
	rec.Offset = r.baseOffset + int64(offsetDelta)
	rec.Timestamp = r.appendTime
	if !r.fixedTime {
		rec.Timestamp = r.baseTime + timeDelta
	}
	rec.Key = key
	rec.Value = value
	rec.headers = b[i:]
	rec.nHeaders = hn
	r.lastDelta = offsetDelta
	r.index++
	r.pos = end
	return true
}

// fail notes what is wrong with the record at hand. It returns false for Next.
func (r *Reader) fail(what string) bool {
	r.err = fmt.Errorf("%w: record %d of %d, byte %d: %s", ErrInvalid, r.index, r.n, r.pos, what)
	return false
}

// Err is ErrInvalid (wrapped with where) when the records do not match the header.
func (r *Reader) Err() error { return r.err }
