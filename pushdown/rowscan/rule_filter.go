package rowscan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// filterRule moves conjuncts of a filter into the scan.
//
//  1. Below the filter lie only filters, an alias and a topic's table.
//  2. The table was not planned before.
//  3. At least one conjunct converts (convert.go); the others stay in a filter above.
//
// A row of an outer scope does no harm: a conjunct converts only if its columns are
// this table's, by table id, and all else in it is constant.
func filterRule(ctx *sql.Context, n *plan.Filter) (*Decision, error) {
	a := Match(n)
	if a == nil || a.Table.Planned() { // 1, 2
		return nil, nil
	}
	d := a.Filters(ctx)
	if d.Scan.Filter == nil { // 3
		return d, nil
	}
	var err error
	d.Node, err = a.rebuild(d.Scan, d.Left)
	return d, err
}
