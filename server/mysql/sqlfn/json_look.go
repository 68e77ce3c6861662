package sqlfn

import (
	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// jsonLookFunctions answer questions about a document's text.
func jsonLookFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "json_contains", typeOf: fixed(types.Boolean), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			candidate, err := jsonValue(args[1], 2, "json_contains")
			if err != nil {
				return nil, err
			}
			target, err := jsonAt(ctx, args, 2, "json_contains")
			if err != nil || target == nil {
				return nil, err
			}
			return target.Contains(ctx, candidate)
		}}, 2, 3),
		scalarFunction(scalar{name: "json_contains_path", typeOf: fixed(types.Boolean), strict: true, eval: jsonContainsPath}, 3, 1<<10),
		scalarFunction(scalar{name: "json_overlaps", typeOf: fixed(types.Boolean), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			a, err := jsonValue(args[0], 1, "json_overlaps")
			if err != nil {
				return nil, err
			}
			b, err := jsonValue(args[1], 2, "json_overlaps")
			if err != nil {
				return nil, err
			}
			return a.Overlaps(ctx, b)
		}}, 2, 2),
		scalarFunction(scalar{name: "json_length", typeOf: fixed(types.Int64), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonAt(ctx, args, 1, "json_length")
			if err != nil || v == nil {
				return nil, err
			}
			return int64(v.Length()), nil
		}}, 1, 2),
		scalarFunction(scalar{name: "json_keys", typeOf: fixed(types.JSON), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonAt(ctx, args, 1, "json_keys")
			if err != nil || v == nil || v.Kind() != jsonval.Object {
				return nil, err
			}
			return sqltable.JSONText(v.Keys()), nil
		}}, 1, 2),
		scalarFunction(scalar{name: "json_type", typeOf: fixed(types.LongText), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if v, ok := args[0].(types.JSONDocument); ok { // a number of SQL's
				switch v.Val.(type) {
				case decimal.Decimal:
					return "DECIMAL", nil
				case uint64:
					return "UNSIGNED INTEGER", nil
				}
			}
			v, err := jsonValue(args[0], 1, "json_type")
			if err != nil {
				return nil, err
			}
			return v.Type(), nil
		}}, 1, 1),
		scalarFunction(scalar{name: "json_depth", typeOf: fixed(types.Int64), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonValue(args[0], 1, "json_depth")
			if err != nil {
				return nil, err
			}
			return int64(v.Depth()), nil
		}}, 1, 1),
	}
}

// jsonAt is the first argument's document, or what the path in argument i leads to; nil when there is
// nothing there.
func jsonAt(ctx *sql.Context, args []any, i int, function string) (jsonval.Value, error) {
	doc, err := jsonValue(args[0], 1, function)
	if err != nil || len(args) <= i {
		return doc, err
	}
	paths, err := jsonPaths(args[i:], i+1)
	if err != nil {
		return nil, err
	}
	if paths[0].Wild() {
		return nil, errWildPath()
	}
	return doc.Extract(ctx, paths[0])
}

func jsonContainsPath(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	doc, err := jsonValue(args[0], 1, "json_contains_path")
	if err != nil {
		return nil, err
	}
	one, err := oneOrAll(args[1], "json_contains_path")
	if err != nil {
		return nil, err
	}
	paths, err := jsonPaths(args[2:], 3)
	if err != nil {
		return nil, err
	}
	return doc.ContainsPath(ctx, !one, paths...)
}
