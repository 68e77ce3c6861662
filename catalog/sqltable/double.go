package sqltable

import (
	"math"
	"strconv"
)

// Doubles are spelled without an exponent while their first digit is at most so many places before
// or behind the point.
const (
	maxPlacesBefore = 15
	maxZerosBehind  = 14
)

// AppendDouble appends f as MySQL spells a DOUBLE (bits 64) or FLOAT (bits 32): the fewest digits that
// are read back as the same number, without an exponent from 1e-15 up to below 1e15, else with one that has
// neither a plus sign nor leading zeros. What is not finite, which no cell holds, is spelled as Go does.
func AppendDouble(dst []byte, f float64, bits int) []byte {
	if f == 0 {
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.AppendFloat(dst, f, 'g', -1, bits)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	e := len(dst) - 1
	for dst[e] != 'e' {
		e--
	}
	exponent, _ := strconv.Atoi(string(dst[e+1:])) // what AppendFloat wrote is a number
	if exponent >= -maxZerosBehind-1 && exponent < maxPlacesBefore {
		return strconv.AppendFloat(dst[:start], f, 'f', -1, bits)
	}
	return strconv.AppendInt(dst[:e+1], int64(exponent), 10)
}
