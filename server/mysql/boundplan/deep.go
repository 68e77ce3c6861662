package boundplan

import (
	"millrace/internal/sqlplan"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// withoutWrappers takes off what a parsed statement's columns and arguments were wrapped in so that it could be bound in time and
// rightly (package rewrite, deep.go and nested.go); changed: there were some, and references to such columns may have other types.
func withoutWrappers(node sql.Node) (_ sql.Node, changed bool, err error) {
	out, same, err := transform.NodeExprsWithOpaque(node, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if inner, ok := sqlfn.WithoutWrapper(e); ok {
			return inner, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, !bool(same), err
}

// keepSchemas lets the columns of derived tables that lie deep be computed once.
func keepSchemas(node sql.Node) (sql.Node, error) {
	out, _, err := deepened(node)
	return out, err
}

// deepened is node, and how many derived tables and set operations lie in one another there.
func deepened(node sql.Node) (sql.Node, int, error) {
	children := node.Children()
	if len(children) == 0 {
		return node, 0, nil
	}
	depth, changed := 0, false
	fixed := make([]sql.Node, len(children))
	for i, c := range children {
		x, d, err := deepened(c)
		if err != nil {
			return nil, 0, err
		}
		fixed[i], changed = x, changed || x != c
		depth = max(depth, d)
	}
	switch node.(type) {
	case *plan.SubqueryAlias:
		if depth > 0 {
			fixed[0], changed = sqlplan.KeepSchema(fixed[0]), true
		}
		depth++
	case *plan.SetOp:
		depth++
	}
	if changed {
		var err error
		if node, err = node.WithChildren(fixed...); err != nil {
			return nil, 0, err
		}
	}
	return node, depth, nil
}
