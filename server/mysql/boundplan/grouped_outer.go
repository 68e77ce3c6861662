package boundplan

import (
	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// A grouping gives what the query around it names, and the planner forgets what only subqueries name there, as in SELECT
// SUM(a.n), (SELECT COUNT(*) FROM b WHERE b.k = a.k) FROM a GROUP BY a.k.

// keepForSubqueries lets groupings in node give the columns that subqueries above them ask for.
func keepForSubqueries(node sql.Node) (sql.Node, error) {
	out, _, err := keepAsked(node, nil, false)
	return out, err
}

// keepAsked does so for what lies beneath asked, the columns that subqueries of the same query ask for. selected: the projection
// that makes the query's columns lies above. It returns what was added to a grouping.
func keepAsked(node sql.Node, asked []*expression.GetField, selected bool) (sql.Node, []sql.Expression, error) {
	if x, ok := node.(sql.Expressioner); ok {
		for _, e := range x.Expressions() {
			asked = askedBySubqueries(e, asked)
		}
	}
	switch n := node.(type) {
	case *plan.Project, *plan.Having, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct:
		p, projects := n.(*plan.Project)
		child, added, err := keepAsked(node.Children()[0], asked, selected || projects)
		if err != nil || len(added) == 0 {
			return withChildren(node, child), nil, err
		}
		if !projects || !selected {
			return withChildren(node, child), added, nil
		}
		return plan.NewProject(append(append([]sql.Expression{}, p.Projections...), added...), child), added, nil
	case *plan.GroupBy:
		child, err := keepForSubqueries(n.Child)
		if err != nil {
			return nil, nil, err
		}
		has := sqlplan.Columns(n.Child)
		given := map[sql.ColumnId]bool{}
		for _, e := range n.SelectedExprs {
			if f, ok := e.(*expression.GetField); ok {
				given[f.Id()] = true
			}
		}
		var added []sql.Expression
		for _, f := range asked {
			if has.Contains(f.Id()) && !given[f.Id()] {
				given[f.Id()] = true
				added = append(added, f)
			}
		}
		if len(added) == 0 {
			return withChildren(node, child), nil, nil
		}
		return plan.NewGroupBy(append(append([]sql.Expression{}, n.SelectedExprs...), added...), n.GroupByExprs, child), added, nil
	}
	children := node.Children()
	fixed := make([]sql.Node, len(children))
	for i, c := range children {
		var err error
		if fixed[i], err = keepForSubqueries(c); err != nil {
			return nil, nil, err
		}
	}
	return withChildren(node, fixed...), nil, nil
}

// withChildren is node with these children, which are as many as it has.
func withChildren(node sql.Node, children ...sql.Node) sql.Node {
	for i, c := range node.Children() {
		if c != children[i] {
			if out, err := node.WithChildren(children...); err == nil {
				return out
			}
		}
	}
	return node
}

// askedBySubqueries adds the columns of queries around them that subqueries in e name.
func askedBySubqueries(e sql.Expression, out []*expression.GetField) []*expression.GetField {
	sql.Inspect(e, func(e sql.Expression) bool {
		if exists, ok := e.(*plan.ExistsSubquery); ok {
			out = columnsAsked(exists.Query.Query, exists.Query.Correlated(), out)
		}
		if sub, ok := e.(*plan.Subquery); ok {
			out = columnsAsked(sub.Query, sub.Correlated(), out)
		}
		return true
	})
	return out
}

// columnsAsked adds those of ids that are named in n and below.
func columnsAsked(n sql.Node, ids sql.ColSet, out []*expression.GetField) []*expression.GetField {
	if ids.Empty() {
		return out
	}
	if x, ok := n.(sql.Expressioner); ok {
		for _, e := range x.Expressions() {
			sql.Inspect(e, func(e sql.Expression) bool {
				if f, ok := e.(*expression.GetField); ok && ids.Contains(f.Id()) {
					out = append(out, f)
				}
				return true
			})
			out = askedBySubqueries(e, out)
		}
	}
	for _, c := range n.Children() {
		out = columnsAsked(c, ids, out)
	}
	return out
}
