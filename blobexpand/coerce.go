package blobexpand

import (
	"math/bits"

	"millrace/blobexpand/jsonval"
)

// parseInt64 reads an integer's text (JSON grammar, or a '+' and leading zeros).
func parseInt64(text []byte) (int64, bool) {
	neg, i := false, 0
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		neg = text[0] == '-'
		i = 1
	}
	if len(text)-i > 19 {
		for i < len(text) && text[i] == '0' {
			i++
		}
		if len(text)-i > 19 {
			return 0, false
		}
	}
	var v uint64
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			return 0, false
		}
		v = v*10 + uint64(c) // 19 digits cannot overflow
	}
	if neg {
		return -int64(v), v <= 1<<63
	}
	return int64(v), v < 1<<63
}

// wide is a 256-bit unsigned integer, lowest limb first.
type wide [4]uint64

// mulAdd sets w to w·m + a.
func (w *wide) mulAdd(m, a uint64) (overflow bool) {
	carry := a
	for i := range w {
		hi, lo := bits.Mul64(w[i], m)
		var c uint64
		w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return carry != 0
}

// negate gives the two's complement.
func (w *wide) negate() {
	carry := uint64(1)
	for i := range w {
		w[i], carry = bits.Add64(^w[i], 0, carry)
	}
}

var pow10u = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// parseScaled reads a number's text as value × 10^scale, which must be an integer
// of at most precision digits (≤ 76).
func parseScaled(text []byte, precision, scale int) (w wide, neg, ok bool) {
	if v, n, ok := shortScaled(text, scale); ok && n <= precision {
		neg = len(text) > 0 && text[0] == '-'
		return wide{v}, neg && v != 0, true
	}
	var d jsonval.Decimal
	d.Set(text)
	if d.N == 0 {
		return w, false, true
	}
	zeros := d.Exp + int64(scale) - int64(d.N) // to write after the digits
	if d.Over || zeros < 0 || d.Exp+int64(scale) > int64(precision) {
		return w, false, false
	}
	for i := 0; i < d.N; {
		var part uint64
		n := min(18, d.N-i)
		for _, c := range d.Digits[i : i+n] {
			part = part*10 + uint64(c-'0')
		}
		w.mulAdd(pow10u[n], part)
		i += n
	}
	for zeros > 0 {
		n := min(18, zeros)
		w.mulAdd(pow10u[n], 0)
		zeros -= n
	}
	return w, d.Neg, true
}

// shortScaled handles up to 18 digits in all, without exponent: the usual case.
// digits is an upper bound of the digits of v.
func shortScaled(text []byte, scale int) (v uint64, digits int, ok bool) {
	i := 0
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		i++
	}
	if len(text)-i > 19 || scale > 18 {
		return 0, 0, false
	}
	point := -1
	first := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			if text[i] != '.' || point >= 0 {
				return 0, 0, false
			}
			point = i
			continue
		}
		v = v*10 + uint64(c)
	}
	digits = len(text) - first
	frac := 0
	if point >= 0 {
		digits--
		frac = len(text) - point - 1
	}
	if digits == 0 || frac > scale || digits+scale-frac > 18 {
		return 0, 0, false
	}
	return v * pow10u[scale-frac], digits + scale - frac, true
}

// int64Scaled is parseScaled for what must fit an int64.
func int64Scaled(text []byte, scale int) (int64, bool) {
	w, neg, ok := parseScaled(text, 20, scale)
	if !ok || w[1]|w[2]|w[3] != 0 {
		return 0, false
	}
	if neg {
		return -int64(w[0]), w[0] <= 1<<63
	}
	return int64(w[0]), w[0] < 1<<63
}

// uint64Of reads a number's text as an unsigned integer.
func uint64Of(text []byte) (uint64, bool) {
	w, neg, ok := parseScaled(text, 20, 0)
	if !ok || neg || w[1]|w[2]|w[3] != 0 {
		return 0, false
	}
	return w[0], true
}
