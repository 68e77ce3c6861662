package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// rewriteSubstring turns SUBSTRING of a column or a text into a call of the function, which is ours; the planner takes the engine's.
func rewriteSubstring(e *sqlparser.SubstrExpr) sqlparser.Expr {
	var text sqlparser.Expr = e.StrVal
	if e.Name != nil {
		text = e.Name
	}
	if e.To == nil {
		return call("substring", text, e.From)
	}
	return call("substring", text, e.From, e.To)
}
