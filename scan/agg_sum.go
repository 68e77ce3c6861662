package scan

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// SumValue is an exact sum, or, over Floats, one in scan order.
type SumValue struct {
	float   float64
	lo      uint64 // 128 bits, two's complement
	hi      int64
	decimal decimal256.Num
	wide    bool
}

// Float is the sum over Floats.
func (s SumValue) Float() float64 { return s.float }

// Int is the sum over Ints and Uints; over Decimals it is unscaled, at the column's
// scale.
func (s SumValue) Int() *big.Int {
	if s.wide {
		return s.decimal.BigInt()
	}
	v := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(s.lo))
}

// add cannot overflow: 128 bits hold 2^64 times the largest BIGINT, 256 bits 10^11
// times the largest DECIMAL(65).
func (s *SumValue) add(v *vector, i int) {
	var carry uint64
	switch {
	case v.ints != nil:
		x := v.ints[i]
		s.lo, carry = bits.Add64(s.lo, uint64(x), 0)
		s.hi += (x >> 63) + int64(carry)
	case v.uints != nil:
		s.lo, carry = bits.Add64(s.lo, v.uints[i], 0)
		s.hi += int64(carry)
	case v.floats != nil:
		s.float += v.floats[i]
	case v.decimals != nil:
		s.wide = true
		s.decimal = s.decimal.Add(v.decimals.decimal(i))
	}
}
