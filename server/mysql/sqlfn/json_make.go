package sqlfn

import (
	"millrace/blobexpand/jsonval"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameCastJSON stands for CAST(… AS JSON), which reads text and makes JSON of any other value. No user can write its
// name unquoted.
const NameCastJSON = "millrace cast json"

// jsonMakeFunctions make documents of SQL values.
func jsonMakeFunctions(memory Memory) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "json_array", typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			out := []byte{'['}
			for i, v := range args {
				atom, err := jsonAtom(ctx, v, exprs[i])
				if err != nil {
					return nil, err
				}
				if i > 0 {
					out = append(out, ", "...)
				}
				if out = atom.AppendNormal(out); len(out) > maxFunctionBytes {
					return tooLong(ctx, "json_array"), nil
				}
			}
			if err := memory.Admits(len(out)); err != nil {
				return nil, err
			}
			return jsonMade(append(out, ']'))
		}}, 0, maxArguments),
		pairFunction(scalar{name: "json_object", typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			out := []byte{'{'}
			for i := 0; i < len(args); i += 2 {
				name, err := jsonName(ctx, args[i], exprs[i])
				if err != nil {
					return nil, err
				}
				atom, err := jsonAtom(ctx, args[i+1], exprs[i+1])
				if err != nil {
					return nil, err
				}
				if i > 0 {
					out = append(out, ',')
				}
				out = append(jsonval.AppendQuoted(out, name), ':')
				if out = append(out, atom...); len(out) > maxFunctionBytes {
					return tooLong(ctx, "json_object"), nil
				}
			}
			if err := memory.Admits(len(out)); err != nil {
				return nil, err
			}
			return jsonMade(jsonval.Value(append(out, '}')).AppendNormal(nil))
		}}, 0),
		scalarFunction(scalar{name: NameCastJSON, strict: true, typeOf: fixed(types.JSON), text: func(args []sql.Expression) string {
			return "convert(" + args[0].String() + ", json)"
		}, eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			return castJSON(ctx, args[0], exprs[0])
		}}, 1, 1),
	}
}

func castJSON(ctx *sql.Context, v any, e sql.Expression) (any, error) {
	t := e.Type()
	var text jsonval.Value
	var err error
	switch binary, _ := binaryCode(t); {
	case types.IsText(t) && !binary:
		text, err = jsonValue(v, 1, "cast_as_json")
	case isNumberToJSON(v, t):
		if w, ok := integerOf(v); ok && (types.IsUnsigned(t) || types.IsYear(t)) {
			return types.JSONDocument{Val: w.abs}, nil
		}
		return types.JSONDocument{Val: v}, nil
	default:
		text, err = jsonAtom(ctx, v, e)
	}
	if err != nil {
		return nil, err
	}
	return jsonMade(text.AppendNormal(nil))
}

// isNumberToJSON says whether v is a number that keeps its SQL type for JSON_TYPE as long as it is a document of its own.
func isNumberToJSON(v any, t sql.Type) bool {
	switch v.(type) {
	case bool, float32:
		return false
	}
	return types.IsNumber(t) && !types.IsBit(t)
}

// pairFunction registers a function of pairs behind before arguments.
func pairFunction(proto scalar, before int) sql.Function {
	all := scalarFunction(proto, before, maxArguments).(sql.FunctionN)
	return sql.FunctionN{Name: proto.name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if (len(args)-before)%2 != 0 || before > 0 && len(args) == before {
			return nil, wrongCount(proto.name)
		}
		return all.Fn(args...)
	}}
}
