package jsonval

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
)

// Value is the text of one valid JSON value, no white space around it. Its methods
// never fail because of the grammar: only Parse and other values make Values.
type Value []byte

// Parse checks that b is one JSON text and returns its value, which aliases b.
// The error is a *SyntaxError.
func Parse(b []byte) (Value, error) {
	start, end := Text(b)
	if end < 0 {
		return nil, Explain(b, ^end)
	}
	return Value(b[start:end:end]), nil
}

// Kind of a value.
type Kind uint8

const (
	Null Kind = iota
	NumberKind
	StringKind
	Object
	Array
	Bool
)

// Kind of v.
func (v Value) Kind() Kind {
	switch v[0] {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return StringKind
	case '{':
		return Object
	case '[':
		return Array
	}
	return NumberKind
}

// Type is MySQL's JSON_TYPE: NULL, BOOLEAN, STRING, OBJECT, ARRAY, and of numbers
// INTEGER (fits BIGINT), UNSIGNED INTEGER (fits BIGINT UNSIGNED), DECIMAL (a larger
// integer: kept exactly here), DOUBLE (spelled with a point or an exponent).
func (v Value) Type() string {
	switch v.Kind() {
	case Null:
		return "NULL"
	case Bool:
		return "BOOLEAN"
	case StringKind:
		return "STRING"
	case Object:
		return "OBJECT"
	case Array:
		return "ARRAY"
	}
	if _, _, fl := Number(v, 0); fl != 0 {
		return "DOUBLE"
	}
	if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return "INTEGER"
	}
	if _, err := strconv.ParseUint(string(v), 10, 64); err == nil {
		return "UNSIGNED INTEGER"
	}
	return "DECIMAL"
}

// ErrLoneSurrogate says that a string holds half of a surrogate pair, which is no
// character.
var ErrLoneSurrogate = errors.New("JSON string holds half a surrogate pair")

// Unquote is MySQL's JSON_UNQUOTE: a string's characters, any other value's text as
// spelled. With ErrLoneSurrogate the text is still returned, U+FFFD in the place
// of what is no character. The result may alias v.
func (v Value) Unquote() ([]byte, error) {
	if v[0] != '"' {
		return v, nil
	}
	_, fl := String(v, 0)
	inside := v[1 : len(v)-1]
	switch {
	case fl == 0:
		return inside, nil
	case fl&LoneSurrogate != 0:
		return AppendUnescaped(nil, inside), ErrLoneSurrogate
	}
	return AppendUnescaped(nil, inside), nil
}

// text of a string for comparisons.
func (v Value) text() []byte {
	b, _ := v.Unquote()
	return b
}

// Length is MySQL's JSON_LENGTH: elements of an array, members of an object (each
// name once), 1 for a scalar.
func (v Value) Length() int {
	n := 0
	switch v.Kind() {
	case Array:
		v.EachElement(func(Value) bool { n++; return true })
	case Object:
		n = len(v.Members())
	default:
		n = 1
	}
	return n
}

// Depth is MySQL's JSON_DEPTH: 1 for scalars and empty containers.
func (v Value) Depth() int {
	most, open := 0, 0
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			i, _ = String(v, i)
			most = max(most, open+1)
			continue
		case '{', '[':
			open++
			most = max(most, open)
		case '}', ']':
			open--
		case ' ', '\n', '\t', '\r', ',', ':':
		default:
			most = max(most, open+1)
		}
		i++
	}
	return most
}

// EachElement calls fn with the elements of an array until it returns false.
func (v Value) EachElement(fn func(Value) bool) {
	i := Space(v, 1)
	for v[i] != ']' {
		end := Skip(v, i, 0)
		if !fn(v[i:end:end]) {
			return
		}
		if i = Space(v, end); v[i] == ',' {
			i = Space(v, i+1)
		}
	}
}

// Member is one member of an object.
type Member struct {
	Key   Value // a string, as spelled
	Value Value
}

// Name is the member's name, unescaped.
func (m Member) Name() string { return string(m.Key.text()) }

// EachMember calls fn with the members of an object as spelled, duplicates
// included, until it returns false.
func (v Value) EachMember(fn func(Member) bool) {
	i := Space(v, 1)
	for v[i] != '}' {
		keyEnd, _ := String(v, i)
		start := Space(v, Space(v, keyEnd)+1)
		end := Skip(v, start, 0)
		if !fn(Member{Key: v[i:keyEnd:keyEnd], Value: v[start:end:end]}) {
			return
		}
		if i = Space(v, end); v[i] == ',' {
			i = Space(v, i+1)
		}
	}
}

// Members of an object, each name once: the last one wins, at its own place.
func (v Value) Members() []Member {
	var all []Member
	v.EachMember(func(m Member) bool {
		all = append(all, m)
		return true
	})
	last := make(map[string]int, len(all))
	for i, m := range all {
		last[string(m.Key.text())] = i
	}
	if len(last) == len(all) {
		return all
	}
	out := all[:0]
	for i, m := range all {
		if last[string(m.Key.text())] == i {
			out = append(out, m)
		}
	}
	return out
}

// Member returns the member of that name of an object (the last one, if it stands
// there twice).
func (v Value) Member(name string) (found Value, ok bool) {
	v.EachMember(func(m Member) bool {
		inside := m.Key[1 : len(m.Key)-1]
		if bytes.IndexByte(inside, '\\') >= 0 {
			inside = m.Key.text()
		}
		if string(inside) == name {
			found, ok = m.Value, true
		}
		return true
	})
	return found, ok
}

