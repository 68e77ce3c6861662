package rewrite

import (
	"regexp"
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteJSONOperator turns -> and ->> into calls of our exact functions: the planner builds
// its own JSON expressions for the operators, which lose digits beyond 2^53.
func rewriteJSONOperator(e *sqlparser.BinaryExpr) sqlparser.Expr {
	switch strings.ToLower(e.Operator) {
	case sqlparser.JSONExtractOp:
		return call("json_extract", e.Left, e.Right)
	case sqlparser.JSONUnquoteExtractOp:
		return call("json_unquote", call("json_extract", e.Left, e.Right))
	default:
		return e
	}
}

// rewriteJSONTable gives JSON_TABLE a document whose numbers keep all digits, and one row for each value that its path finds: the
// engine goes into an array that a path finds, and makes rows of its members.
func rewriteJSONTable(t *sqlparser.JSONTableExpr) {
	path := strings.TrimSpace(t.Spec.Path)
	if strings.HasPrefix(path, "$") && !strings.Contains(path, `"`) && (!strings.HasSuffix(path, "]") || wholeIndex.MatchString(path)) {
		found := t.Data
		if path != "$" {
			found = call("json_extract", t.Data, sqlparser.NewStrVal([]byte(path)))
		}
		if !strings.Contains(path, "*") { // what is found by several paths is an array already
			found = call(sqlfn.NameJSONArrayOf, found)
		}
		t.Data, t.Spec.Path = found, "$[*]"
	}
	t.Data = call(sqlfn.NameExactJSON, t.Data)
}

// wholeIndex ends a path that finds one member of an array.
var wholeIndex = regexp.MustCompile(`^\$.*\[\d+\]$`)
