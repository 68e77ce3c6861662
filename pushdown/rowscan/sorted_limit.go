package rowscan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// SortedLimit makes a TopN of a sort that a limit follows, behind an offset and
// projections; nil when there is none. The planner does so only when nothing stands
// between the two. A TopN keeps as many rows as are wanted where a sort keeps all, and
// topNRule knows it.
//
//  1. The limit does not count the rows it cuts off (SQL_CALC_FOUND_ROWS).
//  2. Between limit and sort lie only an offset and projections, which keep order and
//     number of the rows.
//
// Rows that compare equal keep their order in both.
func SortedLimit(n *plan.Limit) (sql.Node, error) {
	if n.CalcFoundRows { // 1
		return nil, nil
	}
	var between []sql.Node
	child, limit := n.Child, n.Limit
	if o, ok := child.(*plan.Offset); ok {
		between = append(between, o)
		child, limit = o.Child, expression.NewPlus(n.Limit, o.Offset)
	}
	for {
		switch node := child.(type) {
		case *plan.Project:
			between = append(between, node)
			child = node.Child
			continue
		case *plan.Sort:
			var out sql.Node = plan.NewTopN(node.SortFields, limit, node.Child)
			var err error
			for i := len(between) - 1; i >= 0; i-- {
				if out, err = between[i].WithChildren(out); err != nil {
					return nil, err
				}
			}
			return n.WithChildren(out)
		}
		return nil, nil // 2
	}
}
