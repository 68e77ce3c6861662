package vector

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

var (
	// ErrType says that an Arrow type has no vector, or not that one.
	ErrType = errors.New("vector: no such type")
	// ErrTextSize says that a column holds more text than 32-bit offsets reach.
	ErrTextSize = errors.New("vector: too much text for one vector")
)

// Pack copies an Arrow array into a vector in the narrowest form: integers of any width,
// booleans, dates, times and durations as Int, unsigned ones as Uint, floats, decimals, text
// and bytes, also coded by a dictionary. The error wraps ErrType.
func Pack(a arrow.Array) (Vector, error) {
	n := a.Len()
	var valid []uint64
	if a.NullN() > 0 {
		if b := a.NullBitmapBytes(); b != nil {
			valid = bytesToWords(b, a.Data().Offset(), n)
		} else {
			valid = make([]uint64, words(n)) // of type null
		}
	}
	switch a := a.(type) {
	case *array.Null:
		return Nulls(String, 0, n), nil
	case *array.Boolean:
		values := make([]int64, n)
		for i := range values {
			if a.Value(i) {
				values[i] = 1
			}
		}
		return OfInts(values, valid), nil
	case *array.Int8:
		return OfInts(copied[int64](a.Int8Values()), valid), nil
	case *array.Int16:
		return OfInts(copied[int64](a.Int16Values()), valid), nil
	case *array.Int32:
		return OfInts(copied[int64](a.Int32Values()), valid), nil
	case *array.Int64:
		return OfInts(copied[int64](a.Int64Values()), valid), nil
	case *array.Date32:
		return OfInts(copied[int64](a.Date32Values()), valid), nil
	case *array.Timestamp:
		return OfInts(copied[int64](a.TimestampValues()), valid), nil
	case *array.Duration:
		return OfInts(copied[int64](a.DurationValues()), valid), nil
	case *array.Uint8:
		return OfUints(copied[uint64](a.Uint8Values()), valid), nil
	case *array.Uint16:
		return OfUints(copied[uint64](a.Uint16Values()), valid), nil
	case *array.Uint32:
		return OfUints(copied[uint64](a.Uint32Values()), valid), nil
	case *array.Uint64:
		return OfUints(copied[uint64](a.Uint64Values()), valid), nil
	case *array.Float32:
		return OfFloats(copied[float64](a.Float32Values()), valid), nil
	case *array.Float64:
		return OfFloats(copied[float64](a.Float64Values()), valid), nil
	case *array.Decimal128:
		return OfDec128(append([]decimal128.Num{}, a.Values()...), a.DataType().(*arrow.Decimal128Type).Scale, valid), nil
	case *array.Decimal256:
		return OfDec256(append([]decimal256.Num{}, a.Values()...), a.DataType().(*arrow.Decimal256Type).Scale, valid), nil
	case *array.String:
		return packTexts(n, a.Value, valid), nil
	case *array.LargeString:
		return packTexts(n, a.Value, valid), nil
	case *array.Binary:
		return packTexts(n, a.ValueString, valid), nil
	case *array.Dictionary:
		return packCoded(a, valid)
	}
	return Vector{}, fmt.Errorf("%w: %s", ErrType, a.DataType())
}

type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func copied[To, From number](values []From) []To {
	out := make([]To, len(values))
	for i, x := range values {
		out[i] = To(x)
	}
	return out
}

func packTexts(n int, value func(int) string, valid []uint64) Vector {
	var t Texts
	t.Reserve(n)
	var scratch []byte
	for i := range n {
		if valid == nil || valid[i>>6]>>(i&63)&1 != 0 {
			scratch = append(scratch[:0], value(i)...)
			t.Put(i, scratch)
		}
	}
	return t.Take(n, valid)
}

// packCoded keeps the codes; strings that stand in the dictionary twice are no matter here, since
// they are looked up anew.
func packCoded(a *array.Dictionary, valid []uint64) (Vector, error) {
	var text func(int) string
	switch d := a.Dictionary().(type) {
	case *array.String:
		text = d.Value
	case *array.Binary:
		text = d.ValueString
	default:
		return Vector{}, fmt.Errorf("%w: %s", ErrType, a.DataType())
	}
	return packTexts(a.Len(), func(i int) string { return text(a.GetValueIndex(i)) }, valid), nil
}

// maxArrowText is how many bytes an Arrow array of text holds.
const maxArrowText = math.MaxInt32
