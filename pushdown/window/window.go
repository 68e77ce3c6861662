package window

import (
	"context"
	"errors"
	"io"
	"slices"

	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Why windows are our own: the engine looks at the first ORDER BY key only to find a frame by values, takes
// equal decimals for different ones, gives MIN and MAX the whole partition, and keeps its input without
// asking whether there is memory.

// Build carries windows out row by row, over a child that base builds; nil for those that it does not know. full is asked
// for every row that is kept, and returns the error with which the statement ends if that may not be; nil: it may.
func Build(ctx *sql.Context, n *plan.Window, row sql.Row, base sql.NodeExecBuilder, full func(context.Context) error) (sql.RowIter, error) {
	it := &windowIter{full: full, columns: make([]windowColumn, len(n.SelectExprs))}
	for i, e := range n.SelectExprs {
		e = sqlplan.Unalias(e)
		c := &it.columns[i]
		c.expr = e
		w, ok := e.(sql.WindowAdaptableExpression)
		if !ok {
			continue
		}
		if _, own := e.(*Call); !own {
			if _, ok := e.(sql.Aggregation); !ok {
				return nil, nil
			}
		}
		def := w.Window()
		if def == nil {
			return nil, nil
		}
		s := SortOf(def)
		c.sort = slices.IndexFunc(it.sorts, s.Same)
		if c.sort < 0 {
			c.sort = len(it.sorts)
			it.sorts = append(it.sorts, s)
		}
		c.frame, c.windowed = FrameOf(def), true
	}
	child, err := base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	it.child = child
	return it, nil
}

// windowColumn is one selected expression of a window node.
type windowColumn struct {
	expr     sql.Expression
	windowed bool
	sort     int // among the iterator's
	frame    Frame
	values   []any // by row
}

// windowIter keeps all rows, sorts them once for each kind of window, and returns them in the order in which
// they came.
type windowIter struct {
	child   sql.RowIter
	full    func(context.Context) error
	columns []windowColumn
	sorts   []*Sort

	rows []sql.Row
	next int
	done bool // the child was read
}

// Next implements sql.RowIter.
func (it *windowIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.done {
		if err := it.compute(ctx); err != nil {
			return nil, err
		}
		it.done = true
	}
	if it.next >= len(it.rows) {
		return nil, io.EOF
	}
	out := make(sql.Row, len(it.columns))
	for i := range it.columns {
		c := &it.columns[i]
		if c.windowed {
			out[i] = c.values[it.next]
			continue
		}
		v, err := c.expr.Eval(ctx, it.rows[it.next])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	it.rows[it.next] = nil
	it.next++
	return out, nil
}

// Close implements sql.RowIter.
func (it *windowIter) Close(ctx *sql.Context) error {
	it.rows, it.columns = nil, nil
	return it.child.Close(ctx)
}

func (it *windowIter) compute(ctx *sql.Context) error {
	for {
		row, err := it.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if it.full != nil {
			if err := it.full(ctx); err != nil {
				return err
			}
		}
		it.rows = append(it.rows, row)
	}
	for i := range it.columns {
		if it.columns[i].windowed {
			it.columns[i].values = make([]any, len(it.rows))
		}
	}
	for at, s := range it.sorts {
		if err := s.sort(ctx, it.rows, it.full); err != nil {
			return err
		}
		for start, end := 0, 0; start < len(s.order); start = end {
			for end = start + 1; end < len(s.order) && s.compare(ctx, s.order[start], s.order[end], 0, s.partitions) == 0; end++ {
			}
			p, err := newPartition(ctx, s, s.order[start:end], it.rows)
			if err != nil {
				return err
			}
			for i := range it.columns {
				c := &it.columns[i]
				if c.windowed && c.sort == at {
					if err := p.compute(ctx, c); err != nil {
						return err
					}
				}
			}
		}
		s.keys, s.order = nil, nil
	}
	return nil
}
