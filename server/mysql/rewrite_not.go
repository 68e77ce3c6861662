package mysql

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The engine turns NOT IN (SELECT …) and NOT EXISTS (…) into anti joins that treat NULL as a
// match or as none, whichever is wrong. Written as «… = 0» both are evaluated row by
// row, where their three-valued logic is right.

// rewriteNotIn handles x NOT IN (SELECT …).
func rewriteNotIn(e *sqlparser.ComparisonExpr) sqlparser.Expr {
	if !strings.EqualFold(e.Operator, sqlparser.NotInStr) {
		return e
	}
	if _, ok := e.Right.(*sqlparser.Subquery); !ok {
		return e
	}
	in := *e
	in.Operator = sqlparser.InStr
	return isZero(&in)
}

// rewriteNot handles NOT (x IN (SELECT …)) and NOT EXISTS (…).
func rewriteNot(e *sqlparser.NotExpr) sqlparser.Expr {
	inner := e.Expr
	for {
		p, ok := inner.(*sqlparser.ParenExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	switch x := inner.(type) {
	case *sqlparser.ExistsExpr:
		return isZero(x)
	case *sqlparser.ComparisonExpr:
		if _, ok := x.Right.(*sqlparser.Subquery); ok && strings.EqualFold(x.Operator, sqlparser.InStr) {
			return isZero(x)
		}
	}
	return e
}

func isZero(e sqlparser.Expr) sqlparser.Expr {
	return &sqlparser.ComparisonExpr{Operator: sqlparser.EqualStr, Left: &sqlparser.ParenExpr{Expr: e}, Right: sqlparser.NewIntVal([]byte("0"))}
}
