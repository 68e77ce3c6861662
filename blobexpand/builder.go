package blobexpand

import (
	"math"
	"math/bits"

	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// builder is one column under construction. Rows are written by index into memory
// that was zeroed when it was made, so a NULL in a fixed-width column costs
// nothing at all.
type builder struct {
	// What every row touches stands together.
	slot  int32
	quick quick
	bits  uint8 // of an integer type
	// shred: the rows become a vector.Vector. Booleans and dates are words then; text is collected
	// in texts, data only holds the text being made.
	shred bool

	valid []uint64 // bitmap
	// One of these, by type.
	words []uint64 // width per row: everything of 8, 16 and 32 bytes
	texts *vector.Texts
	bools []byte  // bitmap
	dates []int32 // Date
	offs  []int32 // Text, JSON, Binary: rows+1
	data  []byte

	col       Column
	width     int // words per row
	lastBytes int // len(data) at the last take
}

func newBuilder(c Column, slot int32) builder {
	v := builder{col: c, slot: slot, bits: c.Type.Bits}
	switch c.Type.Kind {
	case Bool, Date, Text, JSON, Binary:
	case Decimal:
		v.width = 2
		if c.Type.Precision > maxDecimal128 {
			v.width = 4
		}
	default:
		v.width = 1
	}
	v.quick = quickOf(&v)
	return v
}

// shredding turns a new builder into one of vectors.
func (v *builder) shredding() {
	v.shred = true
	switch {
	case v.variable():
		v.texts = &vector.Texts{}
	case v.width == 0:
		v.width = 1
	}
	v.quick = quickOf(v)
}

func (v *builder) variable() bool {
	return v.col.Type.Kind == Text || v.col.Type.Kind == JSON || v.col.Type.Kind == Binary
}

// reserve makes room for rows rows in all.
func (v *builder) reserve(rows int) {
	v.valid = grown(v.valid, (rows+63)/64)
	switch {
	case v.texts != nil:
		v.texts.Reserve(rows)
	case v.variable():
		if v.offs == nil && v.lastBytes > 0 {
			v.data = make([]byte, 0, v.lastBytes+v.lastBytes/8)
		}
		v.offs = grown(v.offs, rows+1)
	case v.width > 0:
		v.words = grown(v.words, rows*v.width)
	case v.col.Type.Kind == Bool:
		v.bools = grown(v.bools, (rows+7)/8)
	default:
		v.dates = grown(v.dates, rows)
	}
}

func grown[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	t := make([]T, n)
	copy(t, s)
	return t
}

func (v *builder) setValid(r int) { v.valid[r>>6] |= 1 << (r & 63) }

func (v *builder) putWord(r int, x uint64) {
	v.words[r] = x
	v.setValid(r)
}

// putText ends the row's text, which was appended to data.
func (v *builder) putText(r int) {
	v.setValid(r)
	if v.texts != nil {
		v.texts.Put(r, v.data)
		v.data = v.data[:0]
		return
	}
	v.offs[r+1] = int32(len(v.data))
}

// putNull is needed for variable-width arrays only.
func (v *builder) putNull(r int) {
	if v.offs != nil {
		v.offs[r+1] = v.offs[r]
	}
}

func (v *builder) putBool(r int, x bool) {
	switch {
	case v.shred && x:
		v.words[r] = 1
	case v.shred:
		v.words[r] = 0
	case x:
		v.bools[r>>3] |= 1 << (r & 7)
	}
	v.setValid(r)
}

func (v *builder) putDate(r int, days int32) {
	if v.shred {
		v.words[r] = uint64(int64(days))
	} else {
		v.dates[r] = days
	}
	v.setValid(r)
}

// take hands over the rows as an arrow array and starts anew.
func (v *builder) take(rows int) arrow.Array {
	set := 0
	for _, w := range v.valid[:rows/64] {
		set += bits.OnesCount64(w)
	}
	if rows&63 != 0 {
		set += bits.OnesCount64(v.valid[rows/64] & (1<<(rows&63) - 1))
	}
	var validity *memory.Buffer
	if set != rows {
		validity = memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(v.valid)[:(rows+7)/8])
	}
	bufs := []*memory.Buffer{validity, nil}
	switch {
	case v.variable():
		bufs[1] = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.offs[:rows+1]))
		bufs = append(bufs, memory.NewBufferBytes(v.data))
		v.lastBytes = len(v.data)
	case v.col.Type.Kind == Bool:
		bufs[1] = memory.NewBufferBytes(v.bools[:(rows+7)/8])
	case v.col.Type.Kind == Date:
		bufs[1] = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.dates[:rows]))
	default:
		bufs[1] = memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(v.words[:rows*v.width]))
	}
	d := array.NewData(ArrowType(v.col.Type), rows, bufs, nil, rows-set, 0)
	defer d.Release()
	v.valid, v.bools, v.dates, v.words, v.offs, v.data = nil, nil, nil, nil, nil, nil
	return array.MakeFromData(d)
}

// takeVector hands over the rows as a vector and starts anew, or, if it is only lent, once reset is called.
func (v *builder) takeVector(rows int, lent bool) (out vector.Vector) {
	valid := v.valid[: (rows+63)/64 : (rows+63)/64]
	words := v.words[:rows*v.width]
	if !lent {
		v.valid = nil
	}
	t := &v.col.Type
	switch {
	case v.texts != nil && lent:
		return v.texts.Lend(rows, valid)
	case v.texts != nil:
		return v.texts.Take(rows, valid)
	case t.Kind == Decimal && v.width == 2:
		out = vector.OfDec128(arrow.Decimal128Traits.CastFromBytes(arrow.Uint64Traits.CastToBytes(words)), int32(t.Scale), valid)
	case t.Kind == Decimal:
		out = vector.OfDec256(arrow.Decimal256Traits.CastFromBytes(arrow.Uint64Traits.CastToBytes(words)), int32(t.Scale), valid)
	case t.Kind == Float64:
		out = vector.OfFloats(arrow.Float64Traits.CastFromBytes(arrow.Uint64Traits.CastToBytes(words)), valid)
	case t.Kind == Uint64:
		out = vector.OfUints(words, valid)
	default:
		out = vector.OfInts(arrow.Int64Traits.CastFromBytes(arrow.Uint64Traits.CastToBytes(words)), valid)
		if len(out.Int64) < 2 && !lent {
			clear(words)
			return out
		}
	}
	if !lent {
		v.words = nil // given away
	}
	return out
}

// reset starts anew after takeVector lent rows rows.
func (v *builder) reset(rows int) {
	clear(v.valid[:(rows+63)/64])
	clear(v.words[:rows*v.width])
	if v.texts != nil {
		v.texts.Reset()
	}
}

// putDecimal writes a scaled value in two's complement.
func (v *builder) putDecimal(r int, w wide, neg bool) {
	if neg {
		w.negate()
	}
	copy(v.words[r*v.width:(r+1)*v.width], w[:])
	v.setValid(r)
}

func (v *builder) putFloat(r int, f float64) { v.putWord(r, math.Float64bits(f)) }
