package mysql

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// fixBound checks and changes a plan whose names are bound and whose types are known, before the
// planner works on it: what the parsed statement does not show yet.
func fixBound(ctx *sql.Context, node sql.Node) (sql.Node, error) {
	if err := checkGrouping(ctx, node); err != nil {
		return nil, err
	}
	return fixExpressions(ctx, node)
}

// fixExpressions replaces expressions whose meaning depends on their operands' types, in node and in the
// subqueries inside its expressions.
func fixExpressions(ctx *sql.Context, node sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeExprsWithOpaque(node, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if sub, ok := e.(*plan.Subquery); ok {
			query, err := fixExpressions(ctx, sub.Query)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return sub.WithQuery(query), transform.NewTree, nil
		}
		if x := fixComparison(ctx, e); x != nil {
			return x, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, err
}
