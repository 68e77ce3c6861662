package rows

import (
	"context"
	"errors"
	"io"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// groupBy is GROUP BY row by row; nil where the engine's is right: all rows are one group, of which nothing is kept and nothing
// compared expanded. The engine's groups go by hashes of 64 bits, takes equal decimals and doubles for different by
// how they are spelled, and makes rows that never were of columns that are neither grouped by nor aggregated: of each the
// first value that is not NULL.
func (b Builder) groupBy(ctx *sql.Context, n *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	changed := false
	if list := compare.ExpandedExtremes(n.SelectedExprs); list != nil {
		n, changed = plan.NewGroupBy(list, n.GroupByExprs, n.Child), true
	}
	if _, asks := n.Child.(*Kept); !asks && keepsValues(n.SelectedExprs) {
		n, changed = plan.NewGroupBy(n.SelectedExprs, n.GroupByExprs, Keep(n.Child)), true
	}
	switch {
	case len(n.GroupByExprs) > 0:
	case changed:
		return b.Base.Build(ctx, n, row)
	default:
		return nil, nil
	}
	child, err := b.Base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return &groupIter{RowIter: child, n: n, full: b.Full, byKey: map[string]rowGroup{}}, nil
}

// groupIter returns a row for each group, in the order of their first rows.
type groupIter struct {
	sql.RowIter
	n      *plan.GroupBy
	full   func(context.Context) error
	byKey  map[string]rowGroup
	groups []rowGroup // nil before all rows are read
	at     int
	key    []byte
}

// rowGroup has a buffer for each selected expression.
type rowGroup []sql.AggregationBuffer

// Next implements sql.RowIter.
func (it *groupIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.groups == nil {
		it.groups = []rowGroup{}
		if err := it.read(ctx); err != nil {
			return nil, err
		}
	}
	if it.at == len(it.groups) {
		return nil, io.EOF
	}
	g := it.groups[it.at]
	it.at++
	row := make(sql.Row, len(g))
	for i, b := range g {
		var err error
		if row[i], err = b.Eval(ctx); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (it *groupIter) read(ctx *sql.Context) error {
	for {
		row, err := it.RowIter.Next(ctx)
		if errors.Is(err, io.EOF) {
			it.byKey = nil
			return nil
		}
		if err != nil {
			return err
		}
		g, err := it.group(ctx, row)
		if err != nil {
			return err
		}
		for _, b := range g {
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
}

// group is that of row.
func (it *groupIter) group(ctx *sql.Context, row sql.Row) (rowGroup, error) {
	it.key = it.key[:0]
	for _, e := range it.n.GroupByExprs {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if it.key, err = compare.AppendKey(ctx, it.key, e.Type(), v); err != nil {
			return nil, err
		}
	}
	if g, ok := it.byKey[string(it.key)]; ok {
		return g, nil
	}
	if it.full != nil {
		if err := it.full(ctx); err != nil {
			return nil, err
		}
	}
	g := make(rowGroup, len(it.n.SelectedExprs))
	for i, e := range it.n.SelectedExprs {
		a, ok := e.(sql.Aggregation)
		if !ok {
			g[i] = &firstRow{of: e}
			continue
		}
		var err error
		if g[i], err = a.NewBuffer(); err != nil {
			return nil, err
		}
	}
	it.byKey[string(it.key)] = g
	it.groups = append(it.groups, g)
	return g, nil
}

// Close implements sql.RowIter.
func (it *groupIter) Close(ctx *sql.Context) error {
	for _, g := range it.groups {
		for _, b := range g {
			b.Dispose()
		}
	}
	it.groups, it.byKey = []rowGroup{}, nil
	return it.RowIter.Close(ctx)
}

// firstRow is the value of an expression in the first row of a group.
type firstRow struct {
	of    sql.Expression
	seen  bool
	value any
}

// Update implements sql.AggregationBuffer.
func (f *firstRow) Update(ctx *sql.Context, row sql.Row) (err error) {
	if !f.seen {
		f.value, err = f.of.Eval(ctx, row)
		f.seen = true
	}
	return err
}

// Eval implements sql.AggregationBuffer.
func (f *firstRow) Eval(*sql.Context) (any, error) { return f.value, nil }

// Dispose implements sql.AggregationBuffer.
func (f *firstRow) Dispose() {}
