package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// seeRepeated lets a SELECT have an aggregate of constants, as SUM(2), twice: the planner knows it by its text, which may also be the name of
// the first one's column, and takes the second one for a reference to that.
func seeRepeated(sel *sqlparser.Select) {
	before := false
	for _, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			continue
		}
		f, ok := a.Expr.(*sqlparser.FuncExpr)
		if !ok || !f.IsAggregate() || f.Over != nil || namesColumns(f.Exprs) {
			continue
		}
		if before {
			wrapColumn(a, &sqlfn.UnionColumn{})
		}
		before = true
	}
}

func namesColumns(args sqlparser.SelectExprs) bool {
	found := false
	w := Walk{Node: func(n any) bool {
		_, column := n.(*sqlparser.ColName)
		found = found || column
		return !found
	}}
	w.Statement(&sqlparser.Select{SelectExprs: args})
	return found
}
