package columnar

import (
	"millrace/pushdown/exact"
	"millrace/pushdown/form"
	"millrace/pushdown/why"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Number converts to a CASE whose branches have all digits.
func (p *planner) exactNumber(e *exact.Number, r *relation) (typed, string) {
	f, ok := form.Of(e.Type())
	if !ok {
		return typed{}, why.NotType
	}
	x, reason := p.native(e.Inner, r, &f)
	if reason != "" {
		return typed{}, reason
	}
	if x.form.Kind != f.Kind || x.form.T.Scale != f.T.Scale {
		return typed{}, why.NotType
	}
	return x, ""
}

// digitsOfMapped is the form of a decimal that the engine computes, where its digits are told by the expression; what
// else has decimals with digits of their own cannot be shown by vectors.
func (p *planner) digitsOfMapped(e sql.Expression, f form.Form) (form.Form, bool) {
	switch x := e.(type) {
	case *expression.Div, *exact.Number:
		return f, true
	case sql.FunctionExpression:
		switch x.FunctionName() {
		case "unix_timestamp":
			return f, true
		case "floor", "ceil", "ceiling":
			f.T = form.DecimalType(form.MaxDecimal128+1, 0)
			return f, true
		case "abs":
			_, s, ok := exact.Digits(x.Children()[0])
			f.T = form.DecimalType(max(int(f.SQL.(sql.DecimalType).Precision()), form.MaxDecimal128+1), s)
			return f, ok
		}
	}
	if c, ok := e.(*expression.Convert); ok && exact.FixedDigits(c.Type()) {
		return f, true
	}
	return f, false
}
