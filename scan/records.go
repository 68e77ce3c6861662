package scan

import (
	"math"
	"unicode/utf8"

	"millrace/internal/recordbatch"
	"millrace/store"
)

// Records gives the records of raw batches as rows see them: of a batch that cannot be decoded, or only its front, the rest
// comes as records that have an offset and nothing else. Used by one goroutine.
type Records struct {
	d decoder
	c chunk
}

// NewRecords; without decode only offsets are wanted, and records are decoded where these do not follow from the header.
func NewRecords(decode bool) *Records { return &Records{d: decoder{records: decode}} }

// Open begins with a batch. The error is one of what is no batch at all.
func (r *Records) Open(raw []byte, info store.BatchInfo) error { return r.d.open(raw, info) }

// Next returns records of the batch, in order, valid until the next call; none at its end.
func (r *Records) Next() []recordbatch.Record {
	if !r.d.next(&r.c, math.MaxInt) {
		return nil
	}
	return r.c.recs
}

// TimestampIsNull says whether a record's time is outside of what _timestamp can show.
func TimestampIsNull(ms int64) bool { return !validTimestamp(ms) }

// Text is b as text columns show it: b itself, or with U+FFFD for what is not UTF-8, in dst's memory.
func Text(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return appendText(dst[:0], b)
}
