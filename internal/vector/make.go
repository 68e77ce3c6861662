package vector

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// The Of functions make a vector of whole columns, in the narrowest form that holds them.
// valid has a bit per row, set where it is not NULL; nil: no row is. What stands in a NULL's
// slot does not matter. The vector may keep the slices that it was given; callers give them
// away. A column of one value, or of NULLs alone, becomes Const.

// nullsOf counts, and gives up a validity that says nothing.
func nullsOf(valid []uint64, n int) ([]uint64, int) {
	if valid == nil {
		return nil, 0
	}
	nulls := n - CountValid(valid, 0, n)
	if nulls == 0 {
		return nil, 0
	}
	return valid, nulls
}

// Nulls is n rows of NULL.
func Nulls(k Kind, scale int32, n int) Vector {
	v := Vector{Kind: k, Scale: scale, Len: n, Valid: []uint64{0}, Nulls: n, Const: true}
	switch k {
	case Int:
		v.Int64 = []int64{0}
	case Uint:
		v.Uint64 = []uint64{0}
	case Float:
		v.Float64 = []float64{0}
	case Decimal128:
		v.Dec128 = make([]decimal128.Num, 1)
	case Decimal256:
		v.Dec256 = make([]decimal256.Num, 1)
	case String:
		v.Offsets, v.Bytes = []uint32{0, 0}, []byte{}
	}
	return v
}

// OfInts is a vector of kind Int.
func OfInts(values []int64, valid []uint64) Vector {
	n := len(values)
	v := Vector{Kind: Int, Len: n}
	v.Valid, v.Nulls = nullsOf(valid, n)
	if n > 0 && v.Nulls == n {
		return Nulls(Int, 0, n)
	}
	least, most := bounds(values, v.Valid)
	if n > 0 && v.Nulls == 0 && least == most {
		v.Const, v.Int64 = true, []int64{least}
		return v
	}
	width := 0
	v.Base, width = Narrow(least, most)
	switch width {
	case 1:
		v.Int8 = narrowed[int8](values, v.Base)
	case 2:
		v.Int16 = narrowed[int16](values, v.Base)
	case 4:
		v.Int32 = narrowed[int32](values, v.Base)
	default:
		v.Int64 = values
	}
	return v
}

// bounds of the values that are not NULL; 0 and 0 without any.
func bounds(values []int64, valid []uint64) (least, most int64) {
	if len(values) == 0 {
		return 0, 0
	}
	least, most = math.MaxInt64, math.MinInt64
	if valid == nil {
		for _, x := range values {
			least, most = min(least, x), max(most, x)
		}
		return least, most
	}
	for i, x := range values {
		if valid[i>>6]>>(i&63)&1 != 0 {
			least, most = min(least, x), max(most, x)
		}
	}
	return least, most
}

// Narrow chooses the width in bytes of the slots that hold [least, most], and their base:
// 0 where that does, so that slots are values.
func Narrow(least, most int64) (base int64, width int) {
	for _, w := range [...]int{1, 2, 4} {
		half := int64(1) << (8*w - 1)
		switch {
		case least >= -half && most < half:
			return 0, w
		case uint64(most)-uint64(least) >= uint64(2*half):
			continue
		case uint64(most)-uint64(least) < uint64(half):
			return least, w
		}
		return least + half, w // not above most
	}
	return 0, 8
}

func narrowed[T int8 | int16 | int32](values []int64, base int64) []T {
	out := make([]T, len(values))
	for i, x := range values {
		out[i] = T(x - base)
	}
	return out
}

// OfUints is a vector of kind Uint.
func OfUints(values []uint64, valid []uint64) Vector {
	n := len(values)
	v := Vector{Kind: Uint, Len: n, Uint64: values}
	v.Valid, v.Nulls = nullsOf(valid, n)
	if all, only := single(values, v.Nulls); only {
		return all(&v)
	}
	return v
}

