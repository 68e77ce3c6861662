package mysql

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The planner knows aggregates by name, and types every reference to SUM and AVG as DOUBLE. Two
// of the names it knows, FIRST and LAST, are no functions of MySQL: ours are registered under
// them, and keep their own types.
const (
	exactSum = "first"
	exactAvg = "last"
)

func rewriteAggregate(e *sqlparser.FuncExpr) sqlparser.Expr {
	if !e.Qualifier.IsEmpty() {
		return e
	}
	switch e.Name.Lowered() {
	case "sum":
		e.Name = sqlparser.NewColIdent(exactSum)
	case "avg":
		e.Name = sqlparser.NewColIdent(exactAvg)
	case exactSum, exactAvg, groupConcatFunction:
		// What a user wrote: no such function.
		e.Name = sqlparser.NewColIdent(e.Name.String() + " ")
	}
	return e
}
