package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteAggregate gives aggregates the names that ours have, and ROUND and TRUNCATE all digits of an average.
func rewriteAggregate(e *sqlparser.FuncExpr) sqlparser.Expr {
	if !e.Qualifier.IsEmpty() {
		return e
	}
	switch e.Name.Lowered() {
	case "round", "truncate":
		if len(e.Exprs) > 0 {
			if arg, ok := e.Exprs[0].(*sqlparser.AliasedExpr); ok {
				arg.Expr = quotientOf(arg.Expr)
			}
		}
	case "sum":
		e.Name = sqlparser.NewColIdent(sqlfn.NameSum)
	case "avg":
		e.Name = sqlparser.NewColIdent(sqlfn.NameAvg)
	case sqlfn.NameSum, sqlfn.NameAvg, sqlfn.NameGroupConcat:
		// What a user wrote: no such function.
		e.Name = sqlparser.NewColIdent(e.Name.String() + " ")
	}
	return e
}
