package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteGroupConcat makes GROUP_CONCAT a function over one text, its options as a literal, what it
// sorts by, and what DISTINCT compares where that is not the text. The engine's concatenates the first
// of several expressions only, and keeps every row of the group.
func rewriteGroupConcat(e *sqlparser.GroupConcatExpr) sqlparser.Expr {
	exprs := make([]sqlparser.Expr, len(e.Exprs))
	for i, x := range e.Exprs {
		a, ok := x.(*sqlparser.AliasedExpr)
		if !ok {
			return e // the engine says what is wrong
		}
		exprs[i] = a.Expr
	}
	if len(exprs) == 0 {
		return e
	}
	// options: a letter about DISTINCT, one for each direction, a colon, the separator.
	options := []byte("-")
	text := exprs[0]
	if len(exprs) > 1 {
		text = call("concat", exprs...)
	}
	var key sqlparser.Expr
	if e.Distinct != "" {
		options[0] = 'd'
		if len(exprs) > 1 {
			options[0] = 'k'
			key = call("concat_ws", append([]sqlparser.Expr{sqlparser.NewStrVal([]byte{0})}, exprs...)...)
		}
	}
	var orders []sqlparser.Expr
	for _, o := range e.OrderBy {
		by := o.Expr
		if n, ok := wholeNumberOf(by); ok && n >= 1 && n <= int64(len(exprs)) {
			by = exprs[n-1]
		}
		orders = append(orders, by)
		if o.Direction == sqlparser.DescScr {
			options = append(options, 'd')
		} else {
			options = append(options, 'a')
		}
	}
	separator := ","
	if !e.Separator.DefaultSeparator {
		separator = e.Separator.SeparatorString
	}
	options = append(append(options, ':'), separator...)
	args := append([]sqlparser.Expr{text, sqlparser.NewStrVal(options)}, orders...)
	if key != nil {
		args = append(args, key)
	}
	return call(sqlfn.NameGroupConcat, args...)
}
