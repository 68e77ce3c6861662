package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Source is a statement's text, written otherwise where the parser does not read it as MySQL does.
type Source struct {
	Text     string // for the parser
	original string
	passes   [][]change // the first one's places are the original's, the next one's are the first one's result's, and so on
}

// change puts other words in the place of [from, to).
type change struct {
	from, to int
	with     string
}

// Read is text for the parser. The error is of a form that cannot be written otherwise.
func Read(text string, ansiQuotes bool) (*Source, error) {
	s := (&Source{Text: text, original: text}).changed(literals(text, ansiQuotes))
	changes, err := forms(s.Text, ansiQuotes)
	if err != nil {
		return nil, err
	}
	return s.changed(changes), nil
}

// changed is s with changes, which are in order.
func (s *Source) changed(changes []change) *Source {
	if len(changes) == 0 {
		return s
	}
	var out strings.Builder
	copied := 0
	for _, c := range changes {
		out.WriteString(s.Text[copied:c.from])
		out.WriteString(c.with)
		copied = c.to
	}
	out.WriteString(s.Text[copied:])
	return &Source{out.String(), s.original, append(s.passes[:len(s.passes):len(s.passes)], changes)}
}

// WithoutStart is s without any of these characters before all others.
func (s *Source) WithoutStart(cutset string) *Source {
	if n := len(s.Text) - len(strings.TrimLeft(s.Text, cutset)); n > 0 {
		return s.changed([]change{{0, n, ""}})
	}
	return s
}

// Rest is as it was written what the parser has left over.
func (s *Source) Rest(rest string) string {
	if at := len(s.Text) - len(rest); rest != "" && at >= 0 && s.Text[at:] == rest {
		return s.original[s.written(at):]
	}
	return rest
}

// NameColumns lets the columns of stmt, which was parsed of s, be called what was written.
func (s *Source) NameColumns(stmt sqlparser.Statement) {
	w := Walk{Node: func(n any) bool {
		if e, ok := n.(*sqlparser.AliasedExpr); ok && e.InputExpression != "" && e.EndParsePos > e.StartParsePos && e.EndParsePos <= len(s.Text) {
			start := e.StartParsePos
			if _, not := e.Expr.(*sqlparser.NotExpr); not {
				start = withNot(s.Text, start)
			}
			parsed := s.Text[e.StartParsePos:e.EndParsePos]
			if written := s.original[s.written(start):s.written(e.EndParsePos)]; written != parsed && strings.Contains(parsed, e.InputExpression) {
				e.InputExpression = strings.Trim(written, " \n\t")
			}
		}
		return true
	}}
	w.Statement(stmt)
}

// withNot is where the NOTs before at begin: for the parser, an expression with NOT begins behind it.
func withNot(text string, at int) int {
	for {
		before := strings.TrimRight(text[:at], " \n\t(")
		if len(before) < 3 || !strings.EqualFold(before[len(before)-3:], "NOT") {
			return at
		}
		at = len(before) - 3
	}
}

// written is the place in the original where that of s.Text comes from.
func (s *Source) written(at int) int {
	for i := len(s.passes) - 1; i >= 0; i-- {
		longer := 0 // the text so far, than it was
		for _, c := range s.passes[i] {
			if at <= c.from+longer {
				break
			}
			if at < c.from+longer+len(c.with) {
				at = c.to + longer // within what was put there
			}
			longer += len(c.with) - (c.to - c.from)
		}
		at -= longer
	}
	return at
}
