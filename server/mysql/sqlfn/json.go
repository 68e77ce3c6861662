package sqlfn

import (
	"errors"
	"strings"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonFunctions read JSON text exactly. Those that take values out work on the text itself; of the
// others the engine's are used, on documents whose numbers are exact.
func jsonFunctions() []sql.Function {
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
	out = append(out, scalarFunction(scalar{name: NameExactJSON, text: asArgument, strict: true, typeOf: func(args []sql.Expression) sql.Type {
		if types.IsText(args[0].Type()) {
			return types.JSON
		}
		return args[0].Type()
	}, eval: func(_ *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		if !types.IsText(exprs[0].Type()) {
			return args[0], nil
		}
		v, err := jsonValue(args[0], 1, "cast_as_json")
		if err != nil {
			return nil, err
		}
		return sqltable.JSONText(v), nil
	}}, 1, 1))
	for _, f := range []struct {
		name string
		make func(args ...sql.Expression) (sql.Expression, error)
		docs func(i int) bool // which arguments are documents
	}{
		{"json_array_append", json.NewJSONArrayAppend, firstOnly},
		{"json_array_insert", json.NewJSONArrayInsert, firstOnly},
		{"json_insert", json.NewJSONInsert, firstOnly},
		{"json_merge", json.NewJSONMergePreserve, all},
		{"json_merge_patch", json.NewJSONMergePatch, all},
		{"json_merge_preserve", json.NewJSONMergePreserve, all},
		{"json_remove", json.NewJSONRemove, firstOnly},
		{"json_replace", json.NewJSONReplace, firstOnly},
		{"json_search", json.NewJSONSearch, firstOnly},
		{"json_set", json.NewJSONSet, firstOnly},
		{"json_value", json.NewJsonValue, firstOnly},
	} {
		out = append(out, sql.FunctionN{Name: f.name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			wrapped := make([]sql.Expression, len(args))
			for i, a := range args {
				wrapped[i] = a
				if f.docs(i) {
					wrapped[i] = &document{arg: a, position: i + 1, function: f.name}
				}
			}
			return f.make(wrapped...)
		}})
	}
	out = append(out, sql.Function1{Name: "json_pretty", Fn: func(e sql.Expression) sql.Expression {
		return json.NewJSONPretty(&document{arg: e, position: 1, function: "json_pretty"})
	}})
	// JSON_ARRAY and JSON_OBJECT stay the engine's: they make documents.
	return append(out, jsonLookFunctions()...)
}

func firstOnly(i int) bool { return i == 0 }
func all(int) bool         { return true }

// document makes text a JSON document whose numbers keep all digits.
type document struct {
	arg      sql.Expression
	position int
	function string
}

var _ sql.Expression = (*document)(nil)

func (d *document) Resolved() bool             { return d.arg.Resolved() }
func (d *document) String() string             { return d.arg.String() }
func (d *document) Type() sql.Type             { return types.JSON }
func (d *document) IsNullable() bool           { return d.arg.IsNullable() }
func (d *document) Children() []sql.Expression { return []sql.Expression{d.arg} }

func (d *document) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(d, len(children), 1)
	}
	n := *d
	n.arg = children[0]
	return &n, nil
}

func (d *document) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, d.arg)
}

func (d *document) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := d.arg.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	text, err := jsonText(v, d.position, d.function)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return v, nil
	}
	return sqltable.JSONText(text), nil
}

// jsonText is the text of a document argument, checked; nil when v is a document of the engine's
// that is no text.
func jsonText(v any, position int, function string) ([]byte, error) {
	if _, ok := v.(sql.JSONWrapper); ok {
		if text, ok := v.(sqltable.JSONText); ok {
			return []byte(text), nil
		}
		return nil, nil
	}
	value, err := jsonValue(v, position, function)
	return value, err
}

// jsonValue is a document argument's value; documents of the engine's are written out.
func jsonValue(v any, position int, function string) (jsonval.Value, error) {
	var text []byte
	switch v := v.(type) {
	case sqltable.JSONText:
		text = []byte(v)
	case string:
		text = []byte(v)
	case []byte:
		text = v
	case sql.JSONWrapper:
		s, err := types.JsonToMySqlString(v)
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

// NameExactJSON is put around what becomes JSON; no user can write its name unquoted.
const NameExactJSON = "millrace exact json"
