package colfile

import (
	"encoding/binary"
)

// compact writes Thrift's compact protocol, as far as Parquet's metadata needs it.
type compact struct {
	b    []byte
	last []int16 // field ids of the open structs
}

// Types of the compact protocol.
const (
	ctTrue   = 1
	ctFalse  = 2
	ctByte   = 3
	ctI16    = 4
	ctI32    = 5
	ctI64    = 6
	ctDouble = 7
	ctBinary = 8
	ctList   = 9
	ctSet    = 10
	ctMap    = 11
	ctStruct = 12
)

func (c *compact) begin() { c.last = append(c.last, 0) }

func (c *compact) end() {
	c.b = append(c.b, 0)
	c.last = c.last[:len(c.last)-1]
}

func (c *compact) field(id int16, t byte) {
	top := &c.last[len(c.last)-1]
	if d := id - *top; d > 0 && d <= 15 {
		c.b = append(c.b, byte(d)<<4|t)
	} else {
		c.b = append(c.b, t)
		c.b = binary.AppendVarint(c.b, int64(id))
	}
	*top = id
}

func (c *compact) boolean(id int16, x bool) {
	if x {
		c.field(id, ctTrue)
	} else {
		c.field(id, ctFalse)
	}
}

func (c *compact) i32(id int16, x int32) {
	c.field(id, ctI32)
	c.b = binary.AppendVarint(c.b, int64(x))
}

func (c *compact) i64(id int16, x int64) {
	c.field(id, ctI64)
	c.b = binary.AppendVarint(c.b, x)
}

func (c *compact) binary(id int16, x []byte) {
	c.field(id, ctBinary)
	c.element(x)
}

func (c *compact) text(id int16, x string) { c.binary(id, []byte(x)) }

// element is a string in a list.
func (c *compact) element(x []byte) {
	c.b = binary.AppendUvarint(c.b, uint64(len(x)))
	c.b = append(c.b, x...)
}

func (c *compact) list(id int16, t byte, n int) {
	c.field(id, ctList)
	if n < 15 {
		c.b = append(c.b, byte(n)<<4|t)
	} else {
		c.b = append(c.b, 0xf0|t)
		c.b = binary.AppendUvarint(c.b, uint64(n))
	}
}

// structure opens a struct as a field.
func (c *compact) structure(id int16) {
	c.field(id, ctStruct)
	c.begin()
}

// empty is a struct without fields.
func (c *compact) empty(id int16) {
	c.structure(id)
	c.end()
}

// compactReader reads what compact writes, within bounds.
type compactReader struct {
	b   []byte
	bad bool
}

func (r *compactReader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *compactReader) varint() int64 {
	x, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *compactReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

func (r *compactReader) skipBytes(n uint64) {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

// fields calls f with each field of a struct; f says whether it read the value.
func (r *compactReader) fields(depth int, f func(id int16, t byte) bool) {
	id := int16(0)
	for !r.bad {
		h := r.byte()
		if h == 0 {
			return
		}
		if d := h >> 4; d != 0 {
			id += int16(d)
		} else {
			id = int16(r.varint())
		}
		if !f(id, h&15) {
			r.skip(h&15, depth)
		}
	}
}

// maxDepth bounds nested values that are skipped.
const maxDepth = 16

func (r *compactReader) skip(t byte, depth int) {
	if depth > maxDepth {
		r.bad = true
		return
	}
	switch t {
	case ctTrue, ctFalse:
	case ctByte:
		r.byte()
	case ctI16, ctI32, ctI64:
		r.varint()
	case ctDouble:
		r.skipBytes(8)
	case ctBinary:
		r.skipBytes(r.uvarint())
	case ctList, ctSet:
		h := r.byte()
		n := uint64(h >> 4)
		if n == 15 {
			n = r.uvarint()
		}
		for ; n > 0 && !r.bad; n-- {
			if e := h & 15; e == ctTrue || e == ctFalse {
				r.byte()
			} else {
				r.skip(e, depth+1)
			}
		}
	case ctStruct:
		r.fields(depth+1, func(int16, byte) bool { return false })
	default:
		r.bad = true
	}
}
