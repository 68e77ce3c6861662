package blobexpand

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxNameRunes is MySQL's longest identifier, in characters.
const MaxNameRunes = 64

// hashMark and the hash digits end a name that was cut.
const hashDigits = 12

// nameFor gives the column at path a name nobody has, and takes it.
func (in *Inference) nameFor(path []string) string {
	name := freeName(PathName(path), in.taken)
	in.taken[fold(name)] = true
	return name
}

// PathName is the name of the column at path, if no other has it: its members with
// dots between, where '~' inside a member is written ~0, '.' ~1, and an empty
// member ~e; if longer than MaxNameRunes, cut, '~' and a hash of the path added.
func PathName(path []string) string {
	var s strings.Builder
	for i, p := range path {
		if i > 0 {
			s.WriteByte('.')
		}
		if p == "" {
			s.WriteString("~e")
		}
		for j := 0; j < len(p); j++ {
			switch p[j] {
			case '~':
				s.WriteString("~0")
			case '.':
				s.WriteString("~1")
			default:
				s.WriteByte(p[j])
			}
		}
	}
	name := s.String()
	if utf8.RuneCountInString(name) <= MaxNameRunes {
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return cutRunes(name, MaxNameRunes-1-hashDigits) + fmt.Sprintf("~%0*x", hashDigits, h.Sum64()>>(64-4*hashDigits))
}

// freeName returns name, or name with ~2, ~3 … so that no name in taken equals it
// ignoring case.
func freeName(name string, taken map[string]bool) string {
	if !taken[fold(name)] {
		return name
	}
	for n := 2; ; n++ {
		suffix := "~" + strconv.Itoa(n)
		try := cutRunes(name, MaxNameRunes-len(suffix)) + suffix
		if !taken[fold(try)] {
			return try
		}
	}
}

// cutRunes returns the first n characters of s.
func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
