package vector

import "math/bits"

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

// SetBits sets n bits from bit to on.
func SetBits(dst []uint64, to, n int) {
	for n > 0 {
		k := min(64-to&63, n)
		dst[to>>6] |= ^uint64(0) >> (64 - k) << (to & 63)
		to, n = to+k, n-k
	}
}
