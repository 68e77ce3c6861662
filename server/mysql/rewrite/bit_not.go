package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteBitNot makes a call of ~, which the planner does not know.
func rewriteBitNot(e *sqlparser.UnaryExpr) sqlparser.Expr {
	if e.Operator == sqlparser.TildaStr {
		return call(sqlfn.NameBitNot, e.Expr)
	}
	return e
}
