package rowscan

import (
	"unicode/utf8"

	"millrace/pushdown/compare"
	"millrace/pushdown/why"
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// like converts LIKE where the pattern is a text, or the beginning of one: those are
// ranges in byte order.
//
// Patterns without ESCAPE seldom come this far: the engine's planner makes ranges of
// them itself, up to the prefix and U+00FF, and so loses what goes on with a higher
// character. The server's rewrite stage writes the escape out to keep it from that.
func (c *converter) like(e *expression.Like) (scan.Expr, string) {
	col, column, ok := c.acc.Column(e.LeftChild)
	if !ok {
		return nil, why.NotSimple
	}
	lit, ok := e.RightChild.(*expression.Literal)
	if !ok {
		return nil, why.NotConstant
	}
	if scan.DomainOf(c.acc.Table.Bound(), col) != scan.Strings || !types.IsTextOnly(column.Type) || !compare.ByBytes(column.Type) {
		return nil, why.NotComparable
	}
	if coll, _ := sql.GetCoercibility(c.ctx, e); coll != sql.Collation_utf8mb4_0900_bin {
		return nil, why.ByCollation
	}
	pattern, ok := lit.Value().(string)
	if !ok || !utf8.ValidString(pattern) {
		return nil, why.OtherFamily
	}
	escape := '\\'
	if e.Escape != nil {
		x, ok := e.Escape.(*expression.Literal)
		if !ok {
			return nil, why.NotConstant
		}
		s, ok := x.Value().(string)
		if !ok || utf8.RuneCountInString(s) != 1 {
			return nil, why.NotPrefix
		}
		escape, _ = utf8.DecodeRuneInString(s)
	}
	prefix, open, ok := plainPrefix(pattern, escape)
	if !ok {
		return nil, why.NotPrefix
	}
	if !open {
		return scan.Compare{Column: col, Op: scan.EQ, Value: scan.Literal{String: prefix}}, ""
	}
	from := scan.Compare{Column: col, Op: scan.GE, Value: scan.Literal{String: prefix}}
	next, ok := successor(prefix)
	if !ok { // nothing lies above
		return from, ""
	}
	return scan.And{Args: []scan.Expr{from, scan.Compare{Column: col, Op: scan.LT, Value: scan.Literal{String: next}}}}, ""
}

// plainPrefix reads a pattern that is literal text, and open if a % ends it. Escapes are
// left to the engine.
func plainPrefix(pattern string, escape rune) (prefix string, open, ok bool) {
	for i, r := range pattern {
		switch r {
		case escape, '_':
			return "", false, false
		case '%':
			return pattern[:i], true, i == len(pattern)-1
		}
	}
	return pattern, false, true
}

// successor is the least text above all that begin with prefix.
func successor(prefix string) (string, bool) {
	for len(prefix) > 0 {
		r, size := utf8.DecodeLastRuneInString(prefix)
		if r == utf8.RuneError && size <= 1 {
			return "", false
		}
		prefix = prefix[:len(prefix)-size]
		switch r {
		case utf8.MaxRune:
			continue
		case 0xD7FF:
			r = 0xE000 // over the surrogates
		default:
			r++
		}
		return prefix + string(r), true
	}
	return "", false
}
