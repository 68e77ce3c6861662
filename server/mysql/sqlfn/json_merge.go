package sqlfn

import (
	"millrace/blobexpand/jsonval"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonMergeFunctions make one document of several. JSON_MERGE is JSON_MERGE_PRESERVE's old name.
func jsonMergeFunctions(memory Memory) []sql.Function {
	var out []sql.Function
	for _, name := range []string{"json_merge", "json_merge_preserve"} {
		out = append(out, scalarFunction(scalar{name: name, strict: true, typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			var merged *jsonval.Document
			size := 0
			for i, a := range args {
				d, err := jsonDocument(a, i+1, name, memory)
				if err != nil {
					return nil, err
				}
				if size += d.Size(); size > maxFunctionBytes {
					return tooLong(ctx, name), nil
				}
				if merged == nil {
					merged = d
				} else {
					merged.Merge(*d)
				}
			}
			return jsonResult(ctx, name, merged, memory)
		}}, 2, maxArguments))
	}
	return append(out, scalarFunction(scalar{name: "json_merge_patch", typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
		var patched *jsonval.Document // nil: NULL so far
		size := 0
		for i, a := range args {
			d, err := jsonDocument(a, i+1, "json_merge_patch", memory)
			if err != nil {
				return nil, err
			}
			if d != nil {
				size += d.Size()
			}
			if size > maxFunctionBytes {
				return tooLong(ctx, "json_merge_patch"), nil
			}
			switch {
			case d == nil:
				patched = nil
			case patched != nil:
				patched.Patch(*d)
			case i == 0 || !d.IsObject(): // what is no object takes the place of anything, NULL too
				patched = d
			}
		}
		if patched == nil {
			return nil, nil
		}
		return jsonResult(ctx, "json_merge_patch", patched, memory)
	}}, 2, maxArguments))
}
