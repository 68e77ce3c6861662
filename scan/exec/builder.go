package exec

import (
	"fmt"
	"math"
	"slices"

	"millrace/internal/vector"
	"millrace/scan"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// builder gathers values of one type into a vector of its own memory: integers at full width,
// texts as offsets and bytes.
type builder struct {
	t       Type
	n       int
	nulls   int
	valid   []uint64 // kept from the first NULL on
	ints    []int64
	uints   []uint64
	floats  []float64
	dec128  []decimal128.Num
	dec256  []decimal256.Num
	offsets []uint32
	bytes   []byte
}

// reset empties the builder and sets its type.
func (b *builder) reset(t Type) {
	b.t, b.n, b.nulls = t, 0, 0
	b.valid = b.valid[:0]
	b.ints, b.uints, b.floats = b.ints[:0], b.uints[:0], b.floats[:0]
	b.dec128, b.dec256 = b.dec128[:0], b.dec256[:0]
	b.offsets, b.bytes = append(b.offsets[:0], 0), b.bytes[:0]
}

// mark notes whether the row about to be appended is NULL.
func (b *builder) mark(null bool) {
	if !null && b.nulls == 0 {
		return
	}
	if b.nulls == 0 {
		b.valid = b.valid[:0]
		for range words(b.n) {
			b.valid = append(b.valid, ^uint64(0))
		}
	}
	for len(b.valid) < words(b.n+1) {
		b.valid = append(b.valid, 0)
	}
	setValid(b.valid, b.n, !null)
	if null {
		b.nulls++
	}
}

// append1 appends row i of v.
func (b *builder) append1(v *vector.Vector, i int) {
	null := v.IsNull(i)
	b.mark(null)
	b.n++
	slot := at(v, i)
	switch b.t.Kind {
	case vector.Int:
		b.ints = append(b.ints, v.Int(slot))
	case vector.Uint:
		b.uints = append(b.uints, v.Uint64[slot])
	case vector.Float:
		b.floats = append(b.floats, v.Float64[slot])
	case vector.Decimal128:
		b.dec128 = append(b.dec128, v.Dec128[slot])
	case vector.Decimal256:
		b.dec256 = append(b.dec256, v.Dec256[slot])
	case vector.String:
		if !null {
			b.bytes = append(b.bytes, v.Text(i)...)
		}
		b.offsets = append(b.offsets, uint32(len(b.bytes)))
	}
}

// appendAll appends n rows of v.
func (b *builder) appendAll(v *vector.Vector, n int) {
	for from := 0; from < n; from += chunkRows {
		if from == 0 {
			b.appendRows(v, allRows[:min(n, chunkRows)])
			continue
		}
		s := v.Slice(from, min(n, from+chunkRows))
		b.appendRows(&s, allRows[:s.Len])
	}
}

// appendRows appends the rows that sel lists.
func (b *builder) appendRows(v *vector.Vector, sel []int32) {
	if v.Const || b.t.Kind == vector.String && v.HasNulls() {
		for _, i := range sel {
			b.append1(v, int(i))
		}
		return
	}
	if v.HasNulls() || b.nulls > 0 {
		for _, i := range sel {
			b.mark(v.IsNull(int(i)))
			b.n++
		}
	} else {
		b.n += len(sel)
	}
	switch b.t.Kind {
	case vector.Int:
		switch {
		case v.Int8 != nil:
			b.ints = appendInts(b.ints, v.Int8, v.Base, sel)
		case v.Int16 != nil:
			b.ints = appendInts(b.ints, v.Int16, v.Base, sel)
		case v.Int32 != nil:
			b.ints = appendInts(b.ints, v.Int32, v.Base, sel)
		case v.Int64 != nil:
			b.ints = appendInts(b.ints, v.Int64, 0, sel)
		default:
			for range sel {
				b.ints = append(b.ints, v.Base)
			}
		}
	case vector.Uint:
		b.uints = appendSlots(b.uints, v.Uint64, sel)
	case vector.Float:
		b.floats = appendSlots(b.floats, v.Float64, sel)
	case vector.Decimal128:
		b.dec128 = appendSlots(b.dec128, v.Dec128, sel)
	case vector.Decimal256:
		b.dec256 = appendSlots(b.dec256, v.Dec256, sel)
	case vector.String:
		for _, i := range sel {
			b.bytes = append(b.bytes, v.Text(int(i))...)
			b.offsets = append(b.offsets, uint32(len(b.bytes)))
		}
	}
}

func appendInts[T int8 | int16 | int32 | int64](dst []int64, vals []T, base int64, sel []int32) []int64 {
	dst = slices.Grow(dst, len(sel))
	for _, i := range sel {
		dst = append(dst, base+int64(vals[i]))
	}
	return dst
}

func appendSlots[T any](dst, vals []T, sel []int32) []T {
	dst = slices.Grow(dst, len(sel))
	for _, i := range sel {
		dst = append(dst, vals[i])
	}
	return dst
}

// maxText is the most text that a vector has: offsets have 32 bits.
const maxText = math.MaxUint32

// errText says that a column has more.
func errText(bytes int64) error {
	return fmt.Errorf("%w: a column of %d bytes of text", scan.ErrMemory, bytes)
}

// fits is scan.ErrMemory when more text was appended than a vector has. vector must not be called then.
func (b *builder) fits() error {
	if len(b.bytes) > maxText {
		return errText(int64(len(b.bytes)))
	}
	return nil
}

// vector is what was gathered, valid until the next append or reset.
func (b *builder) vector() vector.Vector {
	v := vector.Vector{Kind: b.t.Kind, Scale: b.t.Scale, Len: b.n, Nulls: b.nulls}
	if b.nulls > 0 {
		v.Valid = b.valid
	}
	switch b.t.Kind {
	case vector.Int:
		v.Int64 = b.ints
	case vector.Uint:
		v.Uint64 = b.uints
	case vector.Float:
		v.Float64 = b.floats
	case vector.Decimal128:
		v.Dec128 = b.dec128
	case vector.Decimal256:
		v.Dec256 = b.dec256
	case vector.String:
		v.Offsets, v.Bytes = b.offsets, b.bytes
	}
	return v
}

// textOf is how many bytes of text the rows that sel lists have: what appending them takes, which may be far more than v
// holds when the rows of a join repeat.
func textOf(v *vector.Vector, sel []int32) int64 {
	if v.Kind != vector.String {
		return 0
	}
	if v.Const {
		return int64(len(v.Text(0))) * int64(len(sel))
	}
	n := int64(0)
	if v.Dict == nil {
		for _, i := range sel {
			n += int64(v.Offsets[i+1] - v.Offsets[i])
		}
		return n
	}
	for _, i := range sel {
		n += int64(len(v.Text(int(i))))
	}
	return n
}

// size is about how many bytes the builder holds.
func (b *builder) size() int64 {
	return int64(cap(b.valid)+cap(b.ints)+cap(b.uints)+cap(b.floats))*8 + int64(cap(b.dec128))*16 +
		int64(cap(b.dec256))*32 + int64(cap(b.offsets))*4 + int64(cap(b.bytes))
}
