package exec

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Exact integers beyond 64 bits, two's complement: int128 for sums of integers, int256 for sums
// of decimals and for results. 2^64 BIGINTs fit an int128, 10^11 of the largest DECIMAL(65) an
// int256, so sums cannot overflow.

type int128 struct {
	lo uint64
	hi int64
}

func (s *int128) addInt(x int64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, uint64(x), 0)
	s.hi += (x >> 63) + int64(c)
}

func (s *int128) add(o int128) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + int64(c)
}

func (s int128) wide() int256 {
	sign := uint64(s.hi >> 63)
	return int256{s.lo, uint64(s.hi), sign, sign}
}

// int256 is in words from the lowest.
type int256 [4]uint64

func (s *int256) add(o int256) {
	var c uint64
	s[0], c = bits.Add64(s[0], o[0], 0)
	s[1], c = bits.Add64(s[1], o[1], c)
	s[2], c = bits.Add64(s[2], o[2], c)
	s[3], _ = bits.Add64(s[3], o[3], c)
}

func (s *int256) add128(lo uint64, hi int64) {
	var c uint64
	sign := uint64(hi >> 63)
	s[0], c = bits.Add64(s[0], lo, 0)
	s[1], c = bits.Add64(s[1], uint64(hi), c)
	s[2], c = bits.Add64(s[2], sign, c)
	s[3], _ = bits.Add64(s[3], sign, c)
}

func (s int256) negative() bool { return int64(s[3]) < 0 }

func (s int256) neg() int256 {
	var b uint64
	var out int256
	out[0], b = bits.Sub64(0, s[0], 0)
	out[1], b = bits.Sub64(0, s[1], b)
	out[2], b = bits.Sub64(0, s[2], b)
	out[3], _ = bits.Sub64(0, s[3], b)
	return out
}

func (s int256) abs() int256 {
	if s.negative() {
		return s.neg()
	}
	return s
}

func (s int256) cmp(o int256) int {
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

// fits64 says that the value is an int64.
func (s int256) fits64() bool {
	sign := uint64(int64(s[0]) >> 63)
	return s[1] == sign && s[2] == sign && s[3] == sign
}

// fits128 says that the value fits 128 bits.
func (s int256) fits128() bool {
	sign := uint64(int64(s[1]) >> 63)
	return s[2] == sign && s[3] == sign
}

func (s int256) num() decimal256.Num { return decimal256.New(s[3], s[2], s[1], s[0]) }

func (s int256) num128() decimal128.Num { return decimal128.New(int64(s[1]), s[0]) }

func (s int256) big() *big.Int { return s.num().BigInt() }

// from64, from128 and from256 widen.
func from64(x int64) int256 {
	sign := uint64(x >> 63)
	return int256{uint64(x), sign, sign, sign}
}

func from128(n decimal128.Num) int256 {
	return int128{n.LowBits(), n.HighBits()}.wide()
}

func from256(n decimal256.Num) int256 { return int256(n.Array()) }

// fromBig is x when it fits 256 bits.
func fromBig(x *big.Int) (int256, bool) {
	if x.BitLen() > 255 {
		return int256{}, false
	}
	return from256(decimal256.FromBigInt(x)), true
}

// mul is s·o when it fits.
func (s int256) mul(o int256) (int256, bool) {
	if s.fits64() && o.fits64() {
		hi, lo := mulSigned(int64(s[0]), int64(o[0]))
		return int128{lo, hi}.wide(), true
	}
	// Schoolbook on absolute values, 256 × 256 → 256 with a check of what does not fit.
	a, b := s.abs(), o.abs()
	var out int256
	for i := range 4 {
		if a[i] == 0 {
			continue
		}
		var carry uint64
		for j := range 4 {
			if i+j >= 4 {
				if b[j] != 0 || carry != 0 {
					return int256{}, false
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
			return int256{}, false
		}
	}
	if out.negative() {
		return int256{}, false
	}
	if s.negative() != o.negative() {
		out = out.neg()
	}
	return out, true
}

func mulSigned(a, b int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	return int64(h) - (a>>63)&b - (b>>63)&a, l
}

// quoRem divides, truncating; d is not zero. The remainder has the dividend's sign.
func (s int256) quoRem(d int256) (q, r int256) {
	a, b := s.abs(), d.abs()
	switch {
	case b[1]|b[2]|b[3] == 0:
		var rem uint64
		for i := 3; i >= 0; i-- {
			q[i], rem = bits.Div64(rem, a[i], b[0])
		}
		r[0] = rem
	case a.cmp(b) < 0:
		r = a
	default:
		bq, br := new(big.Int).QuoRem(a.big(), b.big(), new(big.Int))
		q, _ = fromBig(bq)
		r, _ = fromBig(br)
	}
	if s.negative() != d.negative() {
		q = q.neg()
	}
	if s.negative() {
		r = r.neg()
	}
	return q, r
}

// quoRound divides, rounding half away from zero.
func (s int256) quoRound(d int256) int256 {
	q, r := s.quoRem(d)
	ar, ad := r.abs(), d.abs()
	// 2r ≥ d, written without overflow: r ≥ d − r
	rest := ad
	rest.add(ar.neg())
	if ar.cmp(rest) >= 0 {
		if s.negative() != d.negative() {
			q.add(from64(-1))
		} else {
			q.add(from64(1))
		}
	}
	return q
}

// powers of ten up to 10^76.
var pow10 = func() (p [77]int256) {
	p[0] = from64(1)
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].mul(from64(10))
	}
	return p
}()

// inDecimal says whether an unscaled result is within a decimal of 128 or 256 bits: 38 or, as
// MySQL's DECIMAL, 65 digits.
func (s int256) inDecimal(wide bool) bool {
	if !wide {
		return s.fits128() && s.abs().cmp(pow10[38]) < 0
	}
	return s.abs().cmp(pow10[65]) < 0
}

// rescale changes the scale by d digits more (or fewer, rounding half away from zero).
func (s int256) rescale(d int32) (int256, bool) {
	switch {
	case d == 0:
		return s, true
	case d > 76 || d < -76:
		return int256{}, s == int256{} || d < 0
	case d > 0:
		return s.mul(pow10[d])
	}
	return s.quoRound(pow10[-d]), true
}

// float is the nearest float of s/10^scale.
func (s int256) float(scale int32) float64 {
	if s.fits64() && scale <= 22 {
		if x := int64(s[0]); x > -(1<<53) && x < 1<<53 {
			return float64(x) / float10[scale] // both exact: one rounding
		}
	}
	f, _ := new(big.Rat).SetFrac(s.big(), pow10[scale].big()).Float64()
	return f
}

var float10 = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// divideBig is a·10^digits/b for what does not fit on the way.
func divideBig(a, b int256, digits int32) (int256, bool) {
	num := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	num.Mul(num, a.big())
	q, r := new(big.Int), new(big.Int)
	q.QuoRem(num, b.big(), r)
	if r.Abs(r).Lsh(r, 1).CmpAbs(b.big()) >= 0 {
		if a.negative() != b.negative() {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return fromBig(q)
}
