package recordbatch

import "encoding/binary"

// attrDeleteHorizon says that the base timestamp is not the first record's time but the one
// from which on the batch's delete markers (or, in a control batch, its marker) may go. Records' times
// are relative to it all the same, so a reader need not know.
const attrDeleteHorizon = 0x40

// DeleteHorizon is when compaction may drop the batch's delete markers, in Unix ms; false as
// long as it was not set.
func (b *Batch) DeleteHorizon() (int64, bool) {
	return b.BaseTimestamp, b.Attributes&attrDeleteHorizon != 0
}

// ClearDeleteHorizon takes the delete horizon out of a batch and sums it anew. The base timestamp stays: records' times
// are relative to it.
func ClearDeleteHorizon(raw []byte) {
	raw[22] &^= attrDeleteHorizon
	sum(raw)
}

// NoHorizon is Compactor.Rewrite's word for leaving a batch's delete horizon as it is.
const NoHorizon = -1

// Compactor writes batches anew with some of their records. It is reused and not safe for concurrent use.
type Compactor struct {
	plain []byte
	out   []byte
}

// Rewrite returns b, to which r was reset, with the records for which keep says so: base offset,
// last offset, producer, sequence, codec, headers and record times stay as they are. A horizon
// other than NoHorizon becomes the batch's delete horizon. minTime and maxTime are the kept records';
// without any they are b's MaxTimestamp. kept may be 0: the batch is then a header without records, as a place
// holder for its offsets. The memory is valid until the next call. The error is r's.
func (c *Compactor) Rewrite(b *Batch, r *Reader, horizon int64, keep func(*Record) bool) (raw []byte, kept int, minTime, maxTime int64, err error) {
	base := b.BaseTimestamp
	if horizon != NoHorizon {
		base = horizon
	}
	c.plain = c.plain[:0]
	var rec Record
	for r.Next(&rec) {
		if !keep(&rec) {
			continue
		}
		if kept == 0 {
			minTime, maxTime = rec.Timestamp, rec.Timestamp
		}
		minTime, maxTime = min(minTime, rec.Timestamp), max(maxTime, rec.Timestamp)
		kept++
		c.append(&rec, rec.Timestamp-base, rec.Offset-b.BaseOffset)
	}
	if err := r.Err(); err != nil {
		return nil, 0, 0, 0, err
	}
	if kept == 0 {
		minTime, maxTime = b.MaxTimestamp, b.MaxTimestamp
	}
	c.out = append(c.out[:0], b.Raw[:HeaderBytes]...)
	codec := b.Codec()
	if kept == 0 {
		codec = None // a codec's stream of nothing is not nothing
	}
	c.out = Compress(codec, c.out, c.plain)
	raw = c.out
	attributes := uint16(b.Attributes)&^attrCodec | uint16(codec)
	if horizon != NoHorizon {
		attributes |= attrDeleteHorizon
	}
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-lengthPrefixBytes))
	binary.BigEndian.PutUint16(raw[21:], attributes)
	binary.BigEndian.PutUint64(raw[27:], uint64(base))
	if !b.LogAppendTime() {
		binary.BigEndian.PutUint64(raw[35:], uint64(maxTime))
	}
	binary.BigEndian.PutUint32(raw[57:], uint32(kept))
	sum(raw)
	return raw, kept, minTime, maxTime, nil
}

// Empty returns b without records and reaching to lastOffset: a place holder for offsets whose
// records are gone. The memory is new.
func Empty(b *Batch, lastOffset int64) []byte {
	raw := append(make([]byte, 0, HeaderBytes), b.Raw[:HeaderBytes]...)
	binary.BigEndian.PutUint32(raw[8:], HeaderBytes-lengthPrefixBytes)
	binary.BigEndian.PutUint16(raw[21:], uint16(b.Attributes)&^attrCodec)
	binary.BigEndian.PutUint32(raw[23:], uint32(lastOffset-b.BaseOffset))
	binary.BigEndian.PutUint32(raw[57:], 0)
	sum(raw)
	return raw
}

func (c *Compactor) append(rec *Record, timeDelta, offsetDelta int64) {
	size := 1 + varintLen(timeDelta) + varintLen(offsetDelta) + bytesLen(rec.Key) + bytesLen(rec.Value) +
		varintLen(int64(rec.nHeaders)) + len(rec.headers)
	dst := appendVarint(c.plain, int64(size))
	dst = append(dst, 0)
	dst = appendVarint(dst, timeDelta)
	dst = appendVarint(dst, offsetDelta)
	dst = appendBytes(dst, rec.Key)
	dst = appendBytes(dst, rec.Value)
	dst = appendVarint(dst, int64(rec.nHeaders))
	c.plain = append(dst, rec.headers...)
}
