package rowscan

import (
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// topNRule reads only the first or last rows of each partition for
// ORDER BY _offset [DESC] LIMIT n, also behind a leading _partition.
//
//  1. The node does not count the rows it cuts off (SQL_CALC_FOUND_ROWS).
//  2. Below it lie only projections, filters, an alias and a topic's table.
//  3. The table was not planned before.
//  4. Every conjunct of the filters is evaluated by the scan.
//  5. The first sort field, or the second after _partition, is _offset itself. Any
//     further fields order only rows of equal offset, of which a partition has one.
//
// The node stays and sorts what is left. Rows that compare equal come in the same
// order as without the rule: by partition.
func topNRule(ctx *sql.Context, n *plan.TopN) (*Decision, error) {
	if n.CalcFoundRows { // 1
		return nil, nil
	}
	a := Match(n.Child)
	if a == nil || a.Table.Planned() { // 2, 3
		return nil, nil
	}
	reverse, ok := offsetOrder(a, n.Fields)
	if !ok { // 5
		return nil, nil
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, nil
	}
	d := a.Filters(ctx)
	d.What = "oldest rows of each partition"
	if reverse {
		d.What = "newest rows of each partition"
	}
	if len(d.Left) > 0 { // 4
		return nil, nil
	}
	d.Scan.PartitionLimit = limit
	d.Scan.Reverse = reverse
	node, err := a.rebuild(d.Scan, nil)
	if err != nil {
		return nil, err
	}
	d.Node, err = n.WithChildren(node)
	return d, err
}

func offsetOrder(a *Access, fields sql.SortFields) (reverse, ok bool) {
	for i, f := range fields {
		col, _, known := a.output(f.Column)
		switch {
		case !known:
			return false, false
		case col.Kind == scan.Offset:
			return f.Order == sql.Descending, true
		case col.Kind == scan.Partition && i == 0:
			continue
		}
		return false, false
	}
	return false, false
}
