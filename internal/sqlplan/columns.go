// Package sqlplan reads plans of the SQL engine, and what makes that cheap.
package sqlplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Columns are those that what stands above n may name: its tables', or what it computes of them.
func Columns(n sql.Node) sql.ColSet {
	var out sql.ColSet
	switch n := n.(type) {
	case plan.TableIdNode:
		return n.Columns()
	case sql.Projector:
		for _, e := range n.ProjectedExprs() {
			if id, ok := e.(sql.IdExpression); ok {
				out.Add(id.Id())
			}
		}
	case *plan.JoinNode:
		if n.Op.IsPartial() {
			return Columns(n.Left())
		}
	}
	// What is computed may be called as what it was computed of.
	for _, c := range n.Children() {
		out = out.Union(Columns(c))
	}
	return out
}
