package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteLike writes out the escape character of a LIKE without one. The planner turns such a LIKE
// into a range up to its prefix and U+00FF, and so loses the text that goes on with a higher
// character; it leaves a LIKE … ESCAPE alone. The ranges that are right are pushdown's.
func rewriteLike(e *sqlparser.ComparisonExpr) sqlparser.Expr {
	if e.Escape == nil && (strings.EqualFold(e.Operator, sqlparser.LikeStr) || strings.EqualFold(e.Operator, sqlparser.NotLikeStr)) {
		e.Escape = sqlparser.NewStrVal([]byte(`\`))
	}
	return e
}
