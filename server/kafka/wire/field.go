package wire

import (
	"encoding/binary"
	"unsafe"
)

// Decoder reads protocol fields from the front of some bytes. Once a field does not fit,
// it is bad and everything read afterwards is zero, so that a caller checks once.
// Nothing is allocated from a count before the bytes for it are known to exist.
type Decoder struct {
	b   []byte
	bad bool
}

// NewDecoder reads from b, which it does not change.
func NewDecoder(b []byte) Decoder { return Decoder{b: b} }

// Bad says whether something did not fit.
func (d *Decoder) Bad() bool { return d.bad }

// Done says whether everything was read and fitted.
func (d *Decoder) Done() bool { return !d.bad && len(d.b) == 0 }

func (d *Decoder) fail() {
	d.bad = true
	d.b = nil
}

func (d *Decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *Decoder) Int8() int8 {
	if len(d.b) < 1 {
		d.fail()
		return 0
	}
	v := int8(d.b[0])
	d.b = d.b[1:]
	return v
}

func (d *Decoder) Int16() int16 {
	if len(d.b) < 2 {
		d.fail()
		return 0
	}
	v := int16(binary.BigEndian.Uint16(d.b))
	d.b = d.b[2:]
	return v
}

func (d *Decoder) Int32() int32 {
	if len(d.b) < 4 {
		d.fail()
		return 0
	}
	v := int32(binary.BigEndian.Uint32(d.b))
	d.b = d.b[4:]
	return v
}

func (d *Decoder) Int64() int64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := int64(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

func (d *Decoder) UUID() (id [16]byte) {
	copy(id[:], d.take(16))
	return id
}

// Uvarint reads an unsigned varint of at most 32 bits.
func (d *Decoder) Uvarint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		if len(d.b) == 0 {
			break
		}
		c := d.b[0]
		d.b = d.b[1:]
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	d.fail()
	return 0
}

// Bytes reads a nullable byte field; nil is null. It aliases the input.
func (d *Decoder) Bytes(flexible bool) []byte {
	var n int
	if flexible {
		n = int(d.Uvarint()) - 1
	} else {
		n = int(d.Int32())
	}
	if d.bad || n == -1 {
		return nil
	}
	return d.take(n)
}

// String reads a nullable string; null is empty. It aliases the input, which
// for request frames is never written to again and lives as long as the string.
func (d *Decoder) String(flexible bool) (s string, null bool) {
	var n int
	if flexible {
		n = int(d.Uvarint()) - 1
	} else {
		n = int(d.Int16())
	}
	if d.bad || n == -1 {
		return "", true
	}
	p := d.take(n)
	if len(p) == 0 {
		return "", false
	}
	return unsafe.String(&p[0], len(p)), false
}

// Array reads an array's length; elements take minBytes each at least. Null is -1.
func (d *Decoder) Array(flexible bool, minBytes int) int {
	var n int
	if flexible {
		n = int(d.Uvarint()) - 1
	} else {
		n = int(d.Int32())
	}
	if n < -1 || n > len(d.b)/minBytes {
		d.fail()
		return 0
	}
	return n
}

// SkipTags reads over tagged fields.
func (d *Decoder) SkipTags(flexible bool) {
	if !flexible {
		return
	}
	n := d.Uvarint()
	if int64(n) > int64(len(d.b)/2) { // a tag and a length each
		d.fail()
		return
	}
	for ; n > 0 && !d.bad; n-- {
		d.Uvarint()
		d.take(int(d.Uvarint()))
	}
}

// Encoding helpers that append to a slice.

func PutInt16(b []byte, v int16) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func PutInt32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func PutInt64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

func PutUvarint(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func PutArrayLen(b []byte, n int, flexible bool) []byte {
	if flexible {
		return PutUvarint(b, uint32(n+1))
	}
	return PutInt32(b, int32(n))
}

func PutString(b []byte, s string, flexible bool) []byte {
	if flexible {
		b = PutUvarint(b, uint32(len(s)+1))
	} else {
		b = PutInt16(b, int16(len(s)))
	}
	return append(b, s...)
}

// PutNullableString writes the empty string as null.
func PutNullableString(b []byte, s string, flexible bool) []byte {
	if s != "" {
		return PutString(b, s, flexible)
	}
	if flexible {
		return append(b, 0)
	}
	return PutInt16(b, -1)
}

// PutNoTags ends a structure of a flexible version.
func PutNoTags(b []byte, flexible bool) []byte {
	if flexible {
		return append(b, 0)
	}
	return b
}
