package exec

import (
	"fmt"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// column is a vector with buffers of its own that are used again and again.
type column struct {
	v vector.Vector

	valid   []uint64
	int8s   []int8
	int16s  []int16
	int32s  []int32
	int64s  []int64
	uint64s []uint64
	floats  []float64
	dec128  []decimal128.Num
	dec256  []decimal256.Num
	code8   []uint8
	code16  []uint16
	code32  []uint32
	offsets []uint32
	bytes   []byte
}

// reset makes the column an empty vector of type t and n rows, without NULLs.
func (c *column) reset(t Type, n int) *vector.Vector {
	c.v = vector.Vector{Kind: t.Kind, Scale: t.Scale, Len: n}
	return &c.v
}

// ints is the column as n BIGINTs to be filled in.
func (c *column) ints(n int) []int64 {
	c.reset(Type{Kind: vector.Int}, n)
	c.v.Int64 = grown(&c.int64s, n)
	return c.v.Int64
}

// bools is the column as n truth values to be filled in.
func (c *column) bools(n int) []int8 {
	c.reset(Bool, n)
	c.v.Int8 = grown(&c.int8s, n)
	return c.v.Int8
}

func (c *column) uints(n int) []uint64 {
	c.reset(Type{Kind: vector.Uint}, n)
	c.v.Uint64 = grown(&c.uint64s, n)
	return c.v.Uint64
}

func (c *column) floats64(n int) []float64 {
	c.reset(Type{Kind: vector.Float}, n)
	c.v.Float64 = grown(&c.floats, n)
	return c.v.Float64
}

// nulls gives the column a bitmap; nil: no row is NULL.
func (c *column) setNulls(valid []uint64) {
	c.v.Valid, c.v.First, c.v.Nulls = valid, 0, 0
	if valid != nil {
		c.v.Nulls = -1
	}
}

// nullVector is n NULLs.
func nullVector(t Type, n int) vector.Vector {
	v, err := constVector(Const{T: t, Null: true})
	if err != nil {
		panic(fmt.Sprintf("exec: NULL of kind %d", t.Kind))
	}
	v.Len, v.Nulls = n, n
	return v
}

// gatherText is how much text gather copies at once. Of more, the same long texts over and over in a join or among the keys
// of groups, it makes codes instead: they would not fit offsets, nor the memory.
const gatherText = 64 << 20

// gather makes the column rows sel of v, in that order (which need not ascend).
func (c *column) gather(v *vector.Vector, sel []int32) *vector.Vector {
	n := len(sel)
	out := &c.v
	*out = vector.Vector{Kind: v.Kind, Scale: v.Scale, Len: n, Base: v.Base, Dict: v.Dict}
	if v.Const {
		*out = *v
		out.Len = n
		if out.Nulls != 0 {
			out.Nulls = n
		}
		return out
	}
	if v.Valid != nil && v.Nulls != 0 {
		valid := grown(&c.valid, words(n))
		nulls := 0
		for w := range valid {
			var word uint64
			for b, i := range sel[w<<6 : min(n, w<<6+64)] {
				at := int(i) + v.First
				word |= (v.Valid[at>>6] >> (at & 63) & 1) << b
			}
			valid[w] = word
			nulls += min(64, n-w<<6)
		}
		nulls -= countValid(valid, n)
		out.Nulls = nulls
		if nulls > 0 {
			out.Valid = valid
		}
	}
	switch {
	case v.Int8 != nil:
		out.Int8 = take(&c.int8s, v.Int8, sel)
	case v.Int16 != nil:
		out.Int16 = take(&c.int16s, v.Int16, sel)
	case v.Int32 != nil:
		out.Int32 = take(&c.int32s, v.Int32, sel)
	case v.Int64 != nil:
		out.Int64 = take(&c.int64s, v.Int64, sel)
	case v.Uint64 != nil:
		out.Uint64 = take(&c.uint64s, v.Uint64, sel)
	case v.Float64 != nil:
		out.Float64 = take(&c.floats, v.Float64, sel)
	case v.Dec128 != nil:
		out.Dec128 = take(&c.dec128, v.Dec128, sel)
	case v.Dec256 != nil:
		out.Dec256 = take(&c.dec256, v.Dec256, sel)
	case v.Code8 != nil:
		out.Code8 = take(&c.code8, v.Code8, sel)
	case v.Code16 != nil:
		out.Code16 = take(&c.code16, v.Code16, sel)
	case v.Code32 != nil:
		out.Code32 = take(&c.code32, v.Code32, sel)
	case v.Kind == vector.String && v.Dict == nil:
		if textOf(v, sel) > gatherText {
			out.Dict = &vector.Dict{Offsets: v.Offsets[: v.Len+1 : v.Len+1], Bytes: v.Bytes}
			out.Code32 = grown(&c.code32, n)
			for k, i := range sel {
				out.Code32[k] = uint32(i)
			}
			break
		}
		offsets := append(c.offsets[:0], 0)
		bytes := c.bytes[:0]
		for _, i := range sel {
			if out.Valid == nil || !v.IsNull(int(i)) {
				bytes = append(bytes, v.Bytes[v.Offsets[i]:v.Offsets[i+1]]...)
			}
			offsets = append(offsets, uint32(len(bytes)))
		}
		c.offsets, c.bytes = offsets, bytes
		out.Offsets, out.Bytes = offsets, bytes
	}
	return out
}

func take[T any](buf *[]T, vals []T, sel []int32) []T {
	out := grown(buf, len(sel))
	for k, i := range sel {
		out[k] = vals[i]
	}
	return out
}

// intsOf is v's n values as BIGINTs, in scratch where they are stored otherwise.
func intsOf(v *vector.Vector, n int, scratch *[]int64) []int64 {
	if v.Int64 != nil && !v.Const {
		return v.Int64[:n]
	}
	out := grown(scratch, n)
	switch {
	case v.Const:
		fillWith(out, v.Int(0))
	case v.Int8 != nil:
		widen(out, v.Int8, v.Base)
	case v.Int16 != nil:
		widen(out, v.Int16, v.Base)
	case v.Int32 != nil:
		widen(out, v.Int32, v.Base)
	default:
		fillWith(out, v.Base)
	}
	return out
}

func widen[T int8 | int16 | int32](out []int64, vals []T, base int64) {
	vals = vals[:len(out)]
	for i, x := range vals {
		out[i] = base + int64(x)
	}
}

func fillWith[T any](out []T, x T) {
	for i := range out {
		out[i] = x
	}
}

// plainOf is n values of a type of one width, in scratch when they are one constant.
func plainOf[T any](vals []T, v *vector.Vector, n int, scratch *[]T) []T {
	if !v.Const {
		return vals[:n]
	}
	out := grown(scratch, n)
	fillWith(out, vals[0])
	return out
}

// decOf is the unscaled decimal in row i.
func decOf(v *vector.Vector, i int) wideint.Int256 {
	if v.Const {
		i = 0
	}
	if v.Dec128 != nil {
		return wideint.From128(v.Dec128[i])
	}
	return wideint.From256(v.Dec256[i])
}

// textBuilder gathers texts into a vector.
type textBuilder struct{ c *column }

// texts starts a vector of texts.
func (c *column) texts() textBuilder {
	c.offsets = append(c.offsets[:0], 0)
	c.bytes = c.bytes[:0]
	return textBuilder{c}
}

// end closes the present text, which was appended to c.bytes.
func (b textBuilder) end() error {
	if len(b.c.bytes) > maxText {
		return errText(int64(len(b.c.bytes)))
	}
	b.c.offsets = append(b.c.offsets, uint32(len(b.c.bytes)))
	return nil
}

// done is the vector.
func (b textBuilder) done() *vector.Vector {
	v := b.c.reset(Type{Kind: vector.String}, len(b.c.offsets)-1)
	v.Offsets, v.Bytes = b.c.offsets, b.c.bytes
	return v
}
