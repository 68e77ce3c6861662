package rewrite

import (
	"maps"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// walkScoped calls visit for every pointer to a node of stmt before its parts, with the names (in lower case) of the common
// table expressions that are in scope there; false leaves the parts out. The body of one sees those before it, and itself
// if WITH is RECURSIVE. ctes are in scope for all of stmt. It returns how many nodes there are, and whether they are
// too many or too deep, in which case the walk ended.
func walkScoped(stmt sqlparser.Statement, ctes map[string]bool, visit func(n any, ctes map[string]bool) bool) (nodes int, tooComplex bool) {
	w := Walk{Node: func(n any) bool {
		place := withOf(n)
		if place == nil || *place == nil {
			return visit(n, ctes)
		}
		with := *place
		inner := maps.Clone(ctes)
		if inner == nil {
			inner = map[string]bool{}
		}
		walk := func(stmt sqlparser.Statement, ctes map[string]bool) {
			more, complex := walkScoped(stmt, ctes, visit)
			nodes, tooComplex = nodes+more, tooComplex || complex
		}
		for _, c := range with.Ctes {
			name := strings.ToLower(c.As.String())
			if with.Recursive {
				inner[name] = true
			}
			if sub, ok := c.Expr.(*sqlparser.Subquery); ok {
				walk(sub.Select, maps.Clone(inner))
			}
			inner[name] = true
		}
		*place = nil
		walk(n.(sqlparser.Statement), inner)
		*place = with
		return false
	}}
	w.Statement(stmt)
	return nodes + w.nodes, tooComplex || w.tooComplex
}

// withOf is where a statement keeps its WITH clause, or nil if it cannot have one.
func withOf(n any) **sqlparser.With {
	switch n := n.(type) {
	case *sqlparser.Select:
		return &n.With
	case *sqlparser.SetOp:
		return &n.With
	case *sqlparser.Insert:
		return &n.With
	case *sqlparser.Update:
		return &n.With
	case *sqlparser.Delete:
		return &n.With
	default:
		return nil
	}
}
