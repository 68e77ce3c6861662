package rewrite

import (
	"reflect"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteNested keeps aggregates of subqueries apart from those of the queries around them: the
// planner knows an aggregate by its text, looks it up in the enclosing queries too, and takes
// theirs. So an argument in a subquery is wrapped once for each query around it, in
// a function that gives it back.
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
				wrapArgument(x.Exprs, depth)
			}
		case *sqlparser.GroupConcatExpr:
			if depth > 0 {
				wrapArgument(x.Exprs, depth)
			}
		}
		return true
	}}
	w.value(reflect.ValueOf(n))
}

func wrapArgument(args sqlparser.SelectExprs, depth int) {
	if len(args) == 0 {
		return
	}
	a, ok := args[0].(*sqlparser.AliasedExpr)
	if !ok {
		return // COUNT(*), which is known to be one's own
	}
	for range depth {
		a.Expr = call("coalesce", a.Expr, &sqlparser.NullVal{})
	}
}
