package sqltable

import (
	"math"
	"strconv"
	"testing"
)

func TestDoublesAreSpelledAsMySQLDoes(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0"},
		{math.Copysign(0, -1), 64, "-0"},
		{1, 64, "1"},
		{0.1, 64, "0.1"},
		{-2.5, 64, "-2.5"},
		{4.94503303000079e+06, 64, "4945033.03000079"},
		{1e10, 64, "10000000000"},
		{12345678.9, 64, "12345678.9"},
		{1e14, 64, "100000000000000"},
		{999999999999999, 64, "999999999999999"},
		{1e15, 64, "1e15"},
		{1234567890123456, 64, "1.234567890123456e15"},
		{-1.5e20, 64, "-1.5e20"},
		{1e-5, 64, "0.00001"},
		{1e-15, 64, "0.000000000000001"},
		{1e-16, 64, "1e-16"},
		{2.5e-16, 64, "2.5e-16"},
		{math.MaxFloat64, 64, "1.7976931348623157e308"},
		{math.SmallestNonzeroFloat64, 64, "5e-324"},
		{float64(float32(0.1)), 32, "0.1"},
		{float64(float32(16777216)), 32, "16777216"},
		{float64(float32(1e20)), 32, "1e20"},
	} {
		got := string(AppendDouble([]byte("x"), c.f, c.bits))
		if got != "x"+c.want {
			t.Errorf("%v: %s, want x%s", c.f, got, c.want)
		}
		back, err := strconv.ParseFloat(c.want, c.bits)
		if err != nil || back != c.f {
			t.Errorf("%s is read back as %v (%v), want %v", c.want, back, err, c.f)
		}
	}
}
