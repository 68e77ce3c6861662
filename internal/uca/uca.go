// Package uca knows which characters the Unicode Collation Algorithm takes for several others, or
// for none, where neither case nor accents count.
package uca

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// expansion is a character and those that it is taken for.
type expansion struct {
	char rune
	to   string
}

// Expand writes every character of s as what it is taken for: ß as SS, æ as AE, ½ as 1⁄2, and
// combining accents and control characters as nothing. Characters of one weight stay as they are,
// so that two texts are equal to the algorithm's first level where their characters' weights are,
// one by one, after this. Text in which nothing changes is returned itself.
func Expand(s string) string {
	first := firstExpanded(s)
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:first])
	for i, r := range s[first:] {
		switch to, expands := lookup(r); {
		case expands:
			b.WriteString(to)
		case r == utf8.RuneError: // perhaps a byte that is no character: it stays what it is
			_, n := utf8.DecodeRuneInString(s[first+i:])
			b.WriteString(s[first+i : first+i+n])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// firstExpanded is where the first character that expands begins; −1: there is none.
func firstExpanded(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && (c < '\t' || c > '\r') || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if _, expands := lookup(r); expands {
			return i
		}
		i += n
	}
	return -1
}

// lookup is what r is taken for; false: for itself.
func lookup(r rune) (to string, expands bool) {
	if r >= 0x3400 && r < 0xa000 { // ideographs
		return "", false
	}
	if i, found := slices.BinarySearchFunc(expansions[:], r, func(e expansion, r rune) int { return int(e.char - r) }); found {
		return expansions[i].to, true
	}
	return "", unicode.Is(ignored, r)
}
