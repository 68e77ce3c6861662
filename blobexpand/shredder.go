package blobexpand

import "millrace/internal/vector"

// Shredder is an Expander whose columns are vectors: narrow integers, text with the dictionary
// that was made on the way where it pays. Not safe for concurrent use; reused over batches.
//
// Between two Takes at most 2 GiB - 1 of values may be appended.
type Shredder struct {
	e    Expander
	lent int // rows of the vectors that Lend gave out, plus 1; 0: none
	// pause is Lend's.
	pause func() error
}

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
func (s *Shredder) Append(value []byte) {
	if s.lent > 0 {
		s.takeBack()
	}
	s.e.Append(value)
}

// Rows appended since the last Take.
func (s *Shredder) Rows() int { return s.e.rows }

// Bytes of values appended since the last Take.
func (s *Shredder) Bytes() int64 { return s.e.bytes }

// Take returns one vector per column in order (then the error vector and the rest vector, if
// asked for) and starts anew. VectorType says what kind each has.
func (s *Shredder) Take() []vector.Vector {
	out, _ := s.take(false, nil)
	return out
}

// Lend is Take of vectors whose memory stays the Shredder's: they hold until the next call of any method, and so cost no memory
// anew. pause, unless nil, is called between columns, also when their memory is taken back; its error ends Lend, and the Shredder is of
// no use then.
func (s *Shredder) Lend(pause func() error) ([]vector.Vector, error) { return s.take(true, pause) }

func (s *Shredder) take(lend bool, pause func() error) ([]vector.Vector, error) {
	if s.lent > 0 {
		s.takeBack()
	}
	e := &s.e
	if e.room == 0 {
		e.grow()
	}
	out := make([]vector.Vector, 0, e.out+2)
	err := s.each(func(v *builder) error {
		out = append(out, v.takeVector(e.rows, lend))
		if pause != nil {
			return pause()
		}
		return nil
	})
	if lend {
		s.lent, s.pause = e.rows+1, pause
	}
	e.restart()
	return out, err
}

// takeBack makes the memory of lent vectors that of the next ones.
func (s *Shredder) takeBack() {
	_ = s.each(func(v *builder) error {
		v.reset(s.lent - 1)
		if s.pause != nil {
			_ = s.pause() // its error comes again
		}
		return nil
	})
	s.lent, s.pause = 0, nil
}

// each visits the columns in the order of Take.
func (s *Shredder) each(visit func(*builder) error) error {
	e := &s.e
	for i := range e.vecs[:e.out] {
		if err := visit(&e.vecs[i]); err != nil {
			return err
		}
	}
	if e.o.Errors {
		if err := visit(&e.errs); err != nil {
			return err
		}
	}
	if e.o.Rest {
		return visit(&e.rest)
	}
	return nil
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
