package exec

import (
	"math/bits"

	"millrace/internal/vector"
)

// Validity bitmaps here start at bit 0 (vectors may start anywhere in a word) and are nil
// when no row is NULL. Bits behind the last row are unspecified.

func words(n int) int { return (n + 63) >> 6 }

func bitSet(m []uint64, i int) bool { return m[i>>6]&(1<<(i&63)) != 0 }

// validOf is the bitmap of n rows of v, in scratch if it had to be moved.
func validOf(v *vector.Vector, n int, scratch *[]uint64) []uint64 {
	if v.Valid == nil || v.Nulls == 0 {
		return nil
	}
	if v.Const {
		if !v.IsNull(0) {
			return nil
		}
		out := grown(scratch, words(n))
		clear(out)
		return out
	}
	if v.First == 0 {
		return v.Valid[:words(n)]
	}
	out := grown(scratch, words(n))
	at, shift := v.First>>6, v.First&63
	if shift == 0 {
		return v.Valid[at : at+len(out)]
	}
	for i := range out {
		w := v.Valid[at+i] >> shift
		if at+i+1 < len(v.Valid) {
			w |= v.Valid[at+i+1] << (64 - shift)
		}
		out[i] = w
	}
	return out
}

// andValid is the rows that are valid in both, in scratch if neither will do.
func andValid(a, b []uint64, scratch *[]uint64) []uint64 {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := grown(scratch, len(a))
	b = b[:len(a)]
	for i, w := range a {
		out[i] = w & b[i]
	}
	return out
}

// countValid is how many of n rows are valid.
func countValid(m []uint64, n int) int {
	if m == nil {
		return n
	}
	c := 0
	for _, w := range m[:n>>6] {
		c += bits.OnesCount64(w)
	}
	if n&63 != 0 {
		c += bits.OnesCount64(m[n>>6] & (1<<(n&63) - 1))
	}
	return c
}

// setValid sets or clears bit i.
func setValid(m []uint64, i int, valid bool) {
	if valid {
		m[i>>6] |= 1 << (i & 63)
	} else {
		m[i>>6] &^= 1 << (i & 63)
	}
}

// onesOf is a bitmap of n valid rows.
func onesOf(n int, scratch *[]uint64) []uint64 {
	out := grown(scratch, words(n))
	for i := range out {
		out[i] = ^uint64(0)
	}
	return out
}

// grown is n elements of *buf, which is enlarged if need be; their contents are unspecified.
func grown[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n, max(n, min(chunkRows, 2*n)))
	}
	*buf = (*buf)[:n]
	return *buf
}
