package rewrite

import (
	"reflect"

	"millrace/pushdown/meaning"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// hasWindow says whether a function with OVER is among nodes, but for subqueries'.
func hasWindow(nodes ...sqlparser.SQLNode) bool {
	return has(nodes, func(n any) bool {
		f, ok := n.(*sqlparser.FuncExpr)
		return ok && f.Over != nil
	})
}

// hasAggregate says whether an aggregate without OVER is among nodes, but for subqueries'.
func hasAggregate(nodes ...sqlparser.SQLNode) bool {
	return has(nodes, isAggregate)
}

func isAggregate(n any) bool {
	switch n := n.(type) {
	case *sqlparser.GroupConcatExpr:
		return true
	case *sqlparser.FuncExpr:
		return n.Over == nil && n.IsAggregate()
	}
	return false
}

func has(nodes []sqlparser.SQLNode, what func(any) bool) bool {
	found := false
	w := Walk{Node: func(n any) bool {
		switch n.(type) {
		case *sqlparser.Subquery, sqlparser.SelectStatement:
			return false
		}
		found = found || what(n)
		return !found
	}}
	w.value(reflect.ValueOf(nodes))
	return found
}

// hasUnsteady says whether e may have another value each time it is computed: RAND() is no other RAND().
func hasUnsteady(e sqlparser.Expr) bool {
	found := false
	w := Walk{Node: func(n any) bool {
		f, ok := n.(*sqlparser.FuncExpr)
		found = found || ok && meaning.Unsteady(f.Name.String())
		return !found
	}}
	w.value(reflect.ValueOf(&e))
	return found
}
