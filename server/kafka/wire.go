package kafka

import (
	"encoding/binary"
	"unsafe"
)

// decoder reads protocol fields from the front of b. Once a field does not fit,
// bad is set and everything read afterwards is zero, so that a caller checks once.
// Nothing is allocated from a count before the bytes for it are known to exist.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() {
	d.bad = true
	d.b = nil
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) int8() int8 {
	if len(d.b) < 1 {
		d.fail()
		return 0
	}
	v := int8(d.b[0])
	d.b = d.b[1:]
	return v
}

func (d *decoder) int16() int16 {
	if len(d.b) < 2 {
		d.fail()
		return 0
	}
	v := int16(binary.BigEndian.Uint16(d.b))
	d.b = d.b[2:]
	return v
}

func (d *decoder) int32() int32 {
	if len(d.b) < 4 {
		d.fail()
		return 0
	}
	v := int32(binary.BigEndian.Uint32(d.b))
	d.b = d.b[4:]
	return v
}

func (d *decoder) int64() int64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := int64(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

func (d *decoder) uuid() (id [16]byte) {
	copy(id[:], d.take(16))
	return id
}

// uvarint reads an unsigned varint of at most 32 bits.
func (d *decoder) uvarint() uint32 {
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

// bytes reads a nullable byte field; nil is null. It aliases the input.
func (d *decoder) bytes(flexible bool) []byte {
	var n int
	if flexible {
		n = int(d.uvarint()) - 1
	} else {
		n = int(d.int32())
	}
	if d.bad || n == -1 {
		return nil
	}
	return d.take(n)
}

// string reads a nullable string; null is empty. It aliases the input, which
// for request frames is never written to again and lives as long as the string.
func (d *decoder) string(flexible bool) (s string, null bool) {
	var n int
	if flexible {
		n = int(d.uvarint()) - 1
	} else {
		n = int(d.int16())
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

// array reads an array's length; elements take minBytes each at least. Null is -1.
func (d *decoder) array(flexible bool, minBytes int) int {
	var n int
	if flexible {
		n = int(d.uvarint()) - 1
	} else {
		n = int(d.int32())
	}
	if n < -1 || n > len(d.b)/minBytes {
		d.fail()
		return 0
	}
	return n
}

// skipTags reads over tagged fields.
func (d *decoder) skipTags(flexible bool) {
	if !flexible {
		return
	}
	n := d.uvarint()
	if int64(n) > int64(len(d.b)/2) { // a tag and a length each
		d.fail()
		return
	}
	for ; n > 0 && !d.bad; n-- {
		d.uvarint()
		d.take(int(d.uvarint()))
	}
}

// Encoding helpers that append to a slice.

func putInt16(b []byte, v int16) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func putInt32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func putInt64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

func putUvarint(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func putArrayLen(b []byte, n int, flexible bool) []byte {
	if flexible {
		return putUvarint(b, uint32(n+1))
	}
	return putInt32(b, int32(n))
}

func putString(b []byte, s string, flexible bool) []byte {
	if flexible {
		b = putUvarint(b, uint32(len(s)+1))
	} else {
		b = putInt16(b, int16(len(s)))
	}
	return append(b, s...)
}

// putNullableString writes the empty string as null.
func putNullableString(b []byte, s string, flexible bool) []byte {
	if s != "" {
		return putString(b, s, flexible)
	}
	if flexible {
		return append(b, 0)
	}
	return putInt16(b, -1)
}

// putNoTags ends a structure of a flexible version.
func putNoTags(b []byte, flexible bool) []byte {
	if flexible {
		return append(b, 0)
	}
	return b
}
