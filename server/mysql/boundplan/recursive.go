package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// recursive brings the rows of all rounds of a recursive query to the types of its first part, as MySQL does; the planner only
// says that they have them. Text alone may be longer than there, which MySQL refuses.
func (f *setOps) recursive(n *plan.RecursiveCte) (sql.Node, error) {
	first, err := f.fix(n.Left())
	if err != nil {
		return nil, err
	}
	next, err := f.fix(n.Right())
	if err != nil {
		return nil, err
	}
	have, more := first.Schema(), next.Schema()
	if len(have) != len(more) {
		return nil, planbuilder.ErrUnionSchemasDifferentLength.New(len(have), len(more))
	}
	out := make([]sql.Type, len(have))
	for i, c := range n.Schema() {
		t := have[i].Type
		if t == types.Null {
			t = more[i].Type
		}
		if !types.IsTime(t) { // promoted, a date has a time of day
			t = t.Promote()
		}
		// The table that holds the last round has this same column.
		f.changed = f.changed || !identical(c.Type, t)
		c.Type = t
		if !types.IsText(t) || !types.IsText(have[i].Type) || !types.IsText(more[i].Type) {
			out[i] = t
		}
	}
	node, err := n.WithChildren(setMember{node: first}.to(out), setMember{node: next}.to(out))
	if err != nil {
		return nil, err
	}
	f.register(n.Columns(), n.Schema())
	return node, nil
}
