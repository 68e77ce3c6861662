package mysql

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"
)

// jsonPath is a parsed MySQL JSON path. It is followed over the text of a document, which must be
// valid JSON, so that what is found is spelled as it was.
type jsonPath struct {
	legs []pathLeg
	many bool // more than one value may match
}

type pathLeg struct {
	kind     legKind
	name     string // member
	from, to pathIndex
}

type legKind uint8

const (
	legMember     legKind = iota // .name
	legAnyMember                 // .*
	legElement                   // [n]
	legElements                  // [n to m]
	legAnyElement                // [*]
	legAnywhere                  // **
)

// pathIndex is n, or last-n.
type pathIndex struct {
	n    int
	last bool
}

func (i pathIndex) of(length int) int {
	if i.last {
		return length - 1 - i.n
	}
	return i.n
}

// maxPathLegs bounds the work of one path.
const maxPathLegs = 100

func badPath(at int) error {
	return newError(3143, "42000", "Invalid JSON path expression. The error is around character position %d.", at)
}

// parseJSONPath reads $, .name, ."quoted name", .*, [n], [last-n], [n to m], [*] and **.
func parseJSONPath(s string) (*jsonPath, error) {
	p := &jsonPath{}
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '$' {
		return nil, badPath(1)
	}
	i = skipSpace(s, i+1)
	for i < len(s) {
		if len(p.legs) >= maxPathLegs {
			return nil, badPath(i)
		}
		var leg pathLeg
		switch {
		case s[i] == '.':
			i = skipSpace(s, i+1)
			switch {
			case i < len(s) && s[i] == '*':
				leg.kind = legAnyMember
				p.many = true
				i++
			case i < len(s) && s[i] == '"':
				end, _ := jsonval.String([]byte(s), i)
				if end < 0 {
					return nil, badPath(i + 1)
				}
				leg.name = string(jsonval.AppendUnescaped(nil, []byte(s[i+1:end-1])))
				i = end
			default:
				start := i
				for i < len(s) {
					r, n := utf8.DecodeRuneInString(s[i:])
					if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == start || !unicode.IsDigit(r)) {
						break
					}
					i += n
				}
				if i == start {
					return nil, badPath(i + 1)
				}
				leg.name = s[start:i]
			}
		case s[i] == '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return nil, badPath(i + 1)
			}
			inside := strings.TrimSpace(s[i+1 : i+end])
			if !leg.element(inside) {
				return nil, badPath(i + 1)
			}
			p.many = p.many || leg.kind != legElement
			i += end + 1
		case strings.HasPrefix(s[i:], "**"):
			leg.kind = legAnywhere
			p.many = true
			i += 2
		default:
			return nil, badPath(i + 1)
		}
		p.legs = append(p.legs, leg)
		i = skipSpace(s, i)
	}
	if n := len(p.legs); n > 0 && p.legs[n-1].kind == legAnywhere {
		return nil, badPath(len(s)) // ** needs something after it
	}
	return p, nil
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// element reads the inside of [ ].
func (l *pathLeg) element(s string) bool {
	if s == "*" {
		l.kind = legAnyElement
		return true
	}
	fields := strings.Fields(s)
	for i, f := range fields {
		if f == "to" && i > 0 && i < len(fields)-1 {
			l.kind = legElements
			var ok1, ok2 bool
			l.from, ok1 = parseIndex(strings.Join(fields[:i], ""))
			l.to, ok2 = parseIndex(strings.Join(fields[i+1:], ""))
			return ok1 && ok2
		}
	}
	l.kind = legElement
	var ok bool
	l.from, ok = parseIndex(strings.Join(fields, ""))
	return ok
}

