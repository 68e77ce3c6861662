package rows

import (
	"context"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
)

// distinct is DISTINCT row by row. The engine's believes some orders of the primary key that a part of it does not
// have, goes by hashes of 64 bits, and takes text for different that its collation does not tell apart.
func (b Builder) distinct(ctx *sql.Context, child sql.Node, row sql.Row) (sql.RowIter, error) {
	iter, err := b.Base.Build(ctx, child, row)
	if err != nil {
		return nil, err
	}
	return &distinctIter{RowIter: iter, schema: child.Schema(), full: b.Full, seen: make(map[string]struct{})}, nil
}

// distinctIter returns the first of equal rows.
type distinctIter struct {
	sql.RowIter
	schema sql.Schema
	full   func(context.Context) error
	seen   map[string]struct{}
	key    []byte
}

// Next implements sql.RowIter.
func (it *distinctIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := it.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		if it.key, err = compare.AppendRowKey(ctx, it.key[:0], it.schema, row); err != nil {
			return nil, err
		}
		if _, seen := it.seen[string(it.key)]; seen {
			continue
		}
		if it.full != nil {
			if err := it.full(ctx); err != nil {
				return nil, err
			}
		}
		it.seen[string(it.key)] = struct{}{}
		return row, nil
	}
}
