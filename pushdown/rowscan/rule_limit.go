package rowscan

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// limitRule ends the scan after as many rows as LIMIT (and OFFSET) can use.
//
//  1. The limit does not count the rows it cuts off (SQL_CALC_FOUND_ROWS).
//  2. Below it lie, after an optional offset, only projections, filters, an alias
//     and a topic's table, none of which changes the order or number of rows but the
//     filters.
//  3. The table was not planned before.
//  4. Every conjunct of the filters is evaluated by the scan.
//
// The limit node stays and still counts; the scan only stops early.
func limitRule(ctx *sql.Context, n *plan.Limit) (*Decision, error) {
	if n.CalcFoundRows { // 1
		return nil, nil
	}
	child, skip := n.Child, int64(0)
	offset, _ := child.(*plan.Offset)
	if offset != nil {
		child = offset.Child
	}
	a := Match(child)
	if a == nil || a.Table.Planned() { // 2, 3
		return nil, nil
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil {
		return nil, err
	}
	if offset != nil {
		if skip, err = iters.GetInt64Value(ctx, offset.Offset); err != nil {
			return nil, err
		}
	}
	if limit <= 0 || skip < 0 || limit > math.MaxInt64-skip {
		return nil, nil
	}
	d := a.Filters(ctx)
	d.What = "limit"
	if len(d.Left) > 0 { // 4
		return nil, nil // the filter rule gets its turn further down
	}
	d.Scan.Limit = limit + skip
	node, err := a.rebuild(d.Scan, nil)
	if err != nil {
		return nil, err
	}
	if offset != nil {
		if node, err = offset.WithChildren(node); err != nil {
			return nil, err
		}
	}
	d.Node, err = n.WithChildren(node)
	return d, err
}
