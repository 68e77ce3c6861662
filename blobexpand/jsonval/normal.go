package jsonval

import (
	"bytes"
	"cmp"
	"slices"
)

// AppendNormal appends v as MySQL prints a JSON value: members ordered by the length of their names, then by
// bytes, each name once (the last one wins); a space behind commas and colons; nothing escaped that need not be.
// Numbers stay as they are spelled, so that no digit is lost.
func (v Value) AppendNormal(dst []byte) []byte {
	dst, _ = appendNormal(dst, v, 0)
	return dst
}

// appendNormal appends the value that starts at b[i], which is valid, and says where it ends. It reads b once,
// however deep that is.
func appendNormal(dst, b []byte, i int) ([]byte, int) {
	switch b[i] {
	case '"':
		end, _ := String(b, i)
		return appendString(dst, b[i:end]), end
	case '[':
		dst = append(dst, '[')
		i = Space(b, i+1)
		for n := 0; b[i] != ']'; n++ {
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst, i = appendNormal(dst, b, i)
			if i = Space(b, i); b[i] == ',' {
				i = Space(b, i+1)
			}
		}
		return append(dst, ']'), i + 1
	case '{':
		return appendMembers(dst, b, i)
	}
	end := Skip(b, i, 0)
	return append(dst, b[i:end]...), end
}

// written is a member that stands in a text: `"name": value` from one byte to another.
type written struct {
	name     []byte
	from, to int
	order    int // as it was spelled
}

func appendMembers(dst, b []byte, i int) ([]byte, int) {
	dst = append(dst, '{')
	start := len(dst)
	var all []written
	ordered := true
	i = Space(b, i+1)
	for b[i] != '}' {
		end, _ := String(b, i)
		m := written{name: Value(b[i:end]).text(), order: len(all)}
		if n := len(all); n > 0 {
			ordered = ordered && compareNames(all[n-1].name, m.name) < 0
			dst = append(dst, ", "...)
		}
		m.from = len(dst) - start
		dst = append(appendString(dst, b[i:end]), ": "...)
		dst, i = appendNormal(dst, b, Space(b, Space(b, end)+1))
		m.to = len(dst) - start
		all = append(all, m)
		if i = Space(b, i); b[i] == ',' {
			i = Space(b, i+1)
		}
	}
	if ordered {
		return append(dst, '}'), i + 1
	}
	slices.SortFunc(all, func(a, b written) int {
		return cmp.Or(compareNames(a.name, b.name), b.order-a.order)
	})
	all = slices.CompactFunc(all, func(a, b written) bool { return bytes.Equal(a.name, b.name) })
	was := slices.Clone(dst[start:])
	dst = dst[:start]
	for n, m := range all {
		if n > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, was[m.from:m.to]...)
	}
	return append(dst, '}'), i + 1
}

// compareNames orders names as MySQL keeps them: the shorter first, then by bytes.
func compareNames[S string | []byte](a, b S) int {
	switch {
	case len(a) != len(b):
		return len(a) - len(b)
	case string(a) < string(b):
		return -1
	case string(a) > string(b):
		return 1
	}
	return 0
}

// appendString appends the string that quoted spells; one with half a surrogate pair, which is no text, as it is.
func appendString(dst, quoted []byte) []byte {
	_, fl := String(quoted, 0)
	if fl == 0 || fl&LoneSurrogate != 0 {
		return append(dst, quoted...)
	}
	return AppendQuoted(dst, string(AppendUnescaped(nil, quoted[1:len(quoted)-1])))
}

// AppendPretty appends v as AppendNormal does, with each member and element on a line of its own, two spaces deeper
// for each level. ok is false, and what was appended of no use, once dst would be longer than most bytes.
func (v Value) AppendPretty(dst []byte, most int) (out []byte, ok bool) {
	b := v.AppendNormal(nil)
	depth := 0
	line := func() {
		dst = append(dst, '\n')
		for range depth {
			dst = append(dst, "  "...)
		}
	}
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '"':
			end, _ := String(b, i)
			dst = append(dst, b[i:end]...)
			i = end
			continue
		case '{', '[':
			dst = append(dst, c)
			if b[i+1] == '}' || b[i+1] == ']' {
				i++
				dst = append(dst, b[i])
				break
			}
			depth++
			line()
		case '}', ']':
			depth--
			line()
			dst = append(dst, c)
		case ',':
			dst = append(dst, c)
			line()
			i++ // the space
		default:
			dst = append(dst, c)
		}
		if len(dst) > most {
			return nil, false
		}
		i++
	}
	return dst, len(dst) <= most
}
