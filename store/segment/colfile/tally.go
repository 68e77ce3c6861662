package colfile

import (
	"encoding/binary"
	"fmt"

	"millrace/internal/vector"
)

// Tally says how often each value of a column stands in a block. Immutable.
type Tally struct {
	Values vector.Vector // of kind Int or String; each once, NULL too, in the order of their first rows
	Rows   []int64       // by value: how many rows have it
	Firsts []int32       // by value: its first row
}

const (
	// maxTally bounds a tally as encoded, and maxInlineTally what of it stands in the footer, which is read whole.
	maxTally       = 1 << 20
	maxInlineTally = 1 << 10
)

// appendTally appends a tally: how many values there are; whether one of them is NULL, and which; the values but for that; how many rows
// each has, and how far its first row is behind the one of the value before.
func appendTally(dst []byte, y *Tally) []byte {
	v := &y.Values
	dst = binary.AppendUvarint(dst, uint64(v.Len))
	null := 0
	for i := range v.Len {
		if v.IsNull(i) {
			null = i + 1
		}
	}
	dst = binary.AppendUvarint(dst, uint64(null))
	for i := range v.Len {
		switch {
		case i == null-1:
		case v.Kind == vector.String:
			dst = appendBytes(dst, v.Text(i))
		default:
			dst = binary.AppendVarint(dst, v.Int(i))
		}
	}
	last := int32(0)
	for i, n := range y.Rows {
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = binary.AppendUvarint(dst, uint64(y.Firsts[i]-last))
		last = y.Firsts[i]
	}
	return dst
}

// parseTally reads that of a column in a block of rows.
func parseTally(b []byte, c *Column, rows int) (*Tally, error) {
	r := footerReader{in: b}
	n := int(r.uint("values", uint64(min(len(b), rows))))
	null := int(r.uint("NULL", uint64(n))) - 1
	y := &Tally{Rows: make([]int64, n), Firsts: make([]int32, n)}
	v := &y.Values
	v.Kind, v.Len = c.Kind, n
	if null >= 0 {
		v.Valid, v.Nulls = make([]uint64, (n+63)/64), 1
		vector.SetBits(v.Valid, 0, n)
		v.Valid[null>>6] &^= 1 << (null & 63)
	}
	if c.Kind == vector.String {
		v.Offsets, v.Bytes = make([]uint32, n+1), make([]byte, 0, max(0, len(b)-3*n)) // each has a size and two numbers
	} else {
		v.Int64 = make([]int64, n)
	}
	for i := range n {
		switch {
		case c.Kind != vector.String:
			if i != null {
				v.Int64[i] = r.int("value")
			}
		default:
			if i != null {
				v.Bytes = append(v.Bytes, r.bytes("value", uint64(r.left()))...)
			}
			v.Offsets[i+1] = uint32(len(v.Bytes))
		}
	}
	all, last := 0, int32(0)
	for i := range n {
		k := int(r.uint("rows of a value", uint64(rows-all)))
		last += int32(r.uint("first row", uint64(rows-1-int(last))))
		y.Rows[i], y.Firsts[i] = int64(k), last
		if all += k; k == 0 {
			r.fail("rows of a value")
		}
	}
	if all != rows {
		r.fail("rows")
	}
	if r.left() > 0 {
		r.fail("end")
	}
	if r.bad != "" {
		return nil, fmt.Errorf("%w: tally: %s", ErrCorrupt, r.bad)
	}
	return y, nil
}

// Tally of a column of a block; nil when it has none.
func (r *Reader) Tally(block, column int) (*Tally, error) {
	c := &r.Blocks[block].Chunks[column]
	b := c.Tally
	switch {
	case c.TallySize == 0:
		return nil, nil
	case b == nil:
		d := decoders.Get().(*decoder)
		defer d.release()
		d.raw = sized(d.raw, int(c.TallySize))
		b = d.raw
		if err := r.read(b, c.TallyAt, c.TallyCRC); err != nil {
			return nil, err
		}
	}
	y, err := parseTally(b, &r.Columns[column], r.Blocks[block].Rows)
	if err != nil {
		return nil, fmt.Errorf("%s: block %d, column %q: %w", r.path, block, r.Columns[column].Name, err)
	}
	return y, nil
}
