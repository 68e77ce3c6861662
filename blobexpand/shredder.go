package blobexpand

import "millrace/internal/vector"

// Shredder is an Expander whose columns are vectors: narrow integers, text with the dictionary
// that was made on the way where it pays. Not safe for concurrent use; reused over batches.
//
// Between two Takes at most 2 GiB - 1 of values may be appended.
type Shredder struct{ e Expander }

// NewShredder for columns cols, in that order.
func NewShredder(cols []Column, o ExpanderOptions) *Shredder {
	s := &Shredder{e: *NewExpander(cols, o)}
	e := &s.e
	for i := range e.vecs[:e.out] {
		e.vecs[i].shredding()
	}
	e.errs.shredding()
	e.rest.shredding()
	e.texts = nil
	return s
}

// Append shreds one value as the next row; nil is a tombstone (all NULL, no error).
func (s *Shredder) Append(value []byte) { s.e.Append(value) }

// Rows appended since the last Take.
func (s *Shredder) Rows() int { return s.e.rows }

// Bytes of values appended since the last Take.
func (s *Shredder) Bytes() int64 { return s.e.bytes }

// Take returns one vector per column in order (then the error vector and the rest vector, if
// asked for) and starts anew. VectorType says what kind each has.
func (s *Shredder) Take() []vector.Vector {
	e := &s.e
	if e.room == 0 {
		e.grow()
	}
	out := make([]vector.Vector, 0, e.out+2)
	for i := range e.vecs[:e.out] {
		out = append(out, e.vecs[i].takeVector(e.rows))
	}
	if e.o.Errors {
		out = append(out, e.errs.takeVector(e.rows))
	}
	if e.o.Rest {
		out = append(out, e.rest.takeVector(e.rows))
	}
	e.restart()
	return out
}

// VectorType is the kind and scale of a column's vector. Times and dates are integers: days, or
// microseconds.
func VectorType(t Type) (k vector.Kind, scale int32) {
	switch t.Kind {
	case Uint64:
		return vector.Uint, 0
	case Float64:
		return vector.Float, 0
	case Decimal:
		if t.Precision <= maxDecimal128 {
			return vector.Decimal128, int32(t.Scale)
		}
		return vector.Decimal256, int32(t.Scale)
	case Text, JSON, Binary:
		return vector.String, 0
	}
	return vector.Int, 0 // Bool, Int64, Year, Date, Time, DateTime, Timestamp
}
