package mysql

import (
	"strings"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
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
	// JSON_ARRAYAGG, JSON_OBJECTAGG, JSON_ARRAY and JSON_OBJECT stay the engine's: they make documents.
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
	var text []byte
	switch v := v.(type) {
	case sqltable.JSONText:
		return []byte(v), nil
	case jsonDoc:
		return []byte(v), nil
	case string:
		text = []byte(v)
	case []byte:
		text = v
	case sql.JSONWrapper:
		return nil, nil
	default:
		return nil, newError(3146, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", position, function)
	}
	if err := jsonval.Check(text); err != nil {
		return nil, newError(3141, "22032", "Invalid JSON text in argument %d to function %s: %s.", position, function, err.Error())
	}
	return text, nil
}

// documentText is jsonText for any document: those of the engine's are written out.
func documentText(v any, position int, function string) ([]byte, error) {
	text, err := jsonText(v, position, function)
	if text != nil || err != nil {
		return text, err
	}
	s, err := types.JsonToMySqlString(v.(sql.JSONWrapper))
	return []byte(s), err
}

func jsonExtract(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
	doc, err := documentText(args[0], 1, "json_extract")
	if err != nil {
		return nil, err
	}
	var found [][]byte
	many := len(args) > 2
	for i, a := range args[1:] {
		path, err := pathText(a, i+2)
		if err != nil {
			return nil, err
		}
		p, err := parseJSONPath(path)
		if err != nil {
			return nil, err
		}
		many = many || p.many
		found = p.find(doc, found)
	}
	if len(found) == 0 {
		return nil, nil
	}
	if !many {
		return jsonDoc(found[0]), nil
	}
	out := []byte{'['}
	for i, f := range found {
		if i > 0 {
			out = append(out, ',', ' ')
		}
		out = append(out, f...)
	}
	return jsonDoc(append(out, ']')), nil
}

func pathText(v any, position int) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	default:
		return "", newError(3143, "42000", "Invalid JSON path expression in argument %d: it must be a string.", position)
	}
}

func jsonUnquote(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	var text []byte
	switch v := args[0].(type) {
	case sqltable.JSONText:
		text = []byte(v)
	case jsonDoc:
		text = []byte(v)
	case sql.JSONWrapper:
		s, err := types.JsonToMySqlString(v)
		if err != nil {
			return nil, err
		}
		text = []byte(s)
	default:
		s, err := toText(ctx, v, exprs[0].Type())
		if err != nil {
			return nil, err
		}
		// Of text that is no quoted string nothing is taken off.
		if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return s, nil
		}
		if err := jsonval.Check([]byte(s)); err != nil {
			return nil, newError(3141, "22032", "Invalid JSON text in argument 1 to function json_unquote: %s.", err.Error())
		}
		text = []byte(s)
	}
	t := strings.TrimSpace(string(text))
	if len(t) >= 2 && t[0] == '"' {
		return string(jsonval.AppendUnescaped(nil, []byte(t[1:len(t)-1]))), nil
	}
	return t, nil
}
