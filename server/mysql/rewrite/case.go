package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteCase gives a CASE of numbers the type that holds all of its results, with the digits that they have.
func rewriteCase(e *sqlparser.CaseExpr) sqlparser.Expr {
	c := sqlfn.Case{HasValue: e.Expr != nil, HasElse: e.Else != nil, Text: sqlparser.String(e)}
	var children sqlparser.Exprs
	if c.HasValue {
		children = append(children, e.Expr)
	}
	for _, w := range e.Whens {
		children = append(children, w.Cond, w.Val)
	}
	if c.HasElse {
		children = append(children, e.Else)
	}
	return sqlparser.InjectedExpr{
		Expression: c, Children: children,
		Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore},
	}
}
