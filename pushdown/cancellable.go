package pushdown

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
)

// madeInMemory says whether a leaf of a plan makes its rows from what it holds. The engine looks at a statement's
// deadline where tables are read, and a join reads its inner tables once, into memory: one that has such a
// leaf on its outer side would never look again.
func madeInMemory(n sql.Node) bool {
	switch n.(type) {
	case *plan.JSONTable, *plan.RecursiveTable, *plan.Values:
		return true
	default:
		return false
	}
}

// cancellable builds such a leaf so that it ends with its statement.
func cancellable(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	rows, err := rowexec.DefaultBuilder.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return cancellableRows{rows}, nil
}

type cancellableRows struct{ sql.RowIter }

func (r cancellableRows) Next(ctx *sql.Context) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.RowIter.Next(ctx)
}
