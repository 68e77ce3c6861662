// Package jsonval reads JSON text in place, exactly: numbers stay text, nothing
// is rounded, nothing is copied unless it has to be unescaped.
//
// The grammar is RFC 8259 to the letter: one value, valid UTF-8, no control
// characters in strings, no bytes after the value, at most MaxDepth levels.
// A \u escape that is half a surrogate pair is grammatical, but names no
// character: it is reported as LoneSurrogate and the caller decides.
package jsonval

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted. Raising
// it costs stack in the recursive readers of validated text.
const MaxDepth = 512

// Flags say what a scanned string or number holds.
type Flags uint8

const (
	Escaped       Flags = 1 << iota // string: has at least one escape
	LoneSurrogate                   // string: a \u escape without its other half
	Fraction                        // number: has a '.'
	Exponent                        // number: has an 'e' or 'E'
)

// The scanners below return the index just past what they read, or, where the
// text is wrong at byte p, ^p (a negative number). That carries the place of an
// error through the hot path without an allocation.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// String scans the string whose opening quote is b[i].
func String(b []byte, i int) (end int, fl Flags) {
	if end = Plain(b, i); end >= 0 {
		return end, 0
	}
	return longString(b, i)
}

// Plain is String for strings of ASCII without escapes that do not end near the end of b; -1: ask
// String. It is small enough to be inlined.
func Plain(b []byte, i int) (end int) {
	return plainString(unsafe.SliceData(b), i+1, len(b))
}

// longString is String in full.
func longString(b []byte, i int) (end int, fl Flags) {
	i++
	for {
		switch {
		case i+32 <= len(b):
			if i = plainRun(unsafe.SliceData(b), i, len(b)); i >= len(b) {
				return ^len(b), fl
			}
			if i+8 > len(b) {
				break
			}
			fallthrough
		case i+8 <= len(b):
			// Eight bytes at a time: a byte of interest is a quote, a
			// backslash, below 0x20 or above 0x7f. Borrows only spoil bytes
			// above the first hit, and only the first is used.
			v := binary.LittleEndian.Uint64(b[i:])
			q := v ^ ones*'"'
			s := v ^ ones*'\\'
			m := ((q-ones)&^q | (s-ones)&^s | (v-ones*0x20)&^v | v) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		case i >= len(b):
			return ^len(b), fl
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, fl
		case c == '\\':
			if i, fl = scanEscape(b, i, fl); i < 0 {
				return i, fl
			}
		case c < 0x20:
			return ^i, fl
		case c < utf8.RuneSelf:
			i++
		default:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				_, n := utf8.DecodeRune(b[i:])
				if n == 1 {
					return ^i, fl
				}
				i += n
			}
		}
	}
}

// scanEscape checks the escape at b[i] == '\\'.
func scanEscape(b []byte, i int, fl Flags) (int, Flags) {
	fl |= Escaped
	if i+1 >= len(b) {
		return ^len(b), fl
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, fl
	case 'u':
		r := hex4(b, i+2)
		if r < 0 {
			return ^i, fl
		}
		if r < 0xd800 || r > 0xdfff {
			return i + 6, fl
		}
		if r < 0xdc00 && i+7 < len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
			if lo := hex4(b, i+8); lo >= 0xdc00 && lo <= 0xdfff {
				return i + 12, fl
			}
		}
		return i + 6, fl | LoneSurrogate
	}
	return ^i, fl
}

// hex4 reads four hexadecimal digits, -1 if they are not.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// zeros is the digit 0 eight times; less them, eight digits are values.
const zeros = ones * '0'

// notDigits has a bit set in the upper half of each byte of x = text ^ zeros that is no
// digit's. Bytes after the first such one may have it or not.
func notDigits(x uint64) uint64 { return (x + ones*6 | x) & (ones * 0xf0) }

