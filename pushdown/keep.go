package pushdown

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// keptNode is the input of a node that keeps all of its rows without asking whether there is
// memory for them: windows, and the one side of a hash join.
type keptNode struct{ sql.Node }

// watchKept puts a keptNode beneath n if n is such a node. In place: a hash join keeps its table
// in the node.
func watchKept(n sql.Node) {
	var child *sql.Node
	switch n := n.(type) {
	case *plan.Window:
		child = &n.Child
	case *plan.HashLookup:
		child = &n.Child
	default:
		return
	}
	if _, done := (*child).(keptNode); !done {
		*child = keptNode{*child}
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
