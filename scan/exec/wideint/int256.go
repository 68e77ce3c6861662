package wideint

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Int128 is 2^64·Hi + Lo.
type Int128 struct {
	Lo uint64
	Hi int64
}

// AddInt adds x to s.
func (s *Int128) AddInt(x int64) {
	var c uint64
	s.Lo, c = bits.Add64(s.Lo, uint64(x), 0)
	s.Hi += (x >> 63) + int64(c)
}

// Add adds o to s.
func (s *Int128) Add(o Int128) {
	var c uint64
	s.Lo, c = bits.Add64(s.Lo, o.Lo, 0)
	s.Hi += o.Hi + int64(c)
}

// Wide is s as an Int256.
func (s Int128) Wide() Int256 {
	sign := uint64(s.Hi >> 63)
	return Int256{s.Lo, uint64(s.Hi), sign, sign}
}

// Int256 is in words from the lowest.
type Int256 [4]uint64

// Add adds o to s.
func (s *Int256) Add(o Int256) {
	var c uint64
	s[0], c = bits.Add64(s[0], o[0], 0)
	s[1], c = bits.Add64(s[1], o[1], c)
	s[2], c = bits.Add64(s[2], o[2], c)
	s[3], _ = bits.Add64(s[3], o[3], c)
}

// Add128 adds 2^64·hi + lo to s.
func (s *Int256) Add128(lo uint64, hi int64) {
	var c uint64
	sign := uint64(hi >> 63)
	s[0], c = bits.Add64(s[0], lo, 0)
	s[1], c = bits.Add64(s[1], uint64(hi), c)
	s[2], c = bits.Add64(s[2], sign, c)
	s[3], _ = bits.Add64(s[3], sign, c)
}

// Negative says that s is below zero.
func (s Int256) Negative() bool { return int64(s[3]) < 0 }

// Neg is −s.
func (s Int256) Neg() Int256 {
	var b uint64
	var out Int256
	out[0], b = bits.Sub64(0, s[0], 0)
	out[1], b = bits.Sub64(0, s[1], b)
	out[2], b = bits.Sub64(0, s[2], b)
	out[3], _ = bits.Sub64(0, s[3], b)
	return out
}

// Abs is s without its sign.
func (s Int256) Abs() Int256 {
	if s.Negative() {
		return s.Neg()
	}
	return s
}

