package rewrite

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteArithmetic puts checked arithmetic in place of +, -, *, DIV and %: the engine's wraps around
// where MySQL says that a value is out of range, and rounds quotients before it cuts them. Dates with
// intervals stay the engine's.
func rewriteArithmetic(e *sqlparser.BinaryExpr) sqlparser.Expr {
	op := e.Operator
	switch op {
	case sqlparser.PlusStr, sqlparser.MinusStr, sqlparser.MultStr, sqlparser.IntDivStr, sqlparser.ModStr:
	default:
		return e
	}
	for _, side := range []sqlparser.Expr{e.Left, e.Right} {
		if _, ok := side.(*sqlparser.IntervalExpr); ok {
			return e
		}
	}
	return sqlparser.InjectedExpr{
		Expression: sqlfn.Arithmetic{Op: op, Text: strings.TrimSpace(sqlparser.String(e))},
		Children:   sqlparser.Exprs{e.Left, e.Right},
		Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore},
	}
}
