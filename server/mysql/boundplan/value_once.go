package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// ValueOf carries out a subquery of one column and at most one row; without one it is NULL. false: it has no
// value, and an error only if a row asks for it.
type ValueOf func(sub *plan.Subquery) (v any, ok bool, err error)

// WithValues puts the values of subqueries that are the same for every row in their place, so that a comparison with one is
// a comparison with a constant, which scans and columns know.
func WithValues(node sql.Node, valueOf ValueOf) (sql.Node, error) {
	out, _, err := transform.NodeExprsWithOpaque(node, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		one, ok := e.(*oneValue)
		if !ok {
			return e, transform.SameTree, nil
		}
		sub, ok := one.Child.(*plan.Subquery)
		if !ok || sub.Volatile() {
			return e, transform.SameTree, nil
		}
		query, err := WithValues(sub.Query, valueOf)
		if err != nil {
			return nil, transform.SameTree, err
		}
		v, ok, err := valueOf(sub.WithQuery(query))
		if err != nil {
			return nil, transform.SameTree, err
		}
		if !ok {
			return e, transform.SameTree, nil
		}
		return expression.NewLiteral(v, one.Type()), transform.NewTree, nil
	})
	return out, err
}
