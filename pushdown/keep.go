package pushdown

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// keptNode is the input of a window, which keeps all of its rows without asking whether there is
// memory for them.
type keptNode struct{ sql.Node }

// watchKept puts a keptNode beneath n.
func watchKept(n *plan.Window) {
	if _, done := n.Child.(keptNode); !done {
		n.Child = keptNode{n.Child}
	}
}

// keptIter asks for memory before each row.
type keptIter struct {
	sql.RowIter
	full func() error
}

// Next implements sql.RowIter.
func (it *keptIter) Next(ctx *sql.Context) (sql.Row, error) {
	if err := it.full(); err != nil {
		return nil, err
	}
	return it.RowIter.Next(ctx)
}
