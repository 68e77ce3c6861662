package client

import (
	"math"
	"strconv"
	"strings"
)

// serverDouble spells a DOUBLE (bits 64) or FLOAT (bits 32) as the server sent it: the driver reads
// it into a float64 and gives back Go's spelling, with an exponent from 1e+06 on.
func serverDouble(text []byte, bits int) []byte {
	f, err := strconv.ParseFloat(string(text), bits)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return text
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	n, err := strconv.Atoi(exponent)
	if err != nil || n >= -15 && n < 15 {
		return strconv.AppendFloat(nil, f, 'f', -1, bits)
	}
	return strconv.AppendInt([]byte(digits+"e"), int64(n), 10)
}

// doubleBits is the size of a floating-point type of go-sql-driver/mysql's, 0 for any other type.
func doubleBits(name string) int {
	switch name {
	case "DOUBLE":
		return 64
	case "FLOAT":
		return 32
	}
	return 0
}
