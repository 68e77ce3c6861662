package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteTimestampFunction turns TIMESTAMPDIFF into a call of the function of that name, which is ours; the planner takes the engine's.
func rewriteTimestampFunction(e *sqlparser.TimestampFuncExpr) sqlparser.Expr {
	if !strings.EqualFold(e.Name, "timestampdiff") {
		return e
	}
	return call("timestampdiff", sqlparser.NewStrVal([]byte(e.Unit)), e.Expr1, e.Expr2)
}

// rewriteExtract turns the week of a date into WEEK's: the engine counts others.
func rewriteExtract(e *sqlparser.ExtractFuncExpr) sqlparser.Expr {
	if !strings.EqualFold(e.Unit, "week") {
		return e
	}
	return call("week", e.Expr)
}
