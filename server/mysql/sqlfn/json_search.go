package sqlfn

import (
	"strings"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonSearchFunctions is JSON_SEARCH(document, one or all, pattern [, escape [, path …]]).
func jsonSearchFunctions() []sql.Function {
	return []sql.Function{scalarFunction(scalar{name: "json_search", typeOf: fixed(types.JSON), eval: jsonSearch}, 3, maxArguments)}
}

func jsonSearch(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	for i, a := range args {
		if a == nil && i != 3 {
			return nil, nil
		}
	}
	doc, err := jsonValue(args[0], 1, "json_search")
	if err != nil {
		return nil, err
	}
	first, err := oneOrAll(args[1], "json_search")
	if err != nil {
		return nil, err
	}
	pattern, err := ToText(ctx, args[2], exprs[2].Type())
	if err != nil {
		return nil, err
	}
	escape := '\\'
	if len(args) > 3 && args[3] != nil {
		s, err := ToText(ctx, args[3], exprs[3].Type())
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(s) > 1 {
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to ESCAPE")
		}
		if escape, _ = utf8.DecodeRuneInString(s); s == "" {
			escape = 0
		}
	}
	matcher, err := expression.ConstructLikeMatcher(sql.Collation_utf8mb4_bin, pattern, escape)
	if err != nil {
		return nil, err
	}
	var paths []*jsonval.Path
	if len(args) > 4 {
		if paths, err = jsonPaths(args[4:], 5); err != nil {
			return nil, err
		}
	}
	found, err := doc.Search(ctx, first, matcher.Match, paths...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	var out []byte
	for i, path := range found {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = jsonval.AppendQuoted(out, path)
	}
	if len(found) > 1 {
		out = append(append([]byte{'['}, out...), ']')
	}
	return jsonMade(out)
}

// oneOrAll says whether it is 'one'.
func oneOrAll(v any, function string) (bool, error) {
	mode, _ := v.(string)
	switch {
	case strings.EqualFold(mode, "one"):
		return true, nil
	case strings.EqualFold(mode, "all"):
		return false, nil
	}
	return false, sqlerr.New(3154, "42000", "The oneOrAll argument to %s may take these values: 'one' or 'all'.", function)
}
