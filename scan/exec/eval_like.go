package exec

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"millrace/internal/vector"
)

// likeEval is Like.
type likeEval struct {
	arg   evaluator
	match matcher
	out   column
	valid []uint64
}

func (c *compiler) like(e Like) (evaluator, error) {
	if e.Arg.Type().Kind != vector.String {
		return nil, fmt.Errorf("%w: LIKE of %v", ErrNotSupported, e.Arg.Type())
	}
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	return &likeEval{arg: arg, match: newMatcher(e)}, nil
}

func (e *likeEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	out := e.out.bools(in.n)
	valid := validOf(v, in.n, &e.valid)
	for i := range out {
		out[i] = 0
		if valid == nil || bitSet(valid, i) {
			out[i] = int8(b2i(e.match.matches(v.Text(i))))
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

// matcher decides a LIKE pattern, which is cut at its % into pieces: the first is anchored at the
// start, the last at the end, each one between is found at its leftmost place.
type matcher struct {
	pieces []piece
	fold   bool
	buf    *[]byte
}

// piece is a run of a pattern without %; any marks the places of _.
type piece struct {
	text []byte // with a byte per _
	any  []bool // nil: none
}

func newMatcher(e Like) matcher {
	m := matcher{fold: e.Fold, buf: new([]byte)}
	var p piece
	some := false
	flush := func() {
		if !some {
			p.any = nil
		}
		m.pieces = append(m.pieces, p)
		p, some = piece{}, false
	}
	pattern := e.Pattern
	for len(pattern) > 0 {
		r, n := utf8.DecodeRune(pattern)
		char := pattern[:n]
		pattern = pattern[n:]
		switch {
		case e.Escape != 0 && r == e.Escape && len(pattern) > 0:
			_, n := utf8.DecodeRune(pattern)
			char = pattern[:n]
			pattern = pattern[n:]
		case len(char) == 1 && char[0] == '%':
			flush()
			continue
		case len(char) == 1 && char[0] == '_':
			p.text = append(p.text, 0)
			p.any = append(p.any, true)
			some = true
			continue
		}
		for _, c := range char {
			if m.fold {
				c = lowerASCII(c)
			}
			p.text = append(p.text, c)
			p.any = append(p.any, false)
		}
	}
	flush()
	return m
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func (m *matcher) matches(s []byte) bool {
	if m.fold {
		low := append((*m.buf)[:0], s...)
		for i, c := range low {
			low[i] = lowerASCII(c)
		}
		*m.buf = low
		s = low
	}
	n, ok := m.pieces[0].prefix(s)
	if !ok {
		return false
	}
	if len(m.pieces) == 1 {
		return n == len(s)
	}
	s = s[n:]
	last := len(m.pieces) - 1
	for _, p := range m.pieces[1:last] {
		if s, ok = p.skip(s); !ok {
			return false
		}
	}
	return m.pieces[last].suffix(s)
}

// prefix matches the start of s and says how many bytes that took.
func (p *piece) prefix(s []byte) (int, bool) {
	if p.any == nil {
		return len(p.text), bytes.HasPrefix(s, p.text)
	}
	at := 0
	for i, c := range p.text {
		if at >= len(s) {
			return 0, false
		}
		if p.any[i] {
			_, n := utf8.DecodeRune(s[at:])
			at += n
			continue
		}
		if s[at] != c {
			return 0, false
		}
		at++
	}
	return at, true
}

// skip finds the piece in s and returns what follows.
func (p *piece) skip(s []byte) ([]byte, bool) {
	if p.any == nil {
		if i := bytes.Index(s, p.text); i >= 0 {
			return s[i+len(p.text):], true
		}
		return nil, false
	}
	for {
		if n, ok := p.prefix(s); ok {
			return s[n:], true
		}
		if len(s) == 0 {
			return nil, false
		}
		_, n := utf8.DecodeRune(s)
		s = s[n:]
	}
}

// suffix matches the end of s.
func (p *piece) suffix(s []byte) bool {
	if p.any == nil {
		return bytes.HasSuffix(s, p.text)
	}
	for {
		if n, ok := p.prefix(s); ok && n == len(s) {
			return true
		}
		if len(s) == 0 {
			return false
		}
		_, n := utf8.DecodeRune(s)
		s = s[n:]
	}
}
