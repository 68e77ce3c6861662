package mysql

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"millrace/blobexpand/jsonval"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonLookFunctions answer questions about a document's text.
func jsonLookFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "json_contains", typeOf: fixed(types.Boolean), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			candidate, err := jsonArg(args[1], 2, "json_contains")
			if err != nil {
				return nil, err
			}
			target, err := jsonAt(args, 2, "json_contains")
			if err != nil || target == nil {
				return nil, err
			}
			return jsonContains(target, candidate), nil
		}}, 2, 3),
		scalarFunction(scalar{name: "json_contains_path", typeOf: fixed(types.Boolean), strict: true, eval: jsonContainsPath}, 3, 1<<10),
		scalarFunction(scalar{name: "json_overlaps", typeOf: fixed(types.Boolean), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			a, err := jsonArg(args[0], 1, "json_overlaps")
			if err != nil {
				return nil, err
			}
			b, err := jsonArg(args[1], 2, "json_overlaps")
			if err != nil {
				return nil, err
			}
			return jsonOverlaps(a, b), nil
		}}, 2, 2),
		scalarFunction(scalar{name: "json_length", typeOf: fixed(types.Int64), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonAt(args, 1, "json_length")
			if err != nil || v == nil {
				return nil, err
			}
			return jsonLength(v), nil
		}}, 1, 2),
		scalarFunction(scalar{name: "json_keys", typeOf: fixed(types.JSON), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonAt(args, 1, "json_keys")
			if err != nil || v == nil || v[0] != '{' {
				return nil, err
			}
			return jsonKeys(v), nil
		}}, 1, 2),
		scalarFunction(scalar{name: "json_type", typeOf: fixed(types.LongText), strict: true, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if v, ok := args[0].(types.JSONDocument); ok {
				return engineJSONType(ctx, v) // made from an SQL value, whose type it knows
			}
			v, err := jsonArg(args[0], 1, "json_type")
			if err != nil {
				return nil, err
			}
			return jsonTypeName(v), nil
		}}, 1, 1),
		scalarFunction(scalar{name: "json_depth", typeOf: fixed(types.Int64), strict: true, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			v, err := jsonArg(args[0], 1, "json_depth")
			if err != nil {
				return nil, err
			}
			return jsonDepth(v), nil
		}}, 1, 1),
	}
}

func engineJSONType(ctx *sql.Context, v types.JSONDocument) (any, error) {
	e, err := json.NewJSONType(expression.NewLiteral(v, types.JSON))
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, nil)
}

// jsonArg is a document argument without the white space around it.
func jsonArg(arg any, position int, function string) ([]byte, error) {
	doc, err := documentText(arg, position, function)
	if err != nil {
		return nil, err
	}
	start, end := jsonval.Text(doc)
	if end < 0 {
		return nil, newError(3141, "22032", "Invalid JSON text in argument %d to function %s.", position, function)
	}
	return doc[start:end], nil
}

// jsonAt is the first argument's document, or what the path in argument i leads to; nil when there is
// nothing there.
func jsonAt(args []any, i int, function string) ([]byte, error) {
	doc, err := jsonArg(args[0], 1, function)
	if err != nil || len(args) <= i {
		return doc, err
	}
	text, err := pathText(args[i], i+1)
	if err != nil {
		return nil, err
	}
	p, err := parseJSONPath(text)
	if err != nil {
		return nil, err
	}
	if p.many {
		return nil, newError(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range.")
	}
	found := p.find(doc, nil)
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}

func jsonContainsPath(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
	doc, err := jsonArg(args[0], 1, "json_contains_path")
	if err != nil {
		return nil, err
	}
	mode, _ := args[1].(string)
	one := strings.EqualFold(mode, "one")
	if !one && !strings.EqualFold(mode, "all") {
		return nil, newError(3154, "42000", "The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.")
	}
	for i, a := range args[2:] {
		text, err := pathText(a, i+3)
		if err != nil {
			return nil, err
		}
		p, err := parseJSONPath(text)
		if err != nil {
			return nil, err
		}
		if found := len(p.find(doc, nil)) > 0; found == one {
			return one, nil
		}
	}
	return !one, nil
}

// jsonEqual compares by value: numbers exactly, objects without regard to order.
func jsonEqual(a, b []byte) bool {
	switch {
	case isJSONNumber(a):
		return isJSONNumber(b) && jsonval.CompareNumbers(a, b) == 0
	case a[0] != b[0]:
		return false
	case a[0] == '"':
		return bytes.Equal(unquoted(a), unquoted(b))
	case a[0] == '[':
		x, y := jsonList(a), jsonList(b)
		return slices.EqualFunc(x, y, jsonEqual)
	case a[0] == '{':
		x, y := jsonObject(a), jsonObject(b)
		if len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !jsonEqual(v, w) {
				return false
			}
		}
		return true
	default:
		return bytes.Equal(a, b) // true, false, null
	}
}

