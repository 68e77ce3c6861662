package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// fixSortedDistinct is n with references where it sorts the rows of a SELECT DISTINCT by what those have computed
// already, nil when there is nothing to change: the planner would compute it again, of columns that are gone.
func fixSortedDistinct(n *plan.Sort) sql.Node {
	d, ok := n.Child.(*plan.Distinct)
	if !ok {
		return nil
	}
	p, ok := d.Child.(*plan.Project)
	if !ok {
		return nil
	}
	fields := make(sql.SortFields, len(n.SortFields))
	changed := false
	for i, f := range n.SortFields {
		if a, ok := f.Column.(*expression.Alias); ok && a.Id() != 0 {
			for _, e := range p.Projections {
				if x, ok := e.(*expression.Alias); ok && x.Id() == a.Id() {
					f.Column, changed = expression.NewGetField(int(a.Id()), a.Type(), a.Name(), a.IsNullable()), true
					break
				}
			}
		}
		fields[i] = f
	}
	if !changed {
		return nil
	}
	return plan.NewSort(fields, n.Child)
}
