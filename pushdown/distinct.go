package pushdown

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// distinct is DISTINCT row by row. The engine's believes some orders of the primary key that a part of it does not
// have, goes by hashes of 64 bits, and takes text for different that its collation does not tell apart.
func (b *Builder) distinct(ctx *sql.Context, child sql.Node, row sql.Row) (sql.RowIter, error) {
	iter, err := b.base.Build(ctx, child, row)
	if err != nil {
		return nil, err
	}
	return &distinctIter{RowIter: iter, schema: child.Schema(), full: b.full, seen: make(map[string]struct{})}, nil
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
		if it.key, err = appendRowKey(ctx, it.key[:0], it.schema, row); err != nil {
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

// appendRowKey appends the key of every value of a row.
func appendRowKey(ctx *sql.Context, b []byte, schema sql.Schema, row sql.Row) ([]byte, error) {
	for i, v := range row {
		var t sql.Type
		if i < len(schema) {
			t = schema[i].Type
		}
		var err error
		if b, err = appendGroupKey(ctx, b, t, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendGroupKey appends bytes that are the same for values of type t that are equal, NULLs among them, and for no
// others. No key is the start of another one.
func appendGroupKey(ctx *sql.Context, b []byte, t sql.Type, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	if t != nil && types.IsFloat(t) {
		// The rows of a union may have numbers of any kind in it.
		if f, err := asDouble(v); err == nil {
			return appendDouble(b, f), nil
		}
	}
	switch v := v.(type) {
	case nil:
		return append(b, 0), nil
	case float64:
		return appendDouble(b, v), nil
	case float32:
		return appendDouble(b, float64(v)), nil
	case decimal.Decimal:
		s := v.String()
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return appendText(b, 'n', s), nil
	case uint64:
		return appendText(b, 'n', strconv.FormatUint(v, 10)), nil
	case time.Time:
		b = binary.BigEndian.AppendUint64(append(b, 't'), uint64(v.Unix()))
		return binary.BigEndian.AppendUint32(b, uint32(v.Nanosecond())), nil
	case []byte:
		return appendText(b, 's', string(v)), nil
	case string:
		if st, ok := t.(sql.StringType); ok && !bytesCompare(st) {
			weights, err := AppendWeights(nil, st.Collation(), v)
			if err != nil {
				return nil, err
			}
			v = string(weights)
		}
		return appendText(b, 's', v), nil
	}
	if n, ok := intOf(v); ok {
		return appendText(b, 'n', strconv.FormatInt(n, 10)), nil
	}
	return appendText(b, 'v', fmt.Sprint(v)), nil
}

func appendDouble(b []byte, f float64) []byte {
	if f == 0 {
		f = 0 // −0 equals 0
	}
	return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(f))
}

func appendText(b []byte, kind byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, kind), uint64(len(s))), s...)
}
