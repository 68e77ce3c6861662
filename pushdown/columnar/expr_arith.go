package columnar

import (
	"math"

	"millrace/pushdown/compare"
	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// operands converts both sides.
func (p *planner) operands(left, right sql.Expression, r *relation) (l, x typed, reason string) {
	if l, reason = p.expr(left, r); reason != "" {
		return l, x, reason
	}
	x, reason = p.expr(right, r)
	return l, x, reason
}

// arithmetic converts +, - and *.
func (p *planner) arithmetic(e sql.Expression, op string, left, right sql.Expression, r *relation) (typed, string) {
	l, x, reason := p.operands(left, right, r)
	if reason != "" {
		return typed{}, reason
	}
	var o exec.ArithOp
	switch op {
	case "+":
		o = exec.Add
	case "-":
		o = exec.Sub
	case "*":
		o = exec.Mul
	case "div":
		o = exec.IntDiv
	case "%":
		o = exec.Mod
	default:
		return typed{}, why.NotExpression
	}
	f, ok := form.Of(e.Type())
	if !ok {
		return typed{}, why.NotType
	}
	_, checked := e.(meaning.Checked)
	whole := func(t typed) bool { return t.form.Integer() && !types.IsYear(t.form.SQL) }
	switch f.Kind {
	case form.Int:
		// The engine's own arithmetic wraps around.
		if !checked || !whole(l) || !whole(x) {
			return typed{}, why.NotFamilies
		}
	case form.Uint:
		if !checked || l.form.Kind != form.Uint || x.form.Kind != form.Uint {
			return typed{}, why.NotFamilies
		}
	case form.Float:
		if o == exec.IntDiv || o == exec.Mod {
			return typed{}, why.NotFamilies
		}
		lf, ok1 := toFloat(l)
		xf, ok2 := toFloat(x)
		if !checked || !ok1 || !ok2 || f.SQL == types.Float32 {
			return typed{}, why.NotFamilies
		}
		l.expr, x.expr = lf, xf
	case form.Decimal:
		return p.decimalArithmetic(e, o, l, x, f)
	default:
		return typed{}, why.NotFamilies
	}
	return typed{exec.Arith{Op: o, L: l.expr, R: x.expr, T: f.T, Text: e.String()}, f}, ""
}

// decimalArithmetic is exact in the engine, with as many digits as it takes; here, too, where all
// results fit.
func (p *planner) decimalArithmetic(e sql.Expression, op exec.ArithOp, l, x typed, f form.Form) (typed, string) {
	if op == exec.IntDiv || op == exec.Mod {
		return typed{}, why.NotFamilies
	}
	if meaning.HasDivision(e) {
		return typed{}, "the digits of a division inside"
	}
	number := func(t typed) bool {
		return t.form.Kind == form.Decimal || t.form.Integer() && !types.IsYear(t.form.SQL) || t.form.Kind == form.Uint
	}
	if !number(l) || !number(x) {
		return typed{}, why.NotFamilies
	}
	scale := max(l.form.T.Scale, x.form.T.Scale)
	if op == exec.Mul {
		scale = l.form.T.Scale + x.form.T.Scale
	}
	if scale != f.T.Scale {
		return typed{}, why.NotType
	}
	lw, xw := max(form.WholeDigits(l.form.SQL), boundDigits(l)), max(form.WholeDigits(x.form.SQL), boundDigits(x))
	digits := max(lw, xw) + int(scale) + 1
	if op == exec.Mul {
		digits = lw + xw + int(scale)
	}
	// Beyond what the type of the result holds the engine's answer depends on what is done with it.
	if digits > 65 || digits > form.WholeDigits(f.SQL)+int(f.T.Scale) && op == exec.Mul && digits > 60 {
		return typed{}, "results that may be out of range"
	}
	t := form.DecimalType(digits, int(scale))
	lt, xt := t, t
	if op == exec.Mul {
		lt.Scale, xt.Scale = l.form.T.Scale, x.form.T.Scale
	}
	f.T = t
	return typed{exec.Arith{Op: op, L: toDecimal(l, lt), R: toDecimal(x, xt), T: t, Text: e.String()}, f}, ""
}

// divide converts / of doubles. Other quotients have digits that depend on what is around them.
func (p *planner) divide(e *expression.Div, r *relation) (typed, string) {
	if e.Type() != types.Float64 {
		return typed{}, "the digits of a division"
	}
	l, x, reason := p.operands(e.LeftChild, e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	lf, ok1 := toFloat(l)
	xf, ok2 := toFloat(x)
	if !ok1 || !ok2 {
		return typed{}, why.NotFamilies
	}
	f := form.Form{Kind: form.Float, SQL: types.Float64, T: form.FloatType}
	return typed{exec.Arith{Op: exec.Div, L: lf, R: xf, T: form.FloatType, Text: e.String()}, f}, ""
}

// intDivide converts DIV of integers by a constant other than 0 and -1, which cannot fail.
func (p *planner) intDivide(e *expression.IntDiv, r *relation) (typed, string) {
	l, x, reason := p.operands(e.LeftChild, e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	c, constant := isConst(x)
	f, ok := form.Of(e.Type())
	if !ok || !constant || c.Null {
		return typed{}, why.NotFamilies
	}
	switch {
	case f.Kind == form.Int && types.IsSigned(l.form.SQL) && types.IsSigned(x.form.SQL) && l.form.Integer() && x.form.Integer() && c.Int != 0 && c.Int != -1:
	case f.Kind == form.Uint && l.form.Kind == form.Uint && x.form.Kind == form.Uint && c.Uint != 0:
	default:
		return typed{}, why.NotFamilies
	}
	return typed{exec.Arith{Op: exec.IntDiv, L: l.expr, R: x.expr, T: f.T, Text: e.String()}, f}, ""
}

// intDivideTwice converts (whole number / n) DIV m, of constants whose first quotient has four digits at most: n and m together divide. So time in
// milliseconds is often cut to hours.
func (p *planner) intDivideTwice(e, left, right sql.Expression, r *relation) (typed, string) {
	l, by := meaning.QuotientSides(left)
	if l == nil {
		return typed{}, why.NotFamilies
	}
	n, m := positive(by, 10_000), positive(right, math.MaxInt32)
	f, ok := form.Of(e.Type())
	if n == 0 || 10_000%n != 0 || m == 0 || !ok || f.Kind != form.Int {
		return typed{}, why.NotFamilies
	}
	x, reason := p.expr(l, r)
	if reason != "" || x.form.Kind != form.Int || types.IsYear(x.form.SQL) {
		return typed{}, why.NotFamilies
	}
	return typed{exec.Arith{Op: exec.IntDiv, L: x.expr, R: exec.Const{T: form.IntType, Int: n * m}, T: f.T, Text: e.String()}, f}, ""
}

// modulo converts % of integers by a constant other than 0 and -1; the engine answers with a decimal.
func (p *planner) modulo(e *expression.Mod, r *relation) (typed, string) {
	l, x, reason := p.operands(e.LeftChild, e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	c, constant := isConst(x)
	f, ok := form.Of(e.Type())
	if !ok || !constant || c.Null || !l.form.Integer() || !x.form.Integer() || types.IsYear(l.form.SQL) || c.Int == 0 || c.Int == -1 {
		return typed{}, why.NotFamilies
	}
	rest := exec.Arith{Op: exec.Mod, L: l.expr, R: x.expr, T: form.IntType, Text: e.String()}
	switch f.Kind {
	case form.Int:
		return typed{rest, f}, ""
	case form.Decimal:
		f.T = form.DecimalType(20+int(f.T.Scale), int(f.T.Scale))
		return typed{exec.Convert{Arg: rest, T: f.T, Text: e.String()}, f}, ""
	}
	return typed{}, why.NotFamilies
}

// concat converts CONCAT of texts.
func (p *planner) concat(e sql.Expression, r *relation) (typed, string) {
	f, ok := form.Of(e.Type())
	if !ok || f.Kind != form.Text || !compare.ByBytes(f.SQL) {
		return typed{}, why.NotType
	}
	out := exec.Func{Fn: exec.Concat, T: form.StringType}
	for _, a := range e.Children() {
		x, reason := p.expr(a, r)
		if reason != "" {
			return typed{}, reason
		}
		switch {
		case x.form.Kind == form.Text:
			out.Args = append(out.Args, x.expr)
		case x.form.Kind == form.Int && !types.IsYear(x.form.SQL) && x.form.SQL != types.Boolean:
			out.Args = append(out.Args, exec.Convert{Arg: x.expr, T: form.StringType, Text: e.String()})
		default:
			return typed{}, why.NotFamilies
		}
	}
	return typed{out, f}, ""
}
