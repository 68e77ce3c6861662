package rewrite

import (
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

// rewriteJSONTable gives JSON_TABLE a document whose numbers keep all digits.
func rewriteJSONTable(t *sqlparser.JSONTableExpr) {
	t.Data = call(sqlfn.NameExactJSON, t.Data)
}
