package scan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// values holds one value per group, of any vector type.
type values struct {
	typ      arrow.DataType
	ints     []int64
	uints    []uint64
	floats   []float64
	decimals []decimal256.Num
	strings  []string // own memory
	bytes    int64    // of strings
}

func newValues(typ arrow.DataType) *values { return &values{typ: typ} }

func (v *values) add() {
	switch v.typ.ID() {
	case arrow.UINT64:
		v.uints = append(v.uints, 0)
	case arrow.FLOAT64:
		v.floats = append(v.floats, 0)
	case arrow.DECIMAL128, arrow.DECIMAL256:
		v.decimals = append(v.decimals, decimal256.Num{})
	case arrow.STRING:
		v.strings = append(v.strings, "")
	default:
		v.ints = append(v.ints, 0)
	}
}

// keep puts row i of src into slot g if it is the first, or its order against what is
// there has the sign want.
func (v *values) keep(src *vector, i, g int, first bool, want int) {
	switch {
	case src.ints != nil:
		if x := src.ints[i]; first || cmp.Compare(x, v.ints[g]) == want {
			v.ints[g] = x
		}
	case src.uints != nil:
		if x := src.uints[i]; first || cmp.Compare(x, v.uints[g]) == want {
			v.uints[g] = x
		}
	case src.floats != nil:
		if x := src.floats[i]; first || cmp.Compare(x, v.floats[g]) == want {
			v.floats[g] = x
		}
	case src.decimals != nil:
		if x := src.decimals.decimal(i); first || x.Cmp(v.decimals[g]) == want {
			v.decimals[g] = x
		}
	case src.strings != nil:
		if x := src.strings.Value(i); first || strings.Compare(x, v.strings[g]) == want {
			v.bytes += int64(len(x) - len(v.strings[g]))
			v.strings[g] = strings.Clone(x)
		}
	}
}

// array makes a vector of the slots.
func (v *values) array(null func(i int) bool) arrow.Array {
	mem := memory.DefaultAllocator
	switch t := v.typ.(type) {
	case *arrow.Int32Type:
		return fillInto(array.NewInt32Builder(mem), len(v.ints), null, func(i int) int32 { return int32(v.ints[i]) })
	case *arrow.Int64Type:
		return fillInto(array.NewInt64Builder(mem), len(v.ints), null, func(i int) int64 { return v.ints[i] })
	case *arrow.BooleanType:
		return fillInto(array.NewBooleanBuilder(mem), len(v.ints), null, func(i int) bool { return v.ints[i] != 0 })
	case *arrow.Date32Type:
		return fillInto(array.NewDate32Builder(mem), len(v.ints), null, func(i int) arrow.Date32 { return arrow.Date32(v.ints[i]) })
	case *arrow.TimestampType:
		return fillInto(array.NewTimestampBuilder(mem, t), len(v.ints), null, func(i int) arrow.Timestamp { return arrow.Timestamp(v.ints[i]) })
	case *arrow.DurationType:
		return fillInto(array.NewDurationBuilder(mem, t), len(v.ints), null, func(i int) arrow.Duration { return arrow.Duration(v.ints[i]) })
	case *arrow.Uint64Type:
		return fillInto(array.NewUint64Builder(mem), len(v.uints), null, func(i int) uint64 { return v.uints[i] })
	case *arrow.Float64Type:
		return fillInto(array.NewFloat64Builder(mem), len(v.floats), null, func(i int) float64 { return v.floats[i] })
	case *arrow.Decimal128Type:
		return fillInto(array.NewDecimal128Builder(mem, t), len(v.decimals), null, func(i int) decimal128.Num {
			words := v.decimals[i].Array()
			return decimal128.New(int64(words[1]), words[0])
		})
	case *arrow.Decimal256Type:
		return fillInto(array.NewDecimal256Builder(mem, t), len(v.decimals), null, func(i int) decimal256.Num { return v.decimals[i] })
	case *arrow.StringType:
		return fillInto(array.NewStringBuilder(mem), len(v.strings), null, func(i int) string { return v.strings[i] })
	}
	panic(fmt.Sprintf("scan: no aggregate of type %s", v.typ))
}

func fillInto[T any](b interface {
	array.Builder
	Append(T)
}, n int, null func(int) bool, at func(int) T,
) arrow.Array {
	defer b.Release()
	b.Reserve(n)
	for i := range n {
		if null(i) {
			b.AppendNull()
		} else {
			b.Append(at(i))
		}
	}
	return b.NewArray()
}