// Keys is MySQL's JSON_KEYS as JSON text: an array of the members' names in the order
// in which MySQL keeps them, by length, then by bytes.
func (v Value) Keys() Value {
	members := v.Members()
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name()
	}
	slices.SortFunc(names, compareNames[string])
	out := []byte{'['}
	for i, n := range names {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = AppendQuoted(out, n)
	}
	return append(out, ']')
}

// rank orders kinds as MySQL does: NULL < numbers < strings < objects < arrays <
// booleans.
func (v Value) rank() int { return int(v.Kind()) }

// Compare orders two values as MySQL does, numbers by exact value, strings by
// bytes, arrays element by element. Objects are equal when their members are;
// otherwise their order is that of their size, then of their text.
func Compare(a, b Value) int {
	if c := a.rank() - b.rank(); c != 0 {
		return sign(c)
	}
	switch a.Kind() {
	case NumberKind:
		return CompareNumbers(a, b)
	case StringKind:
		return bytes.Compare(a.text(), b.text())
	case Bool:
		return sign(int(a[0]) - int(b[0])) // 'f' < 't'
	case Array:
		var as, bs []Value
		a.EachElement(func(v Value) bool { as = append(as, v); return true })
		b.EachElement(func(v Value) bool { bs = append(bs, v); return true })
		for i := range min(len(as), len(bs)) {
			if c := Compare(as[i], bs[i]); c != 0 {
				return c
			}
		}
		return sign(len(as) - len(bs))
	case Object:
		am, bm := a.Members(), b.Members()
		if c := len(am) - len(bm); c != 0 {
			return sign(c)
		}
		theirs := make(map[string]Value, len(bm))
		for _, m := range bm {
			theirs[m.Name()] = m.Value
		}
		for _, m := range am {
			o, ok := theirs[m.Name()]
			if !ok || Compare(m.Value, o) != 0 {
				if c := bytes.Compare(a, b); c != 0 {
					return c
				}
				return 1
			}
		}
	}
	return 0
}

// Equal says whether a and b are the same value: 1.0 equals 1, members in any
// order.
func Equal(a, b Value) bool { return Compare(a, b) == 0 }

// Contains is MySQL's JSON_CONTAINS: whether candidate is in v. The error is ctx's:
// two long arrays cost the product of their lengths.
func (v Value) Contains(ctx context.Context, candidate Value) (bool, error) {
	c := container{looks{ctx: ctx}}
	has := c.contains(v, candidate)
	return has && c.err == nil, c.err
}

// Overlaps is MySQL's JSON_OVERLAPS: whether two arrays share an element or two objects
// a member; anything else counts as an array of itself against an array, and is
// compared otherwise. The error is ctx's.
func (v Value) Overlaps(ctx context.Context, other Value) (bool, error) {
	c := container{looks{ctx: ctx}}
	has := c.overlaps(v, other)
	return has && c.err == nil, c.err
}

// looks looks at its context once in a while.
type looks struct {
	ctx   context.Context
	err   error
	steps int
}

// stepsPerLook is how many values are visited between two looks.
const stepsPerLook = 1024

func (l *looks) stop() bool {
	if l.steps++; l.steps%stepsPerLook == 0 && l.err == nil {
		l.err = l.ctx.Err()
	}
	return l.err != nil
}

type container struct{ looks }

func (c *container) overlaps(v, other Value) bool {
	switch {
	case v.Kind() == Array || other.Kind() == Array:
		mine, theirs := v.elements(), other.elements()
		for _, m := range mine {
			for _, t := range theirs {
				if c.stop() {
					return false
				}
				if Equal(m, t) {
					return true
				}
			}
		}
		return false
	case v.Kind() == Object && other.Kind() == Object:
		mine := map[string]Value{}
		for _, m := range v.Members() {
			mine[m.Name()] = m.Value
		}
		for _, m := range other.Members() {
			if have, ok := mine[m.Name()]; ok && Equal(have, m.Value) {
				return true
			}
		}
		return false
	}
	return Equal(v, other)
}

// elements of an array; any other value is one of its own.
func (v Value) elements() []Value {
	if v.Kind() != Array {
		return []Value{v}
	}
	var out []Value
	v.EachElement(func(e Value) bool { out = append(out, e); return true })
	return out
}

func (c *container) contains(v, candidate Value) bool {
	switch v.Kind() {
	case Array:
		if candidate.Kind() == Array {
			all := true
			candidate.EachElement(func(e Value) bool {
				all = c.hasElement(v, e)
				return all
			})
			return all
		}
		return c.hasElement(v, candidate)
	case Object:
		if candidate.Kind() != Object {
			return false
		}
		mine := map[string]Value{}
		for _, m := range v.Members() {
			mine[m.Name()] = m.Value
		}
		for _, m := range candidate.Members() {
			have, ok := mine[m.Name()]
			if !ok || !c.contains(have, m.Value) {
				return false
			}
		}
		return true
	}
	return Equal(v, candidate)
}

// hasElement says whether an element of the array v contains e. An element that
// is an array itself must do so as a whole, as in MySQL.
func (c *container) hasElement(v, e Value) bool {
	has := false
	v.EachElement(func(mine Value) bool {
		if c.stop() {
			return false
		}
		if mine.Kind() == Array && e.Kind() != Array {
			return true
		}
		has = c.contains(mine, e)
		return !has
	})
	return has
}

func sign(c int) int {
	switch {
	case c < 0:
		return -1
	case c > 0:
		return 1
	}
	return 0
}
