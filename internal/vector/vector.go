// Package vector holds columns of values in memory as the scan works on them: narrow
// integers, dictionary codes, and text as offsets into bytes, each with an optional
// validity bitmap. The buffers are laid out as Arrow lays them out (little endian, bit i of
// word i/64 says that row i has a value).
//
// A Vector is immutable once it is shared. Slices of it share its buffers.
package vector

import (
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Kind is the family of a vector's values: which buffer holds them and how they compare.
type Kind uint8

const (
	// Int is a signed 64-bit integer. Booleans are 0 and 1, dates days since 1970, times and
	// durations are in the unit that their column says.
	Int Kind = iota + 1
	Uint
	Float
	// Decimal128 and Decimal256 are unscaled two's complement numbers of a vector's Scale.
	Decimal128
	Decimal256
	// String is text in UTF-8, or bytes; it compares byte by byte.
	String
)

// Vector is a column of Len values.
//
// Exactly one of the groups of buffers below is set, by Kind; of integers one width, of
// strings either a dictionary with one width of codes, or Offsets and Bytes. Where a row is
// NULL its slot holds an unspecified value that is safe to read (a code within the
// dictionary, an offset within Bytes).
type Vector struct {
	Kind  Kind
	Scale int32 // digits after the point, of decimals
	Len   int   // rows
	// Valid has a set bit for each row that is not NULL; nil when none is. Bits from Len on are
	// unspecified. First is the bit of row 0 (slices do not move bits).
	Valid []uint64
	First int
	Nulls int // how many rows are NULL; -1: not counted

	// Const says that the buffers hold one value (Len may be anything): every row is equal to
	// it, or every row is NULL. First is 0.
	Const bool

	// Ascends says that it is known that no row is NULL or less than the one before it. Of integers only.
	Ascends bool

	// Integers: the value of row i is Base plus its slot, without overflow. Int64 has Base 0.
	Base  int64
	Int8  []int8
	Int16 []int16
	Int32 []int32
	Int64 []int64

	Uint64  []uint64
	Float64 []float64
	Dec128  []decimal128.Num
	Dec256  []decimal256.Num

	// Strings: codes into Dict, or text i is Bytes[Offsets[i]:Offsets[i+1]].
	Dict    *Dict
	Code8   []uint8
	Code16  []uint16
	Code32  []uint32
	Offsets []uint32
	Bytes   []byte
}

// Dict holds the different strings of a dictionary-coded vector, each once; the code is
// the index. Some may stand in no row (of a slice, say). Shared and immutable.
type Dict struct {
	Offsets []uint32 // len: strings + 1
	Bytes   []byte
}

// Len is how many strings there are.
func (d *Dict) Len() int { return len(d.Offsets) - 1 }

// Value is the string of a code. It aliases the dictionary.
func (d *Dict) Value(code int) []byte {
	return d.Bytes[d.Offsets[code]:d.Offsets[code+1]:d.Offsets[code+1]]
}

// IsNull says whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Const {
		i = 0
	}
	i += v.First
	return v.Valid[i>>6]&(1<<(i&63)) == 0
}

// HasNulls says whether some row may be NULL.
func (v *Vector) HasNulls() bool { return v.Valid != nil && v.Nulls != 0 }

// Int is the value of row i of kind Int.
func (v *Vector) Int(i int) int64 {
	if v.Const {
		i = 0
	}
	switch {
	case v.Int64 != nil:
		return v.Int64[i]
	case v.Int32 != nil:
		return v.Base + int64(v.Int32[i])
	case v.Int16 != nil:
		return v.Base + int64(v.Int16[i])
	case v.Int8 != nil:
		return v.Base + int64(v.Int8[i])
	}
	return v.Base
}

// Text is the value of row i of kind String. It aliases the vector.
func (v *Vector) Text(i int) []byte {
	if v.Const {
		i = 0
	}
	switch {
	case v.Dict == nil:
		return v.Bytes[v.Offsets[i]:v.Offsets[i+1]:v.Offsets[i+1]]
	case v.Code8 != nil:
		return v.Dict.Value(int(v.Code8[i]))
	case v.Code16 != nil:
		return v.Dict.Value(int(v.Code16[i]))
	case v.Code32 != nil:
		return v.Dict.Value(int(v.Code32[i]))
	}
	return v.Dict.Value(0)
}

// Slice is rows [from, to) of v, sharing its buffers. Nulls becomes -1 where it is not known.
func (v *Vector) Slice(from, to int) Vector {
	s := *v
	s.Len = to - from
	if v.Const {
		if v.Valid != nil && v.Nulls > 0 {
			s.Nulls = s.Len
		}
		return s
	}
	if v.Valid != nil {
		s.First += from
		if s.Nulls != v.Len {
			s.Nulls = -1
		} else {
			s.Nulls = s.Len
		}
	}
	switch {
	case v.Int8 != nil:
		s.Int8 = v.Int8[from:to]
	case v.Int16 != nil:
		s.Int16 = v.Int16[from:to]
	case v.Int32 != nil:
		s.Int32 = v.Int32[from:to]
	case v.Int64 != nil:
		s.Int64 = v.Int64[from:to]
	case v.Uint64 != nil:
		s.Uint64 = v.Uint64[from:to]
	case v.Float64 != nil:
		s.Float64 = v.Float64[from:to]
	case v.Dec128 != nil:
		s.Dec128 = v.Dec128[from:to]
	case v.Dec256 != nil:
		s.Dec256 = v.Dec256[from:to]
	case v.Code8 != nil:
		s.Code8 = v.Code8[from:to]
	case v.Code16 != nil:
		s.Code16 = v.Code16[from:to]
	case v.Code32 != nil:
		s.Code32 = v.Code32[from:to]
	case v.Offsets != nil:
		s.Offsets = v.Offsets[from : to+1]
	}
	return s
}

// Repeat is the value of a vector of one row n times.
func (v Vector) Repeat(n int) Vector {
	v.Len, v.Const = n, true
	return v
}
