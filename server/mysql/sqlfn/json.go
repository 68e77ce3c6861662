package sqlfn

import (
	"errors"
	"strings"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// jsonFunctions read and make JSON exactly: the engine's lose digits, and do not escape the names of members.
func jsonFunctions(memory Memory) []sql.Function {
	out := []sql.Function{
		scalarFunction(scalar{name: "json_extract", typeOf: fixed(types.JSON), strict: true, eval: jsonExtract}, 2, 1<<10),
		scalarFunction(scalar{name: "json_unquote", typeOf: fixed(types.LongText), strict: true, eval: jsonUnquote}, 1, 1),
		scalarFunction(scalar{name: "json_valid", typeOf: fixed(types.Boolean), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			switch v := args[0].(type) {
			case string:
				return jsonval.Valid([]byte(v)), nil
			case []byte:
				return jsonval.Valid(v), nil
			case sql.JSONWrapper:
				return true, nil
			default:
				return false, nil
			}
		}}, 1, 1),
	}
	out = append(out,
		scalarFunction(scalar{name: NameExactJSON, text: asArgument, strict: true, typeOf: fixed(types.JSON), eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonValue(args[0], 1, "json_table")
			if err != nil {
				return nil, err
			}
			return sqltable.JSONText(v), nil
		}}, 1, 1),
		scalarFunction(scalar{name: "json_value", strict: true, typeOf: fixed(jsonValueType), eval: jsonScalarAt}, 2, 2),
		scalarFunction(scalar{name: "json_pretty", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonValue(args[0], 1, "json_pretty")
			if err != nil {
				return nil, err
			}
			out, ok := v.AppendPretty(nil, maxFunctionBytes)
			if !ok {
				return tooLong(ctx, "json_pretty"), nil
			}
			return string(out), memory.Admits(len(out))
		}}, 1, 1),
	)
	for _, list := range [][]sql.Function{jsonMakeFunctions(memory), jsonChangeFunctions(memory), jsonMergeFunctions(memory), jsonSearchFunctions(), jsonLookFunctions()} {
		out = append(out, list...)
	}
	return out
}

// jsonValueType is what JSON_VALUE gives without RETURNING.
var jsonValueType = types.MustCreateString(sqltypes.VarChar, 512, sql.Collation_Default)

// jsonScalarAt is JSON_VALUE: what the path leads to as text; NULL for null.
func jsonScalarAt(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	v, err := jsonAt(ctx, args, 1, "json_value")
	if err != nil {
		return nil, hintAtValue(exprs[0], err)
	}
	if v == nil || v.Kind() == jsonval.Null {
		return nil, nil
	}
	text, err := v.Unquote()
	if err != nil && !errors.Is(err, jsonval.ErrLoneSurrogate) {
		return nil, err
	}
	return string(text), nil
}

// jsonValue is a document argument's value; documents of the engine's are written out.
func jsonValue(v any, position int, function string) (jsonval.Value, error) {
	var text []byte
	switch v := v.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	case sql.JSONWrapper:
		s, err := sqltable.TextOfJSON(v)
		if err != nil {
			return nil, err
		}
		text = []byte(s)
	default:
		return nil, sqlerr.New(3146, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", position, function)
	}
	value, err := jsonval.Parse(text)
	if err != nil {
		return nil, sqlerr.New(3141, "22032", "Invalid JSON text in argument %d to function %s: %s.", position, function, err.Error())
	}
	return value, nil
}

// hintAtValue says how to leave out the records whose value is not JSON, when they are what is read.
func hintAtValue(e sql.Expression, err error) error {
	own := new(sqlerr.Error)
	column, ok := e.(*expression.GetField)
	if !ok || !strings.EqualFold(column.Name(), "_value") || !errors.As(err, &own) || own.Number != 3141 {
		return err
	}
	return sqlerr.New(own.Number, own.State, "%s To leave out the records that are not JSON, filter with _error IS NULL.", own.Message)
}

// jsonPaths reads the path arguments; the first of them is argument number position.
func jsonPaths(args []any, position int) ([]*jsonval.Path, error) {
	paths := make([]*jsonval.Path, len(args))
	for i, v := range args {
		text, ok := v.(string)
		if b, isBytes := v.([]byte); isBytes {
			text, ok = string(b), true
		}
		if !ok {
			return nil, sqlerr.New(3143, "42000", "Invalid JSON path expression in argument %d: it must be a string.", position+i)
		}
		p, err := jsonval.ParsePath(text)
		if bad := new(jsonval.PathError); errors.As(err, &bad) {
			return nil, sqlerr.New(3143, "42000", "Invalid JSON path expression. The error is around character position %d.", bad.Offset+1)
		}
		if err != nil {
			return nil, err
		}
		paths[i] = p
	}
	return paths, nil
}

func jsonExtract(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	doc, err := jsonValue(args[0], 1, "json_extract")
	if err != nil {
		return nil, hintAtValue(exprs[0], err)
	}
	paths, err := jsonPaths(args[1:], 2)
	if err != nil {
		return nil, err
	}
	found, err := doc.Extract(ctx, paths...)
	if err != nil || found == nil {
		return nil, err
	}
	return sqltable.JSONText(found), nil
}

func jsonUnquote(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	if _, ok := args[0].(sql.JSONWrapper); !ok {
		s, err := ToText(ctx, args[0], exprs[0].Type())
		// Of text that is no quoted string nothing is taken off.
		if err != nil || len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return s, err
		}
		args[0] = s
	}
	v, err := jsonValue(args[0], 1, "json_unquote")
	if err != nil {
		return nil, err
	}
	text, err := v.Unquote()
	if err != nil && !errors.Is(err, jsonval.ErrLoneSurrogate) {
		return nil, err
	}
	return string(text), nil
}

// NameExactJSON is put around what JSON_TABLE reads; no user can write its name unquoted.
const NameExactJSON = "millrace exact json"
