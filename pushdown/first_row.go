package pushdown

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// firstRow is a column of the first row of a group. The engine takes the first value that is not NULL, of
// each column for itself, and so makes rows that never were: what it computes of them above (the
// grouping expressions, once more) need not be what it grouped by.
type firstRow struct{ expression.UnaryExpression }

var _ sql.Aggregation = (*firstRow)(nil)

// exactGroups is n with first rows, nil when it has no such column.
func exactGroups(n *plan.GroupBy) *plan.GroupBy {
	if len(n.GroupByExprs) == 0 {
		return nil
	}
	var out []sql.Expression
	for i, e := range n.SelectedExprs {
		if f, ok := e.(*expression.GetField); ok {
			if out == nil {
				out = append([]sql.Expression(nil), n.SelectedExprs...)
			}
			out[i] = &firstRow{expression.UnaryExpression{Child: f}}
		}
	}
	if out == nil {
		return nil
	}
	return plan.NewGroupBy(out, n.GroupByExprs, n.Child)
}

func (f *firstRow) String() string { return f.Child.String() }
func (f *firstRow) Type() sql.Type { return f.Child.Type() }

//nolint:staticcheck // the engine's name
func (f *firstRow) Id() sql.ColumnId { return 0 }

//nolint:staticcheck // the engine's name
func (f *firstRow) WithId(sql.ColumnId) sql.IdExpression { return f }

func (f *firstRow) Window() *sql.WindowDefinition { return nil }

func (f *firstRow) WithWindow(*sql.WindowDefinition) sql.WindowAdaptableExpression { return f }

func (f *firstRow) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, fmt.Errorf("pushdown: %s is no window", f)
}

// Eval is never called: an aggregate has a buffer.
func (f *firstRow) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, fmt.Errorf("pushdown: %s is an aggregate", f)
}

func (f *firstRow) WithChildren(c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(c), 1)
	}
	return &firstRow{expression.UnaryExpression{Child: c[0]}}, nil
}

func (f *firstRow) NewBuffer() (sql.AggregationBuffer, error) {
	return &firstRowBuffer{child: f.Child}, nil
}

type firstRowBuffer struct {
	child sql.Expression
	seen  bool
	value any
}

func (b *firstRowBuffer) Update(ctx *sql.Context, row sql.Row) (err error) {
	if !b.seen {
		b.value, err = b.child.Eval(ctx, row)
		b.seen = true
	}
	return err
}

func (b *firstRowBuffer) Eval(*sql.Context) (any, error) { return b.value, nil }
func (b *firstRowBuffer) Dispose()                       {}
