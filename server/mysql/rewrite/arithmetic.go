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
	case sqlparser.PlusStr, sqlparser.MinusStr, sqlparser.MultStr, sqlparser.DivStr:
		e.Left, e.Right = quotientOf(e.Left), quotientOf(e.Right)
	}
	switch op {
	case sqlparser.PlusStr, sqlparser.MinusStr, sqlparser.MultStr, sqlparser.IntDivStr, sqlparser.ModStr:
	case sqlparser.BitAndStr, sqlparser.BitOrStr, sqlparser.BitXorStr, sqlparser.ShiftLeftStr, sqlparser.ShiftRightStr:
		return call(sqlfn.NameBitOperator+op, e.Left, e.Right)
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

// quotientOf is AVG(x) as SUM(x)/COUNT(x), and what is none as it is: a quotient inside of arithmetic keeps digits
// that the value of AVG, for itself, is rounded to.
func quotientOf(e sqlparser.Expr) sqlparser.Expr {
	inner := e
	for {
		p, ok := inner.(*sqlparser.ParenExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	avg, ok := inner.(*sqlparser.FuncExpr)
	if !ok || avg.Over != nil || avg.Name.Lowered() != sqlfn.NameAvg || !avg.Qualifier.IsEmpty() {
		return e
	}
	sum, count := *avg, *avg
	sum.Name, count.Name = sqlparser.NewColIdent(sqlfn.NameSum), sqlparser.NewColIdent("count")
	return &sqlparser.ParenExpr{Expr: &sqlparser.BinaryExpr{Operator: sqlparser.DivStr, Left: &sum, Right: &count}}
}