func unquoted(v []byte) []byte { return jsonval.AppendUnescaped(nil, v[1:len(v)-1]) }

func jsonList(v []byte) [][]byte {
	var out [][]byte
	items(v, func(_ int, x []byte) { out = append(out, x) })
	return out
}

// jsonObject is the members of an object by name; of duplicates the last counts.
func jsonObject(v []byte) map[string][]byte {
	out := make(map[string][]byte)
	members(v, func(name, x []byte) { out[string(jsonval.AppendUnescaped(nil, name))] = x })
	return out
}

// jsonContains is MySQL's containment.
func jsonContains(target, candidate []byte) bool {
	switch {
	case target[0] == '[':
		if candidate[0] != '[' {
			return slices.ContainsFunc(jsonList(target), func(t []byte) bool { return jsonContains(t, candidate) })
		}
		in := jsonList(target)
		for _, c := range jsonList(candidate) {
			if !slices.ContainsFunc(in, func(t []byte) bool { return jsonContains(t, c) }) {
				return false
			}
		}
		return true
	case target[0] == '{' && candidate[0] == '{':
		in := jsonObject(target)
		for k, c := range jsonObject(candidate) {
			if t, ok := in[k]; !ok || !jsonContains(t, c) {
				return false
			}
		}
		return true
	default:
		return jsonEqual(target, candidate)
	}
}

func jsonOverlaps(a, b []byte) bool {
	switch {
	case a[0] == '[' || b[0] == '[':
		x, y := [][]byte{a}, [][]byte{b}
		if a[0] == '[' {
			x = jsonList(a)
		}
		if b[0] == '[' {
			y = jsonList(b)
		}
		return slices.ContainsFunc(x, func(v []byte) bool {
			return slices.ContainsFunc(y, func(w []byte) bool { return jsonEqual(v, w) })
		})
	case a[0] == '{' && b[0] == '{':
		in := jsonObject(a)
		for k, w := range jsonObject(b) {
			if v, ok := in[k]; ok && jsonEqual(v, w) {
				return true
			}
		}
		return false
	default:
		return jsonEqual(a, b)
	}
}

func jsonLength(v []byte) int64 {
	n := int64(1)
	switch v[0] {
	case '[':
		n = 0
		items(v, func(int, []byte) { n++ })
	case '{':
		n = int64(len(jsonObject(v)))
	}
	return n
}

// jsonKeys lists the names in the order that MySQL keeps them in: by length, then bytes.
func jsonKeys(v []byte) jsonDoc {
	var names []string
	for k := range jsonObject(v) {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	out := []byte{'['}
	for i, n := range names {
		if i > 0 {
			out = append(out, ',', ' ')
		}
		out = jsonval.AppendQuoted(out, n)
	}
	return jsonDoc(append(out, ']'))
}

func jsonTypeName(v []byte) string {
	switch v[0] {
	case '{':
		return "OBJECT"
	case '[':
		return "ARRAY"
	case '"':
		return "STRING"
	case 't', 'f':
		return "BOOLEAN"
	case 'n':
		return "NULL"
	}
	if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return "INTEGER"
	}
	if _, err := strconv.ParseUint(string(v), 10, 64); err == nil {
		return "UNSIGNED INTEGER"
	}
	return "DOUBLE"
}

func jsonDepth(v []byte) int64 {
	deepest := int64(0)
	below := func(x []byte) { deepest = max(deepest, jsonDepth(x)) }
	switch v[0] {
	case '[':
		items(v, func(_ int, x []byte) { below(x) })
	case '{':
		members(v, func(_, x []byte) { below(x) })
	}
	return deepest + 1
}
