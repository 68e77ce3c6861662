package uca

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

var update = flag.Bool("update", false, "write table.go anew")

func TestCharactersExpandToWhatTheyAreTakenFor(t *testing.T) {
	for in, want := range map[string]string{
		"straße": "straSSe", "Ægir œuvre": "AEgir OEuvre", "plain text\t\r\n": "plain text\t\r\n", "": "",
		"äöü é": "äöü é", "a\u0308": "a", "e\u0301\u0323x": "ex", "a\x00b\x7f": "ab", "\u00ad": "",
		"ﬁn": "FIn", "½": "1⁄2", "漢字 한글": "漢字 한글", "a\xffß": "a\xffSS", "\ufffdß": "\ufffdSS",
	} {
		if got := Expand(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTextWithoutExpansionsIsNotCopied(t *testing.T) {
	s := strings.Repeat("A plain line of text, äöü. ", 10)
	if n := testing.AllocsPerRun(100, func() { Expand(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The table is made of the weights of golang.org/x/text, which are those of UCA 6.2: characters
// that came later stand for themselves. So do ideographs, and syllables of Hangul, though those are several letters each.
func TestTheTableIsThatOfTheAlgorithm(t *testing.T) {
	const file = "table.go"
	want := table()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("table.go is not what the weights say: go test ./internal/uca -run TheTable -update")
	}
}

func table() []byte {
	collator := collate.New(language.Und, collate.Loose)
	var buf collate.Buffer
	// The weights of the first level: two bytes each, or three above 0x7fff.
	weights := func(r rune) (out []string) {
		buf.Reset()
		for key := string(collator.KeyFromString(&buf, string(r))); key != ""; {
			n := 2
			if key[0] >= 0x80 {
				n = 3
			}
			out, key = append(out, key[:n]), key[n:]
		}
		return out
	}
	// All but syllables of Hangul and the planes of nothing but ideographs.
	characters := func(yield func(rune) bool) {
		for r := rune(0); r < 0xe0200; r++ {
			if r == 0x20000 {
				r = 0xe0000
			}
			if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) && !unicode.Is(unicode.Hangul, r) && !yield(r) {
				return
			}
		}
	}
	alone := map[string]rune{} // the first character of each weight, but for ideographs none of their radicals
	for r := range characters {
		if w := weights(r); len(w) == 1 {
			if was, known := alone[w[0]]; !known || unicode.Is(unicode.Unified_Ideograph, r) && !unicode.Is(unicode.Unified_Ideograph, was) {
				alone[w[0]] = r
			}
		}
	}
	var b, none bytes.Buffer
	b.WriteString("package uca\n\nimport \"unicode\"\n\n// Made by TestTheTableIsThatOfTheAlgorithm.\n\nvar expansions = [...]expansion{\n")
	var from, to rune = -1, -2 // the range of ignored characters that goes on
	wide := false
	flush := func() {
		if from < 0 {
			return
		}
		if from >= 0x10000 && !wide {
			none.WriteString("},\nR32: []unicode.Range32{\n")
			wide = true
		}
		fmt.Fprintf(&none, "{0x%04x, 0x%04x, 1},\n", from, to)
	}
	for r := range characters {
		switch w := weights(r); len(w) {
		case 0:
			if r != to+1 {
				flush()
				from = r
			}
			to = r
		case 1:
		default:
			s := ""
			for _, x := range w {
				if c, known := alone[x]; known {
					s += string(c)
				} else {
					s = ""
					break
				}
			}
			if s != "" {
				fmt.Fprintf(&b, "{0x%04x, %q},\n", r, s)
			}
		}
	}
	flush()
	b.WriteString("}\n\nvar ignored = &unicode.RangeTable{\nR16: []unicode.Range16{\n")
	b.Write(none.Bytes())
	b.WriteString("},\n}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		panic(err)
	}
	return out
}