// digits returns the first place from i on that is no digit's.
func digits(b []byte, i int) int {
	for i+8 <= len(b) {
		if m := notDigits(binary.LittleEndian.Uint64(b[i:]) ^ zeros); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

// MaxShort is the most digits that Short reads.
const MaxShort = 16

// Short is the number that the digits b[start:end] spell, at most MaxShort of them; none
// spell 0.
func Short(b []byte, start, end int) uint64 {
	n := end - start
	if n <= 8 && end >= 8 {
		return eightDigits((binary.LittleEndian.Uint64(b[end-8:end]) ^ zeros) >> (64 - 8*n) << (64 - 8*n))
	}
	if end >= 16 {
		return eightDigits(binary.LittleEndian.Uint64(b[end-8:end])^zeros) +
			1e8*eightDigits((binary.LittleEndian.Uint64(b[end-16:end-8])^zeros)>>(128-8*n)<<(128-8*n))
	}
	var v uint64
	for _, c := range b[start:end] {
		v = v*10 + uint64(c-'0')
	}
	return v
}

// eightDigits puts values of digits together, first of each two, then of each four, then of all;
// the first digit is the lowest byte.
func eightDigits(v uint64) uint64 {
	v = (v*10 + v>>8) & 0x00ff00ff00ff00ff
	v = (v*100 + v>>16) & 0x0000ffff0000ffff
	return (v*10000 + v>>32) & 0xffffffff
}

// Number scans the number that starts at b[i], a digit or a minus; point is the
// index of its '.', or 0.
func Number(b []byte, i int) (end, point int, fl Flags) {
	if b[i] == '-' {
		i++
	}
	if i >= len(b) {
		return ^len(b), 0, 0
	}
	switch c := b[i]; {
	case c == '0':
		i++
	case c-'1' < 9:
		i = digits(b, i+1)
	default:
		return ^i, 0, 0
	}
	if i >= len(b) {
		return i, 0, 0
	}
	if b[i] == '.' {
		point = i
		fl = Fraction
		i++
		from := i
		if i = digits(b, i); i == from {
			return ^i, 0, 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		fl |= Exponent
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		if i = digits(b, i); i == from {
			return ^i, 0, 0
		}
	}
	return i, point, fl
}

// Literal scans true, false or null at b[i].
func Literal(b []byte, i int) int {
	if i+5 <= len(b) {
		switch v := binary.LittleEndian.Uint32(b[i:]); {
		case v == 'n'|'u'<<8|'l'<<16|'l'<<24, v == 't'|'r'<<8|'u'<<16|'e'<<24:
			return i + 4
		case v == 'f'|'a'<<8|'l'<<16|'s'<<24 && b[i+4] == 'e':
			return i + 5
		}
	}
	return slowLiteral(b, i)
}

// slowLiteral is Literal near the end, and finds the place where one is wrong.
func slowLiteral(b []byte, i int) int {
	want := "null"
	switch b[i] {
	case 't':
		want = "true"
	case 'f':
		want = "false"
	}
	for k := 0; k < len(want); k++ {
		if i+k >= len(b) {
			return ^len(b)
		}
		if b[i+k] != want[k] {
			return ^(i + k)
		}
	}
	return i + len(want)
}

// Space returns the index of the first byte from i on that is not white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Skip scans the value that starts at b[i], validating all of it. depth is how
// many arrays and objects are open around it.
func Skip(b []byte, i, depth int) int {
	if i >= len(b) {
		return ^len(b)
	}
	switch c := b[i]; {
	case c == '"':
		i, _ = String(b, i)
		return i
	case c == '-' || c-'0' < 10:
		i, _, _ = Number(b, i)
		return i
	case c == '{' || c == '[':
		return skipContainer(b, i, depth)
	case c == 't' || c == 'f' || c == 'n':
		return Literal(b, i)
	}
	return ^i
}

// skipContainer is a loop with a bit per open level (set: object), so that depth
// costs no stack.
func skipContainer(b []byte, i, depth int) int {
	var stack [MaxDepth / 64]uint64
	base := depth
	object := false

open:
	if depth >= MaxDepth {
		return ^i
	}
	object = b[i] == '{'
	if object {
		stack[depth>>6] |= 1 << (depth & 63)
	} else {
		stack[depth>>6] &^= 1 << (depth & 63)
	}
	depth++
	if i++; i < len(b) && b[i] <= ' ' {
		i = Space(b, i)
	}
	if i >= len(b) {
		return ^len(b)
	}
	if object {
		if b[i] == '}' {
			goto closed
		}
		goto key
	}
	if b[i] == ']' {
		goto closed
	}
	goto value

key:
	if i >= len(b) || b[i] != '"' {
		return ^i
	}
	if end := Plain(b, i); end >= 0 {
		i = end
	} else if i, _ = longString(b, i); i < 0 {
		return i
	}
	if i < len(b) && b[i] <= ' ' {
		i = Space(b, i)
	}
	if i >= len(b) || b[i] != ':' {
		return ^i
	}
	if i++; i < len(b) && b[i] <= ' ' {
		i = Space(b, i)
	}

value:
	if i >= len(b) {
		return ^len(b)
	}
	switch c := b[i]; {
	case c == '"':
		if end := Plain(b, i); end >= 0 {
			i = end
		} else {
			i, _ = longString(b, i)
		}
	case c-'0' < 10 || c == '-':
		i, _, _ = Number(b, i)
	case c == '{' || c == '[':
		goto open
	case c == 't' || c == 'f' || c == 'n':
		i = Literal(b, i)
	default:
		return ^i
	}
	if i < 0 {
		return i
	}

after:
	if i < len(b) && b[i] <= ' ' {
		i = Space(b, i)
	}
	if i >= len(b) {
		return ^len(b)
	}
	if b[i] == ',' {
		if i++; i < len(b) && b[i] <= ' ' {
			i = Space(b, i)
		}
		if object {
			goto key
		}
		goto value
	}
	if object && b[i] != '}' || !object && b[i] != ']' {
		return ^i
	}

closed:
	i++
	depth--
	if depth == base {
		return i
	}
	object = stack[(depth-1)>>6]>>((depth-1)&63)&1 != 0
	goto after
}

// Text scans b as one JSON text with nothing but white space around the value,
// and returns the value's bounds; a negative end is ^place.
func Text(b []byte) (start, end int) {
	start = Space(b, 0)
	end = Skip(b, start, 0)
	if end < 0 {
		return start, end
	}
	if rest := Space(b, end); rest != len(b) {
		return start, ^rest
	}
	return start, end
}

// Valid says whether b is one JSON text.
func Valid(b []byte) bool {
	_, end := Text(b)
	return end >= 0
}

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // byte
	Found  string // in words
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: found %s", e.Offset, e.Found)
}

// Check returns nil or a *SyntaxError.
func Check(b []byte) error {
	if _, end := Text(b); end < 0 {
		return Explain(b, ^end)
	}
	return nil
}

// Explain words the error at byte p of b.
func Explain(b []byte, p int) *SyntaxError {
	e := &SyntaxError{Offset: p}
	if p >= len(b) {
		e.Found = "its end"
		if len(b) == 0 {
			e.Found = "no bytes"
		}
		return e
	}
	c := b[p]
	r, n := utf8.DecodeRune(b[p:])
	switch {
	case (c == '{' || c == '[') && openBefore(b, p) >= MaxDepth:
		e.Found = fmt.Sprintf("more than %d levels", MaxDepth)
	case r == utf8.RuneError && n == 1:
		e.Found = fmt.Sprintf("byte 0x%02x, which is not UTF-8", c)
	case c < 0x20 || c == 0x7f:
		e.Found = fmt.Sprintf("control character 0x%02x", c)
	default:
		e.Found = fmt.Sprintf("%q", r)
	}
	return e
}

// openBefore counts the levels open at b[p], whose prefix is grammatical.
func openBefore(b []byte, p int) int {
	depth := 0
	for i := 0; i < p; {
		switch b[i] {
		case '"':
			end, _ := String(b, i)
			if end < 0 {
				return 0
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
	}
	return depth
}

// AppendUnescaped appends the text that the inside of a valid JSON string (without
// its quotes) stands for. Half surrogate pairs become U+FFFD.
func AppendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			from := i
			for i < len(s) && s[i] != '\\' {
				i++
			}
			dst = append(dst, s[from:i]...)
			continue
		}
		switch s[i+1] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(s, i+2)
			i += 6
			if r >= 0xd800 && r <= 0xdfff {
				lo := rune(-1)
				if r < 0xdc00 && i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
					lo = hex4(s, i+2)
				}
				if lo >= 0xdc00 && lo <= 0xdfff {
					r = 0x10000 + (r-0xd800)<<10 + (lo - 0xdc00)
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		default: // '"', '\\', '/'
			dst = append(dst, s[i+1])
		}
		i += 2
	}
	return dst
}
