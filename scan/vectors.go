package scan

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

type decimals128 struct{ *array.Decimal128 }

func (d decimals128) decimal(i int) decimal256.Num { return decimal256.FromDecimal128(d.Value(i)) }

type decimals256 struct{ *array.Decimal256 }

func (d decimals256) decimal(i int) decimal256.Num { return d.Value(i) }

// vectorOf views an array in its domain. Only narrow types are copied.
func vectorOf(a arrow.Array) *vector {
	v := &vector{n: a.Len()}
	if a.NullN() > 0 {
		v.nulls = a
	}
	switch a := a.(type) {
	case *array.Int64:
		v.ints = a.Int64Values()
	case *array.Int32:
		v.ints = widen(a.Int32Values())
	case *array.Date32:
		v.ints = widen(a.Date32Values())
	case *array.Timestamp:
		v.ints = asInts(a.TimestampValues())
	case *array.Duration:
		v.ints = asInts(a.DurationValues())
	case *array.Boolean:
		v.ints = make([]int64, a.Len())
		for i := range v.ints {
			if a.Value(i) {
				v.ints[i] = 1
			}
		}
	case *array.Uint64:
		v.uints = a.Uint64Values()
	case *array.Float64:
		v.floats = a.Float64Values()
	case *array.Decimal128:
		v.decimals = decimals128{a}
	case *array.Decimal256:
		v.decimals = decimals256{a}
	case *array.String:
		v.strings = a
	}
	return v
}

func widen[T ~int32](vals []T) []int64 {
	out := make([]int64, len(vals))
	for i, x := range vals {
		out[i] = int64(x)
	}
	return out
}

func asInts[T ~int64](vals []T) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(vals))), len(vals))
}
