package jsonval

import (
	"context"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Path is a MySQL JSON path, parsed: $ followed by legs
//
//	.name  ."any name"  .*  [n]  [last]  [last-n]  [m to n]  [*]  **
//
// Safe for concurrent use.
type Path struct {
	legs []leg
	text string
}

type legKind uint8

const (
	legMember legKind = iota
	legAnyMember
	legCell
	legRange
	legAnyCell
	legDescend // **
)

type leg struct {
	kind     legKind
	name     string
	from, to cellIndex
}

// cellIndex is an array position from the front or from the back.
type cellIndex struct {
	n        int
	fromLast bool
}

// PathError says where a path is wrong (MySQL's error 3143).
type PathError struct {
	Path   string
	Offset int // byte
}

func (e *PathError) Error() string {
	return fmt.Sprintf("invalid JSON path expression %q: the error is around character position %d", e.Path, e.Offset+1)
}

// maxLegs bounds a path.
const maxLegs = 256

// ParsePath reads a path; the error is a *PathError.
func ParsePath(s string) (*Path, error) {
	p := pathParser{s: s}
	path := &Path{text: s}
	p.space()
	if !p.eat('$') {
		return nil, &PathError{s, p.i}
	}
	for {
		p.space()
		if p.i == len(s) {
			break
		}
		at := p.i
		l, ok := p.leg()
		if !ok || len(path.legs) == maxLegs {
			return nil, &PathError{s, max(at, p.i)}
		}
		path.legs = append(path.legs, l)
	}
	if n := len(path.legs); n > 0 && path.legs[n-1].kind == legDescend {
		return nil, &PathError{s, len(s)} // ** must not be last
	}
	return path, nil
}

// String is the path as given.
func (p *Path) String() string { return p.text }

// Wild says whether the path can lead to several values.
func (p *Path) Wild() bool {
	for _, l := range p.legs {
		if l.kind != legMember && l.kind != legCell {
			return true
		}
	}
	return false
}

// Members returns the names of a path that consists of members only.
func (p *Path) Members() (names []string, ok bool) {
	for _, l := range p.legs {
		if l.kind != legMember {
			return nil, false
		}
		names = append(names, l.name)
	}
	return names, true
}

// MemberPath is the path of nested members.
func MemberPath(names []string) *Path {
	p := &Path{text: "$"}
	for _, n := range names {
		p.legs = append(p.legs, leg{kind: legMember, name: n})
		if plainMember(n) {
			p.text += "." + n
		} else {
			p.text += "." + string(AppendQuoted(nil, n))
		}
	}
	return p
}

func plainMember(n string) bool {
	for i, r := range n {
		if !nameRune(r, i == 0) {
			return false
		}
	}
	return n != "" && utf8.ValidString(n)
}

// nameRune: an ECMAScript identifier, as MySQL takes it.
func nameRune(r rune, first bool) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) ||
		!first && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.Is(unicode.Pc, r) || r == '\u200c' || r == '\u200d')
}

type pathParser struct {
	s string
	i int
}

func (p *pathParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' || p.s[p.i] == '\r') {
		p.i++
	}
}

func (p *pathParser) eat(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *pathParser) leg() (l leg, ok bool) {
	switch {
	case p.eat('.'):
		p.space()
		if p.eat('*') {
			return leg{kind: legAnyMember}, true
		}
		name, ok := p.name()
		return leg{kind: legMember, name: name}, ok
	case p.eat('['):
		p.space()
		if p.eat('*') {
			p.space()
			return leg{kind: legAnyCell}, p.eat(']')
		}
		from, ok := p.index()
		if !ok {
			return l, false
		}
		l = leg{kind: legCell, from: from, to: from}
		p.space()
		if p.word("to") {
			l.kind = legRange
			p.space()
			if l.to, ok = p.index(); !ok {
				return l, false
			}
			if from.fromLast == l.to.fromLast && (from.fromLast && from.n < l.to.n || !from.fromLast && from.n > l.to.n) {
				return l, false
			}
			p.space()
		}
		return l, p.eat(']')
	case p.eat('*'):
		return leg{kind: legDescend}, p.eat('*')
	}
	return l, false
}

func (p *pathParser) word(w string) bool {
	if len(p.s)-p.i >= len(w) && p.s[p.i:p.i+len(w)] == w {
		p.i += len(w)
		return true
	}
	return false
}

func (p *pathParser) index() (x cellIndex, ok bool) {
	if p.word("last") {
		x.fromLast = true
		p.space()
		if !p.eat('-') {
			return x, true
		}
		p.space()
	}
	from := p.i
	for p.i < len(p.s) && p.s[p.i]-'0' < 10 {
		p.i++
	}
	n, err := strconv.ParseUint(p.s[from:p.i], 10, 32)
	x.n = int(n)
	return x, err == nil
}

