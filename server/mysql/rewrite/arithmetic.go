package rewrite

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteArithmetic puts checked arithmetic in place of +, -, *, DIV and %: the engine's wraps around
// where MySQL says that a value is out of range, and rounds quotients before it cuts them.
func rewriteArithmetic(e *sqlparser.BinaryExpr) sqlparser.Expr {
	op := e.Operator
	if sum := rewriteIntervalSum(e); sum != nil {
		return sum
	}
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
	return sqlparser.InjectedExpr{
		Expression: sqlfn.Arithmetic{Op: op, Text: strings.TrimSpace(sqlparser.String(e))},
		Children:   sqlparser.Exprs{e.Left, e.Right},
		Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore},
	}
}

// rewriteIntervalSum makes + and - of an interval the functions that they stand for: the engine's operators always give a
// DATETIME, of dates too. nil: e is no such sum.
func rewriteIntervalSum(e *sqlparser.BinaryExpr) sqlparser.Expr {
	if i, ok := e.Right.(*sqlparser.IntervalExpr); ok && e.Operator == sqlparser.PlusStr {
		return call("date_add", e.Left, i)
	} else if ok && e.Operator == sqlparser.MinusStr {
		return call("date_sub", e.Left, i)
	}
	if i, ok := e.Left.(*sqlparser.IntervalExpr); ok && e.Operator == sqlparser.PlusStr {
		return call("date_add", e.Right, i)
	}
	return nil
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
	if !ok || avg.Name.Lowered() != sqlfn.NameAvg || !avg.Qualifier.IsEmpty() {
		return e
	}
	sum, count := *avg, *avg
	sum.Name, count.Name = sqlparser.NewColIdent(sqlfn.NameSum), sqlparser.NewColIdent("count")
	return &sqlparser.ParenExpr{Expr: &sqlparser.BinaryExpr{Operator: sqlparser.DivStr, Left: &sum, Right: &count}}
}
