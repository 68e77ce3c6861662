package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteRegexpOperator turns REGEXP, RLIKE and their negations into calls of REGEXP_LIKE, which
// is ours: the engine's runs in WebAssembly that nothing can interrupt, and one pattern
// stops the whole process.
func rewriteRegexpOperator(e *sqlparser.ComparisonExpr) (sqlparser.Expr, bool) {
	switch strings.ToLower(e.Operator) {
	case sqlparser.RegexpStr:
		return call("regexp_like", e.Left, e.Right), true
	case sqlparser.NotRegexpStr:
		return &sqlparser.NotExpr{Expr: call("regexp_like", e.Left, e.Right)}, true
	default:
		return e, false
	}
}
