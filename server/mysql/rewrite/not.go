package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The engine turns NOT IN (SELECT …) and NOT EXISTS (…) into anti joins that treat NULL as a
// match or as none, whichever is wrong. Written as «… = 0» both are evaluated row by
// row, where their three-valued logic is right.

// rewriteIn handles x NOT IN (SELECT …), and gives a bare NULL in the list of any IN a type: the
// engine cannot convert x to the type NULL, and answers false where the answer is NULL.
func rewriteIn(e *sqlparser.ComparisonExpr) sqlparser.Expr {
	sub, ok := e.Right.(*sqlparser.Subquery)
	if !ok || !strings.EqualFold(e.Operator, sqlparser.InStr) && !strings.EqualFold(e.Operator, sqlparser.NotInStr) {
		return e
	}
	if sel, ok := sub.Select.(*sqlparser.Select); ok && len(sel.SelectExprs) == 1 {
		if a, ok := sel.SelectExprs[0].(*sqlparser.AliasedExpr); ok {
			if _, null := a.Expr.(*sqlparser.NullVal); null {
				a.Expr = &sqlparser.ConvertExpr{Name: "convert", Expr: a.Expr, Type: &sqlparser.ConvertType{Type: "char"}}
			}
		}
	}
	if !strings.EqualFold(e.Operator, sqlparser.NotInStr) {
		if !grouped(sub.Select) {
			return e
		}
		// The planner's semi join would group again for every row; as a value, the subquery's
		// rows are kept.
		return &sqlparser.ComparisonExpr{Operator: sqlparser.NotEqualStr, Left: &sqlparser.ParenExpr{Expr: e}, Right: sqlparser.NewIntVal([]byte("0"))}
	}
	in := *e
	in.Operator = sqlparser.InStr
	return isZero(&in)
}

// grouped says whether a subquery has more to do than to read rows.
func grouped(sel sqlparser.SelectStatement) bool {
	s, ok := sel.(*sqlparser.Select)
	if !ok {
		return true
	}
	return len(s.GroupBy) > 0 || s.Having != nil || s.Limit != nil || s.With != nil || len(s.From) > 1
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