// Cmp is -1, 0 or 1 where s is less than, equal to or greater than o.
func (s Int256) Cmp(o Int256) int {
	if a, b := int64(s[3]), int64(o[3]); a != b {
		if a < b {
			return -1
		}
		return 1
	}
	for i := 2; i >= 0; i-- {
		if s[i] != o[i] {
			if s[i] < o[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// Fits64 says that the value is an int64.
func (s Int256) Fits64() bool {
	sign := uint64(int64(s[0]) >> 63)
	return s[1] == sign && s[2] == sign && s[3] == sign
}

// Fits128 says that the value fits 128 bits.
func (s Int256) Fits128() bool {
	sign := uint64(int64(s[1]) >> 63)
	return s[2] == sign && s[3] == sign
}

// Num is s as Arrow has it.
func (s Int256) Num() decimal256.Num { return decimal256.New(s[3], s[2], s[1], s[0]) }

// Num128 is s, which Fits128, as Arrow has it.
func (s Int256) Num128() decimal128.Num { return decimal128.New(int64(s[1]), s[0]) }

// Big is s as one of math/big.
func (s Int256) Big() *big.Int { return s.Num().BigInt() }

// From64 is x.
func From64(x int64) Int256 {
	sign := uint64(x >> 63)
	return Int256{uint64(x), sign, sign, sign}
}

// From128 is n.
func From128(n decimal128.Num) Int256 {
	return Int128{n.LowBits(), n.HighBits()}.Wide()
}

// From256 is n.
func From256(n decimal256.Num) Int256 { return Int256(n.Array()) }

// FromBig is x when it fits 256 bits.
func FromBig(x *big.Int) (Int256, bool) {
	if x.BitLen() > 255 {
		return Int256{}, false
	}
	return From256(decimal256.FromBigInt(x)), true
}

// Mul is s·o when it fits.
func (s Int256) Mul(o Int256) (Int256, bool) {
	if s.Fits64() && o.Fits64() {
		hi, lo := MulSigned(int64(s[0]), int64(o[0]))
		return Int128{lo, hi}.Wide(), true
	}
	// Schoolbook on absolute values, 256 × 256 → 256 with a check of what does not fit.
	a, b := s.Abs(), o.Abs()
	var out Int256
	for i := range 4 {
		if a[i] == 0 {
			continue
		}
		var carry uint64
		for j := range 4 {
			if i+j >= 4 {
				if b[j] != 0 || carry != 0 {
					return Int256{}, false
				}
				continue
			}
			hi, lo := bits.Mul64(a[i], b[j])
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			out[i+j], c = bits.Add64(out[i+j], lo, 0)
			carry = hi + c
		}
		if carry != 0 {
			return Int256{}, false
		}
	}
	if out.Negative() {
		return Int256{}, false
	}
	if s.Negative() != o.Negative() {
		out = out.Neg()
	}
	return out, true
}

// MulSigned is a·b, as 2^64·hi + lo.
func MulSigned(a, b int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	return int64(h) - (a>>63)&b - (b>>63)&a, l
}

// QuoRem divides, truncating; d is not zero. The remainder has the dividend's sign.
func (s Int256) QuoRem(d Int256) (q, r Int256) {
	a, b := s.Abs(), d.Abs()
	switch {
	case b[1]|b[2]|b[3] == 0:
		var rem uint64
		for i := 3; i >= 0; i-- {
			q[i], rem = bits.Div64(rem, a[i], b[0])
		}
		r[0] = rem
	case a.Cmp(b) < 0:
		r = a
	default:
		bq, br := new(big.Int).QuoRem(a.Big(), b.Big(), new(big.Int))
		q, _ = FromBig(bq)
		r, _ = FromBig(br)
	}
	if s.Negative() != d.Negative() {
		q = q.Neg()
	}
	if s.Negative() {
		r = r.Neg()
	}
	return q, r
}

// QuoRound divides, rounding half away from zero.
func (s Int256) QuoRound(d Int256) Int256 {
	q, r := s.QuoRem(d)
	ar, ad := r.Abs(), d.Abs()
	// 2r ≥ d, written without overflow: r ≥ d − r
	rest := ad
	rest.Add(ar.Neg())
	if ar.Cmp(rest) >= 0 {
		if s.Negative() != d.Negative() {
			q.Add(From64(-1))
		} else {
			q.Add(From64(1))
		}
	}
	return q
}

// Pow10 are powers of ten up to 10^76.
var Pow10 = func() (p [77]Int256) {
	p[0] = From64(1)
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].Mul(From64(10))
	}
	return p
}()

// InDecimal says whether an unscaled result is within a decimal of 128 or 256 bits: 38 or, as
// MySQL's DECIMAL, 65 digits.
func (s Int256) InDecimal(wide bool) bool {
	if !wide {
		return s.Fits128() && s.Abs().Cmp(Pow10[38]) < 0
	}
	return s.Abs().Cmp(Pow10[65]) < 0
}

// Rescale changes the scale by d digits more (or fewer, rounding half away from zero).
func (s Int256) Rescale(d int32) (Int256, bool) {
	switch {
	case d == 0:
		return s, true
	case d > 76 || d < -76:
		return Int256{}, s == Int256{} || d < 0
	case d > 0:
		return s.Mul(Pow10[d])
	}
	return s.QuoRound(Pow10[-d]), true
}

// Float is the nearest float of s/10^scale.
func (s Int256) Float(scale int32) float64 {
	if s.Fits64() && scale <= 22 {
		if x := int64(s[0]); x > -(1<<53) && x < 1<<53 {
			return float64(x) / float10[scale] // both exact: one rounding
		}
	}
	f, _ := new(big.Rat).SetFrac(s.Big(), Pow10[scale].Big()).Float64()
	return f
}

var float10 = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// DivideBig is a·10^digits/b for what does not fit on the way.
func DivideBig(a, b Int256, digits int32) (Int256, bool) {
	num := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	num.Mul(num, a.Big())
	q, r := new(big.Int), new(big.Int)
	q.QuoRem(num, b.Big(), r)
	if r.Abs(r).Lsh(r, 1).CmpAbs(b.Big()) >= 0 {
		if a.Negative() != b.Negative() {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return FromBig(q)
}
