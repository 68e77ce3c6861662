package rewrite

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteUnary makes a call of ~, which the planner does not know, and checked arithmetic of -x. Literals stay: the planner reads
// the sign with them.
func rewriteUnary(e *sqlparser.UnaryExpr) sqlparser.Expr {
	switch e.Operator {
	case sqlparser.TildaStr:
		return call(sqlfn.NameBitNot, e.Expr)
	case sqlparser.UMinusStr:
		if _, literal := e.Expr.(*sqlparser.SQLVal); literal {
			return e
		}
		return sqlparser.InjectedExpr{
			Expression: sqlfn.Negative{Text: strings.TrimSpace(sqlparser.String(e))},
			Children:   sqlparser.Exprs{e.Expr},
			Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore},
		}
	}
	return e
}
