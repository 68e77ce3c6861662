package rewrite

import (
	"reflect"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteNested keeps aggregates of subqueries apart from those of the queries around them: the
// planner knows an aggregate by its text, looks it up in the enclosing queries too, and takes
// theirs. So an argument in a subquery is wrapped, until the statement is bound, in what tells how many queries
// are around it.
func rewriteNested(stmt sqlparser.Statement) { nested(stmt, 0) }

func nested(n any, depth int) {
	w := &Walk{Node: func(x any) bool {
		switch x := x.(type) {
		case *sqlparser.AliasedTableExpr:
			// A derived table is planned before its query's aggregates.
			if sub, ok := x.Expr.(*sqlparser.Subquery); ok {
				nested(sub.Select, depth)
				return false
			}
		case *sqlparser.Subquery:
			nested(x.Select, depth+1)
			return false
		case *sqlparser.FuncExpr:
			if depth > 0 && x.Over == nil && x.IsAggregate() {
				wrapArgument(x.Exprs, depth, x.Distinct)
			}
		case *sqlparser.GroupConcatExpr:
			if depth > 0 {
				wrapArgument(x.Exprs, depth, true)
			}
		}
		return true
	}}
	w.value(reflect.ValueOf(n))
}

// wrapArgument wraps an aggregate's argument. lasting: with something that stays, for aggregates that do not know themselves again once their
// argument is another.
func wrapArgument(args sqlparser.SelectExprs, depth int, lasting bool) {
	if len(args) == 0 {
		return
	}
	a, ok := args[0].(*sqlparser.AliasedExpr)
	if !ok {
		return // COUNT(*), which is known to be one's own
	}
	if lasting {
		for range depth {
			a.Expr = call("coalesce", a.Expr, &sqlparser.NullVal{})
		}
		return
	}
	a.Expr = sqlparser.InjectedExpr{Expression: sqlfn.AtDepth{Depth: depth}, Children: sqlparser.Exprs{a.Expr}, Auth: nothingToCheck}
}