// OfFloats is a vector of kind Float.
func OfFloats(values []float64, valid []uint64) Vector {
	n := len(values)
	v := Vector{Kind: Float, Len: n, Float64: values}
	v.Valid, v.Nulls = nullsOf(valid, n)
	if n > 0 && v.Nulls == n {
		return Nulls(Float, 0, n)
	}
	if v.Nulls == 0 && n > 0 {
		first := math.Float64bits(values[0])
		for _, x := range values {
			if math.Float64bits(x) != first {
				return v
			}
		}
		v.Const, v.Float64 = true, []float64{values[0]}
	}
	return v
}

// OfDec128 is a vector of kind Decimal128.
func OfDec128(values []decimal128.Num, scale int32, valid []uint64) Vector {
	v := Vector{Kind: Decimal128, Scale: scale, Len: len(values), Dec128: values}
	v.Valid, v.Nulls = nullsOf(valid, v.Len)
	if all, only := single(values, v.Nulls); only {
		return all(&v)
	}
	return v
}

// OfDec256 is a vector of kind Decimal256.
func OfDec256(values []decimal256.Num, scale int32, valid []uint64) Vector {
	v := Vector{Kind: Decimal256, Scale: scale, Len: len(values), Dec256: values}
	v.Valid, v.Nulls = nullsOf(valid, v.Len)
	if all, only := single(values, v.Nulls); only {
		return all(&v)
	}
	return v
}

// single says whether the rows are all NULL or all of one value, and how v is cut to that.
func single[T comparable](values []T, nulls int) (all func(*Vector) Vector, only bool) {
	if len(values) == 0 {
		return nil, false
	}
	if nulls == len(values) {
		return func(v *Vector) Vector { return Nulls(v.Kind, v.Scale, v.Len) }, true
	}
	if nulls > 0 {
		return nil, false
	}
	for _, x := range values {
		if x != values[0] {
			return nil, false
		}
	}
	return func(v *Vector) Vector {
		n := v.Len
		c := v.Slice(0, 1)
		c.Len, c.Const = n, true
		return c
	}, true
}

// plainTexts is a vector of kind String without a dictionary: text i is bytes[offsets[i]:offsets[i+1]].
func plainTexts(offsets []uint32, bytes []byte, valid []uint64) Vector {
	n := len(offsets) - 1
	v := Vector{Kind: String, Len: n, Offsets: offsets, Bytes: bytes}
	if v.Bytes == nil {
		v.Bytes = []byte{}
	}
	if v.Valid, v.Nulls = nullsOf(valid, n); n > 0 && v.Nulls == n {
		return Nulls(String, 0, n)
	}
	return v
}

// OfCodes is a vector of kind String whose row i is dict's string codes[i]. A NULL's code must be
// within dict too, unless all rows are NULL.
func OfCodes[T uint8 | uint16 | uint32 | int32](codes []T, dict *Dict, valid []uint64) Vector {
	n := len(codes)
	v := Vector{Kind: String, Len: n, Dict: dict}
	if v.Valid, v.Nulls = nullsOf(valid, n); n > 0 && v.Nulls == n {
		return Nulls(String, 0, n)
	}
	if n > 0 && v.Nulls == 0 && dict.Len() == 1 {
		v.Const, v.Code8 = true, []uint8{0}
		return v
	}
	switch count := dict.Len(); {
	case count <= 1<<8:
		v.Code8 = recoded[uint8](codes)
	case count <= 1<<16:
		v.Code16 = recoded[uint16](codes)
	default:
		v.Code32 = recoded[uint32](codes)
	}
	return v
}

func recoded[To uint8 | uint16 | uint32, From uint8 | uint16 | uint32 | int32](codes []From) []To {
	if same, ok := any(codes).([]To); ok {
		return same
	}
	out := make([]To, len(codes))
	for i, c := range codes {
		out[i] = To(c)
	}
	return out
}
