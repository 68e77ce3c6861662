package blobexpand

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// vector is one column under construction. Rows are written by index into memory
// that was zeroed when it was made, so a NULL in a fixed-width column costs
// nothing at all.
type vector struct {
	col  Column
	slot int32

	valid []byte // bitmap
	// One of these, by type.
	bools []byte   // bitmap
	dates []int32  // Date
	words []uint64 // width per row: everything of 8, 16 and 32 bytes
	offs  []int32  // Text, JSON, Binary: rows+1
	data  []byte

	width     int // words per row
	lastBytes int // len(data) at the last take
}

func newVector(c Column, slot int32) vector {
	v := vector{col: c, slot: slot}
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
	return v
}

func (v *vector) variable() bool {
	return v.col.Type.Kind == Text || v.col.Type.Kind == JSON || v.col.Type.Kind == Binary
}

// reserve makes room for rows rows in all.
func (v *vector) reserve(rows int) {
	v.valid = grown(v.valid, (rows+7)/8)
	switch {
	case v.variable():
		if v.offs == nil && v.lastBytes > 0 {
			v.data = make([]byte, 0, v.lastBytes+v.lastBytes/8)
		}
		v.offs = grown(v.offs, rows+1)
	case v.col.Type.Kind == Bool:
		v.bools = grown(v.bools, (rows+7)/8)
	case v.col.Type.Kind == Date:
		v.dates = grown(v.dates, rows)
	default:
		v.words = grown(v.words, rows*v.width)
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

func (v *vector) setValid(r int) { v.valid[r>>3] |= 1 << (r & 7) }

func (v *vector) putWord(r int, x uint64) {
	v.words[r] = x
	v.setValid(r)
}

// putText ends the row's text, which was appended to data.
func (v *vector) putText(r int) {
	v.offs[r+1] = int32(len(v.data))
	v.setValid(r)
}

// putNull is needed for variable-width vectors only.
func (v *vector) putNull(r int) { v.offs[r+1] = v.offs[r] }

// take hands over the rows as an arrow array and starts anew.
func (v *vector) take(rows int) arrow.Array {
	set := 0
	for _, b := range v.valid[:rows/8] {
		set += bits.OnesCount8(b)
	}
	if rows&7 != 0 {
		set += bits.OnesCount8(v.valid[rows/8] & (1<<(rows&7) - 1))
	}
	var validity *memory.Buffer
	if set != rows {
		validity = memory.NewBufferBytes(v.valid[:(rows+7)/8])
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

// putDecimal writes a scaled value in two's complement.
func (v *vector) putDecimal(r int, w wide, neg bool) {
	if neg {
		w.negate()
	}
	copy(v.words[r*v.width:(r+1)*v.width], w[:])
	v.setValid(r)
}

func (v *vector) putFloat(r int, f float64) { v.putWord(r, math.Float64bits(f)) }
