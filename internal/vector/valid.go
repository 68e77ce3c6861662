package vector

import (
	"encoding/binary"
	"math/bits"
)

// words is how many words hold n bits.
func words(n int) int { return (n + 63) >> 6 }

// CountValid is how many of the n bits from bit first on are set.
func CountValid(valid []uint64, first, n int) int {
	if n <= 0 {
		return 0
	}
	set := 0
	from, to := first>>6, (first+n-1)>>6
	for i := from; i <= to; i++ {
		w := valid[i]
		if i == from {
			w &= ^uint64(0) << (first & 63)
		}
		if i == to {
			w &= ^uint64(0) >> (63 - (first+n-1)&63)
		}
		set += bits.OnesCount64(w)
	}
	return set
}

// CountNulls counts v's NULLs where Nulls does not say.
func (v *Vector) CountNulls() int {
	switch {
	case v.Valid == nil:
		return 0
	case v.Nulls >= 0:
		return v.Nulls
	case v.Const:
		if v.IsNull(0) {
			return v.Len
		}
		return 0
	}
	return v.Len - CountValid(v.Valid, v.First, v.Len)
}

// copyBits copies n bits of src from bit from on to dst from bit to on; the other bits of
// dst stay. The ranges of bits lie within the slices.
func copyBits(dst []uint64, to int, src []uint64, from, n int) {
	for n > 0 {
		k := min(64-to&63, n)
		w := src[from>>6] >> (from & 63)
		if have := 64 - from&63; have < k {
			w |= src[from>>6+1] << have
		}
		mask := ^uint64(0) >> (64 - k) << (to & 63)
		dst[to>>6] = dst[to>>6]&^mask | w<<(to&63)&mask
		to, from, n = to+k, from+k, n-k
	}
}

// setBits sets n bits from bit to on.
func setBits(dst []uint64, to, n int) {
	for n > 0 {
		k := min(64-to&63, n)
		dst[to>>6] |= ^uint64(0) >> (64 - k) << (to & 63)
		to, n = to+k, n-k
	}
}

// validOf is v's validity from bit 0 on, as v's rows need it, nil without NULLs: v's own
// words if they begin there, else a copy.
func (v *Vector) validOf() (valid []uint64, nulls int) {
	if nulls = v.CountNulls(); nulls == 0 {
		return nil, 0
	}
	valid = make([]uint64, words(v.Len))
	switch {
	case v.Const: // all of it is NULL
	case v.First == 0:
		return v.Valid[:words(v.Len):words(v.Len)], nulls
	default:
		copyBits(valid, 0, v.Valid, v.First, v.Len)
	}
	return valid, nulls
}

// bytesToWords reads n bits of an Arrow bitmap from bit from on.
func bytesToWords(b []byte, from, n int) []uint64 {
	out := make([]uint64, words(n))
	b = b[from>>3:]
	shift := from & 7
	for i := range out {
		at := i << 3
		var w uint64
		if len(b)-at >= 8 {
			w = binary.LittleEndian.Uint64(b[at:]) >> shift
			if shift > 0 && len(b)-at > 8 {
				w |= uint64(b[at+8]) << (64 - shift)
			}
		} else {
			for k, c := range b[at:] {
				w |= uint64(c) << (8 * k)
			}
			w >>= shift
		}
		out[i] = w
	}
	if n&63 != 0 && len(out) > 0 {
		out[len(out)-1] &= 1<<(n&63) - 1
	}
	return out
}