func (p *pathParser) name() (string, bool) {
	if p.i < len(p.s) && p.s[p.i] == '"' {
		b := []byte(p.s)
		end, fl := String(b, p.i)
		if end < 0 || fl&LoneSurrogate != 0 {
			return "", false
		}
		name := string(AppendUnescaped(nil, b[p.i+1:end-1]))
		p.i = end
		return name, true
	}
	from := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		if !nameRune(r, p.i == from) {
			break
		}
		p.i += n
	}
	return p.s[from:p.i], p.i > from
}

// Find appends the values p leads to in v, in the order of the text. The error is
// ctx's: a path of several ** visits a large text many times over.
func (v Value) Find(ctx context.Context, p *Path, dst []Value) ([]Value, error) {
	f := finder{dst: dst, looks: looks{ctx: ctx}}
	for _, l := range p.legs {
		f.unique = f.unique || l.kind == legDescend
	}
	f.find(v, p.legs)
	return f.dst, f.err
}

type finder struct {
	looks
	dst    []Value
	unique bool // ** can reach a value on several ways
	seen   map[visit]bool
}

// visit is a value (no two of one text start at the same byte) with the legs still
// to go.
type visit struct {
	at   *byte
	legs int
}

// again says whether v was already looked at with these legs; without it, a path
// of several ** takes a deep text in exponentially many ways.
func (f *finder) again(v Value, legs []leg) bool {
	if !f.unique {
		return false
	}
	if f.seen == nil {
		f.seen = map[visit]bool{}
	}
	k := visit{&v[0], len(legs)}
	if f.seen[k] {
		return true
	}
	f.seen[k] = true
	return false
}

func (f *finder) find(v Value, legs []leg) {
	if f.stop() || f.again(v, legs) {
		return
	}
	if len(legs) == 0 {
		f.dst = append(f.dst, v)
		return
	}
	l, more := &legs[0], legs[1:]
	switch l.kind {
	case legMember:
		if v.Kind() == Object {
			if m, ok := v.Member(l.name); ok {
				f.find(m, more)
			}
		}
	case legAnyMember:
		if v.Kind() == Object {
			for _, m := range v.Members() {
				f.find(m.Value, more)
			}
		}
	case legAnyCell:
		if v.Kind() == Array {
			v.EachElement(func(e Value) bool { f.find(e, more); return f.err == nil })
		}
	case legCell, legRange:
		f.cells(v, l, more)
	case legDescend:
		f.find(v, more)
		switch v.Kind() {
		case Array:
			v.EachElement(func(e Value) bool { f.find(e, legs); return f.err == nil })
		case Object:
			for _, m := range v.Members() {
				f.find(m.Value, legs)
			}
		}
	}
}

// cells: a value that is no array counts as an array of one, as in MySQL.
func (f *finder) cells(v Value, l *leg, more []leg) {
	n := 1
	array := v.Kind() == Array
	if array && (l.from.fromLast || l.to.fromLast) {
		n = v.Length()
	}
	from, to := l.from.at(n), l.to.at(n)
	if !array {
		if from <= 0 && to >= 0 && (l.kind == legRange || from == 0) {
			f.find(v, more)
		}
		return
	}
	i := 0
	v.EachElement(func(e Value) bool {
		if i >= from && i <= to {
			f.find(e, more)
		}
		i++
		return i <= to && f.err == nil
	})
}

func (x cellIndex) at(n int) int {
	if x.fromLast {
		return n - 1 - x.n
	}
	return x.n
}

// Extract is MySQL's JSON_EXTRACT: with one path that is not wild, the value there;
// otherwise an array of all values found; nil where nothing was found. A single value
// aliases v. The error is ctx's.
func (v Value) Extract(ctx context.Context, paths ...*Path) (found Value, err error) {
	var all []Value
	for _, p := range paths {
		if all, err = v.Find(ctx, p, all); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(paths) == 1 && !paths[0].Wild() {
		return all[0], nil
	}
	out := []byte{'['}
	for i, f := range all {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(out, f...)
	}
	return append(out, ']'), nil
}

// ContainsPath is MySQL's JSON_CONTAINS_PATH: whether one of the paths (or all)
// leads to a value; a JSON null is one. The error is ctx's.
func (v Value) ContainsPath(ctx context.Context, all bool, paths ...*Path) (bool, error) {
	for _, p := range paths {
		found, err := v.Find(ctx, p, nil)
		if err != nil {
			return false, err
		}
		if (len(found) > 0) != all {
			return !all, nil
		}
	}
	return all, nil
}
