package jsonval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// Every kind of byte at every place that the scanners may find it, whatever steps they take.
func TestStringsEndWhereTheyEndAtEveryLength(t *testing.T) {
	inside := []struct {
		text string
		fl   Flags
		bad  int // offset of a fault, or -1
	}{
		{"", 0, -1},
		{`\n`, Escaped, -1},
		{`\"`, Escaped, -1},
		{`\ud83d\ude00`, Escaped, -1},
		{`\ud83d`, Escaped | LoneSurrogate, -1},
		{"é", 0, -1},
		{"\U0001f600", 0, -1},
		{"\x7f", 0, -1},
		{"\x1f", 0, 0},
		{"\x00", 0, 0},
		{"\xff", 0, 0},
		{"é\xc3", 0, 2},
		{`\x`, Escaped, 0},
	}
	for _, c := range inside {
		for before := range 70 {
			for _, after := range []int{0, 1, 7, 8, 31, 32, 33, 64} {
				for _, beyond := range []int{0, 1, 40} {
					for _, start := range []int{0, 3} {
						head := strings.Repeat(`"`, start) + `"` + strings.Repeat("x", before)
						b := []byte(head + c.text + strings.Repeat("y", after) + `"` + strings.Repeat(`z"`, beyond))
						want := start + 1 + before + len(c.text) + after + 1
						if c.bad >= 0 {
							want = ^(len(head) + c.bad)
						}
						end, fl := String(b[:len(b):len(b)], start)
						if end != want || c.bad < 0 && fl != c.fl {
							t.Fatalf("%q from %d ends at %d with %b, want %d with %b", b, start, end, fl, want, c.fl)
						}
						if p := Plain(b, start); p >= 0 && (p != want || fl != 0) {
							t.Fatalf("%q from %d plainly ends at %d, want %d", b, start, p, want)
						}
						if c.bad < 0 {
							open := b[:want-1]
							if end, _ := String(open, start); end != ^len(open) {
								t.Fatalf("%q without its end ends at %d", open, end)
							}
						}
					}
				}
			}
		}
	}
}

func TestNumbersEndWhereTheyEndAtEveryLength(t *testing.T) {
	for whole := range 40 {
		for frac := range 40 {
			for _, exp := range []string{"", "e5", "E-123456789", "e+", "e"} {
				for _, tail := range []string{"", ",", "}     ", "/       ", ":::::::::", "\xff\xff\xff\xff\xff\xff\xff\xff", "a"} {
					text := strings.Repeat("9", whole)
					if frac > 0 {
						text += "." + strings.Repeat("0", frac-1)
					}
					text += exp
					b := []byte("-" + text + tail)
					end, point, fl := Number(b, 0)
					valid := json.Valid([]byte("-" + text))
					if valid != (end >= 0) || valid && end != len(text)+1 {
						t.Fatalf("%q ends at %d", b, end)
					}
					if !valid {
						continue
					}
					if dot := bytes.IndexByte(b, '.'); point != max(dot, 0) || (fl&Fraction != 0) != (dot >= 0) || (fl&Exponent != 0) != (exp != "") {
						t.Fatalf("%q: point %d, flags %b", b, point, fl)
					}
				}
			}
		}
	}
}

func TestShortNumbersAreReadAsStrconvReadsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		digits := make([]byte, r.IntN(MaxShort+1))
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10))
		}
		before := strings.Repeat("8", r.IntN(20))
		b := []byte(before + string(digits) + "77")
		want, _ := strconv.ParseUint("0"+string(digits), 10, 64)
		if got := Short(b, len(before), len(before)+len(digits)); got != want {
			t.Fatalf("%q is %d", digits, got)
		}
	}
	for range 20000 {
		text := fmt.Sprintf("%.*f", r.IntN(17), (r.Float64()-0.5)*math.Pow10(r.IntN(16)))
		before := strings.Repeat(" ", r.IntN(20))
		b := []byte(before + text)
		end, point, _ := Number(b, len(before))
		want, err := strconv.ParseFloat(text, 64)
		if got, ok := ShortDouble(b, len(before), point, end); ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%s is %v", text, got)
		} else if _, exact := Double([]byte(text), 64); ok && !exact {
			t.Fatalf("%s is not exact", text)
		} else if !ok && strings.Count(text, "")-strings.Count(text, ".")-strings.Count(text, "-")-1 <= 15 {
			t.Fatalf("%s is refused", text)
		}
	}
}

func TestLiteralsAreWrongWhereTheyAreWrong(t *testing.T) {
	for _, word := range []string{"true", "false", "null"} {
		for _, tail := range []string{"", ",", "      "} {
			b := []byte(word + tail)
			if end := Literal(b, 0); end != len(word) {
				t.Errorf("%q ends at %d", b, end)
			}
			for i := 1; i < len(word); i++ {
				if end := Literal(b[:i], 0); end != ^i {
					t.Errorf("%q ends at %d", b[:i], end)
				}
				c := bytes.Clone(b)
				c[i] = 'X'
				if end := Literal(c, 0); end != ^i {
					t.Errorf("%q ends at %d", c, end)
				}
			}
		}
	}
}
