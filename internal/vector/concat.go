package vector

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Concat puts vectors of one column (one kind and scale) one after the other, in the narrowest
// form that holds them all. It copies, except that one vector is its own concatenation; none gives
// an empty vector of no kind. The error wraps ErrType or ErrTextSize.
func Concat(vs ...*Vector) (Vector, error) {
	switch len(vs) {
	case 0:
		return Vector{}, nil
	case 1:
		return *vs[0], nil
	}
	n, nulls := 0, 0
	for _, v := range vs {
		if v.Kind != vs[0].Kind || v.Scale != vs[0].Scale {
			return Vector{}, fmt.Errorf("%w: kinds %d and %d in one column", ErrType, vs[0].Kind, v.Kind)
		}
		n += v.Len
		nulls += v.CountNulls()
	}
	var valid []uint64
	if nulls > 0 {
		valid = make([]uint64, words(n))
		at := 0
		for _, v := range vs {
			switch {
			case v.CountNulls() == 0:
				SetBits(valid, at, v.Len)
			case !v.Const:
				copyBits(valid, at, v.Valid, v.First, v.Len)
			}
			at += v.Len
		}
	}
	scale := vs[0].Scale
	switch vs[0].Kind {
	case Int:
		values := make([]int64, n)
		at := 0
		for _, v := range vs {
			part := values[at : at+v.Len : at+v.Len]
			copy(part, v.ints(part))
			at += v.Len
		}
		return OfInts(values, valid), nil
	case Uint:
		return OfUints(joined(vs, n, func(v *Vector) []uint64 { return v.Uint64 }), valid), nil
	case Float:
		return OfFloats(joined(vs, n, func(v *Vector) []float64 { return v.Float64 }), valid), nil
	case Decimal128:
		return OfDec128(joined(vs, n, func(v *Vector) []decimal128.Num { return v.Dec128 }), scale, valid), nil
	case Decimal256:
		return OfDec256(joined(vs, n, func(v *Vector) []decimal256.Num { return v.Dec256 }), scale, valid), nil
	}
	return joinTexts(vs, n, valid)
}

func joined[T any](vs []*Vector, n int, buf func(*Vector) []T) []T {
	out := make([]T, 0, n)
	for _, v := range vs {
		b := buf(v)
		if !v.Const {
			out = append(out, b[:v.Len]...)
			continue
		}
		for range v.Len {
			out = append(out, b[0])
		}
	}
	return out
}

// joinTexts looks up each dictionary's strings once where every vector has one or is NULL
// throughout; a vector without one mixed in makes all of it plain.
func joinTexts(vs []*Vector, n int, valid []uint64) (Vector, error) {
	coded := true
	total := uint64(0)
	for _, v := range vs {
		switch {
		case v.CountNulls() == v.Len:
		case v.Dict == nil:
			coded = false
			if !v.Const {
				total += uint64(v.Offsets[v.Len] - v.Offsets[0])
				continue
			}
			fallthrough
		default:
			for i := range v.Len {
				total += uint64(len(v.Text(i)))
			}
		}
	}
	if coded {
		if out, ok := joinCodes(vs, n, valid); ok {
			return out, nil
		}
	}
	if total > math.MaxUint32 {
		return Vector{}, ErrTextSize
	}
	offsets := make([]uint32, 1, n+1)
	bytes := make([]byte, 0, total)
	for _, v := range vs {
		if v.CountNulls() == v.Len {
			for range v.Len {
				offsets = append(offsets, uint32(len(bytes)))
			}
			continue
		}
		if v.Dict == nil && !v.Const {
			from := v.Offsets[0]
			shift := uint32(len(bytes)) - from
			bytes = append(bytes, v.Bytes[from:v.Offsets[v.Len]]...)
			for _, o := range v.Offsets[1 : v.Len+1] {
				offsets = append(offsets, o+shift)
			}
			continue
		}
		for i := range v.Len {
			bytes = append(bytes, v.Text(i)...)
			offsets = append(offsets, uint32(len(bytes)))
		}
	}
	return plainTexts(offsets, bytes, valid), nil
}

// joinCodes joins the dictionaries; false when they have more than MaxDict strings together.
func joinCodes(vs []*Vector, n int, valid []uint64) (Vector, bool) {
	codeOf := map[string]uint16{}
	dict := &Dict{Offsets: []uint32{0}}
	codes := make([]uint16, 0, n)
	var last *Dict
	var recode []uint16
	for _, v := range vs {
		if v.CountNulls() == v.Len {
			codes = codes[:len(codes)+v.Len] // fresh memory: zeros
			continue
		}
		if v.Dict != last {
			last = v.Dict
			recode = make([]uint16, last.Len())
			for c := range recode {
				s := last.Value(c)
				code, ok := codeOf[string(s)]
				if !ok {
					if len(codeOf) == MaxDict || uint64(len(dict.Bytes))+uint64(len(s)) > math.MaxUint32 {
						return Vector{}, false
					}
					code = uint16(len(codeOf))
					codeOf[string(s)] = code
					dict.Bytes = append(dict.Bytes, s...)
					dict.Offsets = append(dict.Offsets, uint32(len(dict.Bytes)))
				}
				recode[c] = code
			}
		}
		for i := range v.Len {
			codes = append(codes, recode[v.Code(i)])
		}
	}
	if len(codeOf) == 0 { // all NULL
		return Nulls(String, 0, n), true
	}
	return OfCodes(codes, dict, valid), true
}

// Code is row i's place in Dict, of a vector that has one.
func (v *Vector) Code(i int) int {
	if v.Const {
		i = 0
	}
	switch {
	case v.Code8 != nil:
		return int(v.Code8[i])
	case v.Code16 != nil:
		return int(v.Code16[i])
	case v.Code32 != nil:
		return int(v.Code32[i])
	}
	return 0
}

// ints is v's values (kind Int) at 64 bits: the buffer itself where v is not narrow,
// otherwise in dst, made larger if need be.
func (v *Vector) ints(dst []int64) []int64 {
	if v.Int64 != nil && !v.Const {
		return v.Int64
	}
	if cap(dst) < v.Len {
		dst = make([]int64, v.Len)
	}
	dst = dst[:v.Len]
	switch {
	case v.Const || v.Int8 == nil && v.Int16 == nil && v.Int32 == nil:
		x := int64(0)
		if v.Len > 0 {
			x = v.Int(0)
		}
		for i := range dst {
			dst[i] = x
		}
	case v.Int8 != nil:
		widen(dst, v.Int8, v.Base)
	case v.Int16 != nil:
		widen(dst, v.Int16, v.Base)
	default:
		widen(dst, v.Int32, v.Base)
	}
	return dst
}

func widen[T int8 | int16 | int32](dst []int64, src []T, base int64) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = base + int64(x)
	}
}
