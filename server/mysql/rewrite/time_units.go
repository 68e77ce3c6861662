package rewrite

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteTimestampFunction turns TIMESTAMPDIFF into a call of the function of that name, which is ours; the planner takes the engine's.
func rewriteTimestampFunction(e *sqlparser.TimestampFuncExpr) sqlparser.Expr {
	if !strings.EqualFold(e.Name, "timestampdiff") {
		return e
	}
	return call("timestampdiff", sqlparser.NewStrVal([]byte(e.Unit)), e.Expr1, e.Expr2)
}

// rewriteExtract turns the week of a date into WEEK's, as the engine counts others, and parts of a time of day into a call of ours.
func rewriteExtract(e *sqlparser.ExtractFuncExpr) sqlparser.Expr {
	unit := strings.ToUpper(e.Unit)
	switch {
	case unit == "WEEK":
		return call("week", e.Expr)
	case strings.Contains(unit, "HOUR"), strings.Contains(unit, "MINUTE"), strings.Contains(unit, "SECOND"):
		return call(sqlfn.NameExtractTime, sqlparser.NewStrVal([]byte(unit)), e.Expr)
	}
	return e
}
