package window

import (
	"context"
	"slices"

	"millrace/pushdown/compare"
	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Sort is the order that a window puts rows into.
type Sort struct {
	exprs      []sql.Expression
	descending []bool
	partitions int // so many of exprs part the rows

	keys  []any // of all rows, len(exprs) each
	order []int32
	asked int // comparisons
	err   error
}

// cancelEvery so many comparisons or rows a sort looks whether its statement was cancelled.
const cancelEvery = 4096

func SortOf(w *sql.WindowDefinition) *Sort {
	s := &Sort{}
	for _, e := range w.PartitionBy {
		if _, constant := e.(*expression.Literal); !constant {
			s.exprs = append(s.exprs, e)
			s.descending = append(s.descending, false)
		}
	}
	s.partitions = len(s.exprs)
	for _, f := range w.OrderBy {
		s.exprs = append(s.exprs, f.Column)
		s.descending = append(s.descending, f.Order == sql.Descending)
	}
	return s
}

// Same says that o sorts and parts rows as s does; RAND() is never the same as another one.
func (s *Sort) Same(o *Sort) bool {
	return s.partitions == o.partitions && slices.Equal(s.descending, o.descending) &&
		slices.EqualFunc(s.exprs, o.exprs, func(a, b sql.Expression) bool {
			return sql.DebugString(a) == sql.DebugString(b) && meaning.Deterministic(a)
		})
}

// sort evaluates the keys of rows and puts these into order; equal ones stay as they are.
func (s *Sort) sort(ctx *sql.Context, rows []sql.Row, full func(context.Context) error) error {
	s.keys = make([]any, 0, len(rows)*len(s.exprs))
	s.order = make([]int32, len(rows))
	for i, row := range rows {
		s.order[i] = int32(i)
		for _, e := range s.exprs {
			v, err := e.Eval(ctx, row)
			if err != nil {
				return err
			}
			if v, err = sql.UnwrapAny(ctx, v); err != nil {
				return err
			}
			s.keys = append(s.keys, v)
		}
		if full != nil {
			if err := full(ctx); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return s.compare(ctx, a, b, 0, len(s.exprs)) })
	return s.err
}

// Partition are the expressions that part the rows.
func (s *Sort) Partition() []sql.Expression { return s.exprs[:s.partitions] }

// key is the value of expression k in a row.
func (s *Sort) key(row int32, k int) any { return s.keys[int(row)*len(s.exprs)+k] }

// compare compares rows by the expressions from up to to. After an error, kept in s.err, all are equal.
func (s *Sort) compare(ctx *sql.Context, a, b int32, from, to int) int {
	if s.asked++; s.asked%cancelEvery == 0 && s.err == nil {
		s.err = ctx.Err()
	}
	for k := from; k < to; k++ {
		if s.err != nil {
			return 0
		}
		c, err := compare.Values(ctx, s.exprs[k].Type(), s.key(a, k), s.key(b, k))
		if err != nil {
			s.err = err
			return 0
		}
		if c != 0 {
			if s.descending[k] {
				return -c
			}
			return c
		}
	}
	return 0
}
