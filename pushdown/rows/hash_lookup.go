package rows

import (
	"context"
	"errors"
	"io"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// hashLookup is the engine's hash join with keys of our own. The engine looks values up by
// Go's equality (equal decimals differ), converts the one side to the other side's type (and fails where
// it does not fit), and forgets NULLs of the right side in NOT IN. Here a key may be the same for
// different values, never different for equal ones: the join compares what it finds again.
//
// As in the engine, the first pass over the child builds the table while it returns all rows, and the
// table is kept in the node.
func (b Builder) hashLookup(ctx *sql.Context, n *plan.HashLookup, row sql.Row) (sql.RowIter, error) {
	n.Mutex.Lock()
	defer n.Mutex.Unlock()
	keys := keysOf(n)
	if n.Lookup == nil {
		child, err := b.Base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &hashBuild{RowIter: child, n: n, keys: keys, full: b.Full, rows: map[any][]sql.Row{}}, nil
	}
	key, null, err := keys.of(ctx, n.LeftProbeKey, row)
	if err != nil {
		return nil, err
	}
	rows := *n.Lookup
	found := rows[key]
	if n.JoinType.IsExcludeNulls() {
		// A NULL on the right decides about every left row, and a left NULL about itself unless
		// the right is empty.
		found = append(found[:len(found):len(found)], rows[nullKey]...)
		if null && len(found) == 0 {
			for _, other := range rows {
				found = other[:1]
				break
			}
		}
	}
	return sql.RowsToRowIter(found...), nil
}

// hashBuild returns the child's rows and keeps them by key.
type hashBuild struct {
	sql.RowIter
	n    *plan.HashLookup
	keys hashKeys
	full func(context.Context) error
	rows map[any][]sql.Row
}

// Next implements sql.RowIter.
func (it *hashBuild) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if errors.Is(err, io.EOF) {
		it.n.Mutex.Lock()
		it.n.Lookup = &it.rows
		it.n.Mutex.Unlock()
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if it.full != nil {
		if err := it.full(ctx); err != nil {
			return nil, err
		}
	}
	key, null, err := it.keys.of(ctx, it.n.RightEntryKey, row)
	if err != nil {
		return nil, err
	}
	if null {
		key = nullKey
	}
	it.rows[key] = append(it.rows[key], row)
	return row, nil
}

// nullKey holds the right rows with a NULL among their keys.
const nullKey = "NULL"

// hashKeys are the classes of a key's parts.
type hashKeys []compare.KeyClass

func keysOf(n *plan.HashLookup) hashKeys {
	left, right := parts(n.LeftProbeKey), parts(n.RightEntryKey)
	keys := make(hashKeys, len(left))
	for i := range left {
		if len(left) == len(right) {
			keys[i] = compare.KeyClassOf(left[i].Type(), right[i].Type())
		}
	}
	return keys
}

func parts(e sql.Expression) []sql.Expression {
	if t, ok := e.(expression.Tuple); ok {
		return t
	}
	return []sql.Expression{e}
}

// of is the key of row; null says that part of it is NULL.
func (k hashKeys) of(ctx *sql.Context, e sql.Expression, row sql.Row) (key any, null bool, err error) {
	var buf []byte
	list := parts(e)
	for i, part := range list {
		v, err := part.Eval(ctx, row)
		if err != nil {
			return nil, false, err
		}
		if v == nil {
			return nullKey, true, nil
		}
		if buf, err = k[min(i, len(k)-1)].Append(ctx, buf, v); err != nil {
			return nil, false, err
		}
	}
	return "=" + string(buf), false, nil
}
