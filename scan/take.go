package scan

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// take copies the selected rows of a into a new array.
func take(a arrow.Array, sel []int32) arrow.Array {
	mem := memory.DefaultAllocator
	switch a := a.(type) {
	case *array.Int64:
		return takeInto(array.NewInt64Builder(mem), a, sel)
	case *array.Int32:
		return takeInto(array.NewInt32Builder(mem), a, sel)
	case *array.Uint64:
		return takeInto(array.NewUint64Builder(mem), a, sel)
	case *array.Float64:
		return takeInto(array.NewFloat64Builder(mem), a, sel)
	case *array.Date32:
		return takeInto(array.NewDate32Builder(mem), a, sel)
	case *array.Boolean:
		return takeInto(array.NewBooleanBuilder(mem), a, sel)
	case *array.Timestamp:
		return takeInto(array.NewTimestampBuilder(mem, a.DataType().(*arrow.TimestampType)), a, sel)
	case *array.Duration:
		return takeInto(array.NewDurationBuilder(mem, a.DataType().(*arrow.DurationType)), a, sel)
	case *array.Decimal128:
		return takeInto(array.NewDecimal128Builder(mem, a.DataType().(*arrow.Decimal128Type)), a, sel)
	case *array.Decimal256:
		return takeInto(array.NewDecimal256Builder(mem, a.DataType().(*arrow.Decimal256Type)), a, sel)
	case *array.String:
		b := array.NewStringBuilder(mem)
		b.ReserveData(selectedBytes(a, sel))
		return takeInto(b, a, sel)
	case *array.Binary:
		b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
		b.ReserveData(selectedBytes(a, sel))
		return takeInto(b, a, sel)
	}
	panic(fmt.Sprintf("scan: no vector of type %s", a.DataType()))
}

func takeInto[T any](b interface {
	array.Builder
	Append(T)
}, a interface {
	Value(int) T
	IsNull(int) bool
}, sel []int32,
) arrow.Array {
	defer b.Release()
	b.Reserve(len(sel))
	for _, i := range sel {
		if a.IsNull(int(i)) {
			b.AppendNull()
		} else {
			b.Append(a.Value(int(i)))
		}
	}
	return b.NewArray()
}

func selectedBytes(a interface{ ValueLen(int) int }, sel []int32) int {
	n := 0
	for _, i := range sel {
		n += a.ValueLen(int(i))
	}
	return n
}
