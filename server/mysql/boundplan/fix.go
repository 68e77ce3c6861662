// Package boundplan checks and changes plans whose names are bound and whose types are known, before the planner works on
// them: what a parsed statement does not show yet.
package boundplan

import (
	"math"

	"millrace/pushdown/exact"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Fix is node, of a bound statement, as the planner shall have it. The error is of the statement: it groups by too little, or
// its unions do not fit.
func Fix(ctx *sql.Context, node sql.Node) (sql.Node, error) {
	node, changed, err := withoutWrappers(node)
	if err != nil {
		return nil, err
	}
	if err := checkGrouping(ctx, node); err != nil {
		return nil, err
	}
	if node, err = keepSchemas(node); err != nil {
		return nil, err
	}
	if node, err = fixSetOps(node, changed); err != nil {
		return nil, err
	}
	return fixQuery(ctx, node)
}

func fixQuery(ctx *sql.Context, node sql.Node) (sql.Node, error) {
	node, err := keepForSubqueries(node)
	if err != nil {
		return nil, err
	}
	node, err = fixExpressions(ctx, node)
	if err != nil {
		return nil, err
	}
	out, _, err := transform.NodeWithOpaque(node, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.Filter:
			if e, changed := joinable(n.Expression); changed {
				return plan.NewFilter(e, n.Child), transform.NewTree, nil
			}
		case *plan.JoinNode:
			if j := fixJoin(n); j != nil {
				return j, transform.NewTree, nil
			}
		case *plan.Project:
			if p := fixProjected(n); p != nil {
				return p, transform.NewTree, nil
			}
		case *plan.Sort:
			if x := fixSortedDistinct(n); x != nil {
				return x, transform.NewTree, nil
			}
		case *plan.Limit:
			if e := countable(n.Limit); e != nil {
				out := *n
				out.Limit = e
				return &out, transform.NewTree, nil
			}
		case *plan.Offset:
			if e := countable(n.Offset); e != nil {
				out := *n
				out.Offset = e
				return &out, transform.NewTree, nil
			}
		}
		return n, transform.SameTree, nil
	})
	return out, err
}

// maxRows is more rows than there are; the sum of two is no overflow.
const maxRows = math.MaxInt64 / 2

// countable is a LIMIT or OFFSET as maxRows if it is beyond that, else nil: the planner adds the
// two, and «LIMIT 5, 18446744073709551615», MySQL's way to say «all but the first five», would
// wrap around.
func countable(e sql.Expression) sql.Expression {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return nil
	}
	switch n := lit.Value().(type) {
	case uint64:
		if n <= maxRows {
			return nil
		}
	case int64:
		if n <= maxRows {
			return nil
		}
	default:
		return nil
	}
	return expression.NewLiteral(int64(maxRows), types.Int64)
}

func fixCoalesce(_ *sql.Context, e sql.Expression) sql.Expression { return exact.Coalesce(e) }

// fixExpressions replaces expressions whose meaning depends on their operands' types, in node and in the
// subqueries inside its expressions.
func fixExpressions(ctx *sql.Context, node sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeExprsWithOpaque(node, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if sub, ok := e.(*plan.Subquery); ok {
			query, changed, err := withoutWrappers(sub.Query)
			if err != nil {
				return nil, transform.SameTree, err
			}
			if query, err = keepSchemas(query); err != nil {
				return nil, transform.SameTree, err
			}
			if query, err = fixSetOps(query, changed); err != nil {
				return nil, transform.SameTree, err
			}
			if query, err = fixQuery(ctx, query); err != nil {
				return nil, transform.SameTree, err
			}
			return sub.WithQuery(query), transform.NewTree, nil
		}
		same := transform.SameTree
		if x := fixLike(e); x != nil {
			e, same = x, transform.NewTree
		}
		for _, fix := range [...]func(*sql.Context, sql.Expression) sql.Expression{fixEnum, fixCorrelated, fixIn, fixScalar, fixRowIn, fixRows, fixComparison, fixExpansions, exact.Comparison, fixCoalesce, fixInterval, fixTimeArguments, fixTrim, fixJSONText, fixQuotient} {
			if x := fix(ctx, e); x != nil {
				e, same = x, transform.NewTree
			}
		}
		return e, same, nil
	})
	return out, err
}
