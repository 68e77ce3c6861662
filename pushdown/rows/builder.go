package rows

import (
	"context"

	"millrace/internal/sqlplan"
	"millrace/pushdown/compare"
	"millrace/pushdown/window"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
)

// Builder builds nodes whose rows the engine would get wrong, or keep without asking for memory.
type Builder struct {
	// Base builds what lies below.
	Base sql.NodeExecBuilder
	// Full returns the error with which a statement ends that may keep no more rows in memory, else nil; nil: never full.
	Full func(context.Context) error
}

// Build returns the rows of n beneath a row of an outer scope; nil where the engine's are right.
func (b Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.HashLookup:
		return b.hashLookup(ctx, n, row)
	case *sqlplan.KeptSchema:
		return b.Base.Build(ctx, n.Child, row)
	case *Kept:
		return b.kept(ctx, n, row)
	case *plan.Window:
		return window.Build(ctx, n, row, b.Base, b.Full)
	case *plan.Distinct:
		return b.distinct(ctx, n.Child, row)
	case *plan.OrderedDistinct:
		return b.distinct(ctx, n.Child, row)
	case *plan.SetOp:
		return b.setOp(ctx, n, row)
	case *plan.GroupBy:
		return b.groupBy(ctx, n, row)
	case *plan.Sort:
		if fields := compare.ExpandedSort(n.SortFields); fields != nil {
			return b.Base.Build(ctx, plan.NewSort(fields, n.Child), row)
		}
	case *plan.TopN:
		if fields := compare.ExpandedSort(n.Fields); fields != nil {
			top := *n
			top.Fields = fields
			return b.Base.Build(ctx, &top, row)
		}
	case *plan.JSONTable, *plan.RecursiveTable, *plan.Values:
		rows, err := rowexec.DefaultBuilder.Build(ctx, n, row)
		if err != nil {
			return nil, err
		}
		return cancellable{rows}, nil
	}
	return nil, nil
}
