package columnar

import (
	"strings"

	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
)

// lastUnixMicros is the last Unix time that FROM_UNIXTIME shows; beyond, and below 0, it is NULL.
const lastUnixMicros = 32536771199_999_999

// unixTime converts FROM_UNIXTIME(n) of whole seconds, and of a whole number over 1,000, as applications count their times.
// The numbers are instants as they lie there. A quotient by 1,000,000 is rounded to four digits.
func (p *planner) unixTime(e sql.FunctionExpression, r *relation) (typed, string) {
	args := e.Children()
	if !strings.EqualFold(e.FunctionName(), "from_unixtime") || len(args) != 1 {
		return typed{}, why.NotExpression
	}
	number, unit := args[0], int64(1e6)
	if l, right := meaning.QuotientSides(number); l != nil {
		if positive(right, 1000) != 1000 {
			return typed{}, why.NotExpression
		}
		number, unit = l, form.MicrosPerMilli
	}
	x, reason := p.expr(number, r)
	if reason != "" {
		return typed{}, reason
	}
	if x.form.Kind != form.Int {
		return typed{}, why.NotExpression
	}
	f, ok := form.Of(e.Type())
	if !ok || f.Kind != form.Wall {
		return typed{}, why.NotType
	}
	f.Kind, f.Unit = form.Instant, unit
	shown := exec.And{Args: []exec.Expr{
		exec.Compare{Op: exec.GE, L: x.expr, R: exec.Const{T: form.IntType}},
		exec.Compare{Op: exec.LE, L: x.expr, R: exec.Const{T: form.IntType, Int: lastUnixMicros / unit}},
	}}
	return typed{exec.Case{When: []exec.When{{Cond: shown, Then: x.expr}}, Else: exec.Const{T: form.IntType, Null: true}, T: form.IntType}, f}, ""
}
