package rewrite

import (
	"reflect"

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
