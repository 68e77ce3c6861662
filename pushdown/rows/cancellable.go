package rows

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// cancellable are the rows of a leaf of a plan that makes them from what it holds, ending with their statement. The engine
// looks at a statement's deadline where tables are read, and a join reads its inner tables once, into memory: one that has
// such a leaf on its outer side would never look again.
type cancellable struct{ sql.RowIter }

// Next implements sql.RowIter.
func (r cancellable) Next(ctx *sql.Context) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.RowIter.Next(ctx)
}
