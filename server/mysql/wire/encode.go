package wire

import "encoding/binary"

func appendLenEncInt(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
	}
}

func appendLenEncString[T string | []byte](b []byte, s T) []byte {
	return append(appendLenEncInt(b, uint64(len(s))), s...)
}

// reader takes values off a packet; the first that is missing makes bad true and every
// later one zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) u8() byte {
	if v := r.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if v := r.bytes(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if v := r.bytes(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if v := r.bytes(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// nulString reads up to a NUL, or to the end when there is none.
func (r *reader) nulString() string {
	for i, c := range r.b {
		if c == 0 {
			v := string(r.b[:i])
			r.b = r.b[i+1:]
			return v
		}
	}
	v := string(r.b)
	r.b = nil
	return v
}

func (r *reader) lenEncInt() uint64 {
	switch n := r.u8(); n {
	case 0xfc:
		return uint64(r.u16())
	case 0xfd:
		v := r.bytes(3)
		if v == nil {
			return 0
		}
		return uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16
	case 0xfe:
		return r.u64()
	case 0xfb, 0xff:
		r.bad = true
		return 0
	default:
		return uint64(n)
	}
}

func (r *reader) lenEncBytes() []byte {
	n := r.lenEncInt()
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	return r.bytes(int(n))
}
