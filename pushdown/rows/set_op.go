package rows

import (
	"context"
	"errors"
	"io"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// setOp is UNION, INTERSECT and EXCEPT row by row, without an order and limits of its own; nil for others, and for UNION ALL.
// The engine's go by hashes of 64 bits of the rows' bytes: text is different that its collation does not tell apart.
func (b Builder) setOp(ctx *sql.Context, n *plan.SetOp, row sql.Row) (sql.RowIter, error) {
	switch {
	case len(n.SortFields) > 0, n.Limit != nil, n.Offset != nil, n.SetOpType == plan.UnionType && !n.Distinct:
		return nil, nil
	case n.SetOpType == plan.UnionType:
		all := *n
		all.Distinct = false
		return b.distinct(ctx, &all, row)
	}
	right, err := b.countRows(ctx, n.Right(), n.Schema(), row)
	if err != nil {
		return nil, err
	}
	left, err := b.Base.Build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	return &setOpIter{RowIter: left, schema: n.Schema(), rows: right, intersect: n.SetOpType == plan.IntersectType, distinct: n.Distinct, full: b.Full}, nil
}

// countRows says how often each row of n is there.
func (b Builder) countRows(ctx *sql.Context, n sql.Node, schema sql.Schema, row sql.Row) (_ map[string]int, err error) {
	iter, err := b.Base.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, iter.Close(ctx)) }()
	rows := make(map[string]int)
	var key []byte
	for {
		r, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if key, err = compare.AppendRowKey(ctx, key[:0], schema, r); err != nil {
			return nil, err
		}
		times, known := rows[string(key)]
		if !known && b.Full != nil {
			if err := b.Full(ctx); err != nil {
				return nil, err
			}
		}
		rows[string(key)] = times + 1
	}
}

// setOpIter gives the rows of the left side that INTERSECT or EXCEPT keeps.
type setOpIter struct {
	sql.RowIter
	schema    sql.Schema
	rows      map[string]int // how often each row may still be taken (INTERSECT), or is still left out
	intersect bool
	distinct  bool
	full      func(context.Context) error
	key       []byte
}

// Next implements sql.RowIter.
func (it *setOpIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := it.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		if it.key, err = compare.AppendRowKey(ctx, it.key[:0], it.schema, row); err != nil {
			return nil, err
		}
		times := it.rows[string(it.key)]
		switch {
		case it.intersect && times == 0, !it.intersect && it.distinct && times > 0:
			continue
		case it.intersect && it.distinct:
			it.rows[string(it.key)] = 0
		case !it.intersect && it.distinct:
			if it.full != nil {
				if err := it.full(ctx); err != nil {
					return nil, err
				}
			}
			it.rows[string(it.key)] = 1
		case times > 0:
			if it.rows[string(it.key)] = times - 1; !it.intersect {
				continue
			}
		}
		return row, nil
	}
}