func parseIndex(s string) (pathIndex, bool) {
	last := false
	if rest, ok := strings.CutPrefix(s, "last"); ok {
		if rest == "" {
			return pathIndex{last: true}, true
		}
		if rest[0] != '-' {
			return pathIndex{}, false
		}
		last, s = true, rest[1:]
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return pathIndex{n: int(n), last: last}, err == nil
}

// find appends the texts that the path leads to in doc, each once.
func (p *jsonPath) find(doc []byte, out [][]byte) [][]byte {
	start, end := jsonval.Text(doc)
	if end < 0 {
		return out
	}
	return follow(doc[start:end], p.legs, out)
}

func follow(v []byte, legs []pathLeg, out [][]byte) [][]byte {
	if len(legs) == 0 {
		for _, have := range out {
			// ** reaches the same place in several ways.
			if len(have) == len(v) && len(v) > 0 && &have[0] == &v[0] {
				return out
			}
		}
		return append(out, v)
	}
	leg, rest := legs[0], legs[1:]
	switch leg.kind {
	case legMember:
		// Of duplicate members the last one counts.
		var found []byte
		members(v, func(name, value []byte) {
			if memberIs(name, leg.name) {
				found = value
			}
		})
		if found != nil {
			out = follow(found, rest, out)
		}
	case legAnyMember:
		members(v, func(_, value []byte) { out = follow(value, rest, out) })
	case legElement, legElements, legAnyElement:
		out = elements(v, leg, rest, out)
	case legAnywhere:
		out = follow(v, rest, out)
		deeper := func(value []byte) { out = follow(value, legs, out) }
		if v[0] == '{' {
			members(v, func(_, value []byte) { deeper(value) })
		} else {
			items(v, func(_ int, value []byte) { deeper(value) })
		}
	}
	return out
}

func elements(v []byte, leg pathLeg, rest []pathLeg, out [][]byte) [][]byte {
	if v[0] != '[' {
		// A value that is no array counts as an array of itself.
		switch leg.kind {
		case legElement:
			if leg.from.of(1) == 0 {
				return follow(v, rest, out)
			}
		case legElements:
			if leg.from.of(1) <= 0 && leg.to.of(1) >= 0 {
				return follow(v, rest, out)
			}
		}
		return out
	}
	length := 0
	if leg.kind != legAnyElement && (leg.from.last || leg.to.last) {
		items(v, func(int, []byte) { length++ })
	}
	items(v, func(i int, value []byte) {
		switch leg.kind {
		case legElement:
			if i == leg.from.of(length) {
				out = follow(value, rest, out)
			}
		case legElements:
			if i >= leg.from.of(length) && i <= leg.to.of(length) {
				out = follow(value, rest, out)
			}
		default:
			out = follow(value, rest, out)
		}
	})
	return out
}

// members calls fn with the members of an object; name is the inside of its quotes, as spelled.
func members(v []byte, fn func(name, value []byte)) {
	if v[0] != '{' {
		return
	}
	i := jsonval.Space(v, 1)
	for i < len(v) && v[i] != '}' {
		nameEnd, _ := jsonval.String(v, i)
		if nameEnd < 0 {
			return
		}
		name := v[i+1 : nameEnd-1]
		i = jsonval.Space(v, nameEnd)  // at the colon
		start := jsonval.Space(v, i+1) // at the value
		end := jsonval.Skip(v, start, 1)
		if end < 0 {
			return
		}
		fn(name, v[start:end:end])
		i = jsonval.Space(v, end)
		if i < len(v) && v[i] == ',' {
			i = jsonval.Space(v, i+1)
		}
	}
}

// items calls fn with the elements of an array.
func items(v []byte, fn func(i int, value []byte)) {
	if v[0] != '[' {
		return
	}
	i := jsonval.Space(v, 1)
	for n := 0; i < len(v) && v[i] != ']'; n++ {
		end := jsonval.Skip(v, i, 1)
		if end < 0 {
			return
		}
		fn(n, v[i:end:end])
		i = jsonval.Space(v, end)
		if i < len(v) && v[i] == ',' {
			i = jsonval.Space(v, i+1)
		}
	}
}

func memberIs(spelled []byte, name string) bool {
	if bytes.IndexByte(spelled, '\\') < 0 {
		return string(spelled) == name
	}
	return string(jsonval.AppendUnescaped(nil, spelled)) == name
}
