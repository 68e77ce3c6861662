package jsonval

import (
	"strconv"
	"unsafe"
)

// Digits is as many significant digits as a Decimal keeps: more than any MySQL
// type holds.
const maxDigits = 80

// Decimal is a number text taken apart: ±0.D1D2…Dn × 10^Exp with D1 and Dn not
// zero. Zero has no digits.
type Decimal struct {
	Neg    bool
	Over   bool  // more than maxDigits significant digits; the rest of them is lost
	N      int   // significant digits
	Exp    int64 // decimal exponent, saturated at about ±10^17
	Digits [maxDigits]byte
}

// Scale is how many digits are needed after the point, IntDigits before it.
func (d *Decimal) Scale() int64 { return max(0, int64(d.N)-d.Exp) }

// IntDigits is how many digits stand before the point (0 for numbers below one).
func (d *Decimal) IntDigits() int64 {
	if d.N == 0 {
		return 0
	}
	return max(0, d.Exp)
}

// Set takes apart a valid number text; a leading '+' and leading zeros are fine too.
func (d *Decimal) Set(text []byte) {
	d.Neg, d.Over, d.N, d.Exp = false, false, 0, 0
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		d.Neg = text[i] == '-'
		i++
	}
	zeros := 0 // pending zeros, written only once a digit follows
	point := false
	var exp int64
loop:
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.':
			point = true
			continue
		case c == 'e' || c == 'E':
			break loop
		}
		if d.N == 0 && !d.Over && c == '0' {
			if point {
				exp--
			}
			continue
		}
		if !point {
			exp++
		}
		if c == '0' {
			zeros++
			continue
		}
		for ; zeros > 0; zeros-- {
			d.put('0')
		}
		d.put(c)
	}
	if i < len(text) {
		i++
		neg := false
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			neg = text[i] == '-'
			i++
		}
		var x int64
		for ; i < len(text); i++ {
			if x < 1e16 {
				x = x*10 + int64(text[i]-'0')
			}
		}
		if neg {
			x = -x
		}
		exp += x
	}
	if d.N == 0 {
		exp = 0
	}
	d.Exp = exp
}

func (d *Decimal) put(c byte) {
	if d.N == maxDigits {
		d.Over = true
		return
	}
	d.Digits[d.N] = c
	d.N++
}

// IsNumber says whether text is a number as people write it in strings: an
// optional sign, digits with an optional point, an optional exponent; leading
// zeros allowed, white space not.
func IsNumber(text []byte) bool {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	from := i
	for i < len(text) && text[i]-'0' < 10 {
		i++
	}
	if i == from {
		return false
	}
	if i < len(text) && text[i] == '.' {
		i++
		from = i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i == from {
			return false
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		from = i
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i == from {
			return false
		}
	}
	return i == len(text)
}

// CompareNumbers compares two number texts by value, exactly: -1, 0, 1. (-0 equals 0;
// exponents beyond ±10^16 compare as if they ended there.)
func CompareNumbers(a, b []byte) int {
	na, nb := numberText(a), numberText(b)
	if na.sign != nb.sign {
		if na.sign < nb.sign {
			return -1
		}
		return 1
	}
	c := 0
	switch {
	case na.sign == 0:
		return 0
	case na.exp != nb.exp:
		c = 1
		if na.exp < nb.exp {
			c = -1
		}
	default:
		for c == 0 {
			da, oka := na.next()
			db, okb := nb.next()
			if !oka && !okb {
				return 0
			}
			c = int(da) - int(db)
		}
		if c > 0 {
			c = 1
		} else {
			c = -1
		}
	}
	return c * na.sign
}

// digitReader walks the significant digits of a number text of any length.
type digitReader struct {
	sign   int
	exp    int64
	digits []byte // from the first significant digit to the end of the mantissa
}

func numberText(t []byte) digitReader {
	r := digitReader{sign: 1}
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		if t[0] == '-' {
			r.sign = -1
		}
		t = t[1:]
	}
	var d Decimal
	d.Set(t)
	if d.N == 0 {
		return digitReader{}
	}
	r.exp = d.Exp
	end := len(t)
	for i, c := range t {
		if c == 'e' || c == 'E' {
			end = i
			break
		}
	}
	t = t[:end]
	for len(t) > 0 && (t[0] == '0' || t[0] == '.') {
		t = t[1:]
	}
	r.digits = t
	return r
}

// next returns the next digit, '0' past the last.
func (r *digitReader) next() (byte, bool) {
	for len(r.digits) > 0 {
		c := r.digits[0]
		r.digits = r.digits[1:]
		if c != '.' {
			return c, true
		}
	}
	return '0', false
}

// Double returns the float64 (float32 for bits 32) nearest to a number text, and
// whether it stands for the same number: whether its shortest round-trip
// spelling has the same value (0.1 does; 9007199254740993 does not).
func Double(text []byte, bits int) (f float64, exact bool) {
	if bits == 64 {
		if f, ok := shortDouble(text); ok {
			return f, true
		}
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), bits)
	if err != nil {
		return f, false
	}
	var buf [32]byte
	return f, CompareNumbers(strconv.AppendFloat(buf[:0], f, 'e', -1, bits), text) == 0
}

var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// ShortDouble is Double of 64 bits of the number b[start:end], which has no exponent and its '.' at
// point (0: none). ok is false where it has more than 15 digits: then ask Double.
func ShortDouble(b []byte, start, point, end int) (f float64, ok bool) {
	neg := b[start] == '-'
	if neg {
		start++
	}
	if point == 0 {
		if end-start > 15 {
			return 0, false
		}
		f = float64(Short(b, start, end))
	} else {
		scale := end - point - 1
		if end-start > 16 {
			return 0, false
		}
		m := Short(b, start, point)*pow10u[scale] + Short(b, point+1, end)
		f = float64(m) / pow10[scale]
	}
	if neg {
		f = -f
	}
	return f, true
}

var pow10u = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortDouble handles up to 15 digits without exponent: mantissa and power of
// ten are exact, so one division rounds correctly, and 15 digits survive the
// round trip.
func shortDouble(text []byte) (float64, bool) {
	i := 0
	neg := false
	if len(text) > 0 && text[0] == '-' {
		neg = true
		i++
	}
	if len(text)-i > 16 {
		return 0, false
	}
	var m uint64
	digits, scale := 0, -1
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c < 10 {
			m = m*10 + uint64(c)
			digits++
			if scale >= 0 {
				scale++
			}
		} else if text[i] == '.' && scale < 0 {
			scale = 0
		} else {
			return 0, false
		}
	}
	if digits > 15 || digits == 0 {
		return 0, false
	}
	f := float64(m)
	if scale > 0 {
		f /= pow10[scale]
	}
	if neg {
		f = -f
	}
	return f, true
}
