package pushdown

import (
	"strings"

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
		return typed{}, notExpression
	}
	number, unit := args[0], int64(1e6)
	if l, right := quotientSides(number); l != nil {
		if positive(right, 1000) != 1000 {
			return typed{}, notExpression
		}
		number, unit = l, microsPerMilli
	}
	x, reason := p.expr(number, r)
	if reason != "" {
		return typed{}, reason
	}
	if x.form.kind != kindInt {
		return typed{}, notExpression
	}
	f, ok := formOf(e.Type())
	if !ok || f.kind != kindWall {
		return typed{}, notType
	}
	f.kind, f.unit = kindInstant, unit
	shown := exec.And{Args: []exec.Expr{
		exec.Compare{Op: exec.GE, L: x.expr, R: exec.Const{T: intType}},
		exec.Compare{Op: exec.LE, L: x.expr, R: exec.Const{T: intType, Int: lastUnixMicros / unit}},
	}}
	return typed{exec.Case{When: []exec.When{{Cond: shown, Then: x.expr}}, Else: exec.Const{T: intType, Null: true}, T: intType}, f}, ""
}
