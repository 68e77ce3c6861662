package pushdown

import (
	"math"

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
		return typed{}, notExpression
	}
	f, ok := formOf(e.Type())
	if !ok {
		return typed{}, notType
	}
	_, checked := e.(Checked)
	whole := func(t typed) bool { return t.form.integer() && !types.IsYear(t.form.sql) }
	switch f.kind {
	case kindInt:
		// The engine's own arithmetic wraps around.
		if !checked || !whole(l) || !whole(x) {
			return typed{}, notFamilies
		}
	case kindUint:
		if !checked || l.form.kind != kindUint || x.form.kind != kindUint {
			return typed{}, notFamilies
		}
	case kindFloat:
		if o == exec.IntDiv || o == exec.Mod {
			return typed{}, notFamilies
		}
		lf, ok1 := toFloat(l)
		xf, ok2 := toFloat(x)
		if !checked || !ok1 || !ok2 || f.sql == types.Float32 {
			return typed{}, notFamilies
		}
		l.expr, x.expr = lf, xf
	case kindDecimal:
		return p.decimalArithmetic(e, o, l, x, f)
	default:
		return typed{}, notFamilies
	}
	return typed{exec.Arith{Op: o, L: l.expr, R: x.expr, T: f.t, Text: e.String()}, f}, ""
}

// decimalArithmetic is exact in the engine, with as many digits as it takes; here, too, where all
// results fit.
func (p *planner) decimalArithmetic(e sql.Expression, op exec.ArithOp, l, x typed, f form) (typed, string) {
	if op == exec.IntDiv || op == exec.Mod {
		return typed{}, notFamilies
	}
	if HasDivision(e) {
		return typed{}, "the digits of a division inside"
	}
	number := func(t typed) bool {
		return t.form.kind == kindDecimal || t.form.integer() && !types.IsYear(t.form.sql) || t.form.kind == kindUint
	}
	if !number(l) || !number(x) {
		return typed{}, notFamilies
	}
	scale := max(l.form.t.Scale, x.form.t.Scale)
	if op == exec.Mul {
		scale = l.form.t.Scale + x.form.t.Scale
	}
	if scale != f.t.Scale {
		return typed{}, notType
	}
	lw, xw := max(wholeDigits(l.form.sql), boundDigits(l)), max(wholeDigits(x.form.sql), boundDigits(x))
	digits := max(lw, xw) + int(scale) + 1
	if op == exec.Mul {
		digits = lw + xw + int(scale)
	}
	// Beyond what the type of the result holds the engine's answer depends on what is done with it.
	if digits > 65 || digits > wholeDigits(f.sql)+int(f.t.Scale) && op == exec.Mul && digits > 60 {
		return typed{}, "results that may be out of range"
	}
	t := decimalType(digits, int(scale))
	lt, xt := t, t
	if op == exec.Mul {
		lt.Scale, xt.Scale = l.form.t.Scale, x.form.t.Scale
	}
	f.t = t
	return typed{exec.Arith{Op: op, L: toDecimal(l, lt), R: toDecimal(x, xt), T: t, Text: e.String()}, f}, ""
}

// HasDivision says whether there is a / in e: how many digits its quotient has depends on what is around it.
func HasDivision(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		if _, ok := e.(*expression.Div); ok {
			found = true
		}
		return !found
	})
	return found
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
		return typed{}, notFamilies
	}
	f := form{kind: kindFloat, sql: types.Float64, t: floatType}
	return typed{exec.Arith{Op: exec.Div, L: lf, R: xf, T: floatType, Text: e.String()}, f}, ""
}

// intDivide converts DIV of integers by a constant other than 0 and -1, which cannot fail.
func (p *planner) intDivide(e *expression.IntDiv, r *relation) (typed, string) {
	l, x, reason := p.operands(e.LeftChild, e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	c, constant := isConst(x)
	f, ok := formOf(e.Type())
	if !ok || !constant || c.Null {
		return typed{}, notFamilies
	}
	switch {
	case f.kind == kindInt && types.IsSigned(l.form.sql) && types.IsSigned(x.form.sql) && l.form.integer() && x.form.integer() && c.Int != 0 && c.Int != -1:
	case f.kind == kindUint && l.form.kind == kindUint && x.form.kind == kindUint && c.Uint != 0:
	default:
		return typed{}, notFamilies
	}
	return typed{exec.Arith{Op: exec.IntDiv, L: l.expr, R: x.expr, T: f.t, Text: e.String()}, f}, ""
}

// intDivideTwice converts (whole number / n) DIV m, of constants whose first quotient has four digits at most: n and m together divide. So time in
// milliseconds is often cut to hours.
func (p *planner) intDivideTwice(e, left, right sql.Expression, r *relation) (typed, string) {
	l, by := quotientSides(left)
	if l == nil {
		return typed{}, notFamilies
	}
	n, m := positive(by, 10_000), positive(right, math.MaxInt32)
	f, ok := formOf(e.Type())
	if n == 0 || 10_000%n != 0 || m == 0 || !ok || f.kind != kindInt {
		return typed{}, notFamilies
	}
	x, reason := p.expr(l, r)
	if reason != "" || x.form.kind != kindInt || types.IsYear(x.form.sql) {
		return typed{}, notFamilies
	}
	return typed{exec.Arith{Op: exec.IntDiv, L: x.expr, R: exec.Const{T: intType, Int: n * m}, T: f.t, Text: e.String()}, f}, ""
}

// modulo converts % of integers by a constant other than 0 and -1; the engine answers with a decimal.
func (p *planner) modulo(e *expression.Mod, r *relation) (typed, string) {
	l, x, reason := p.operands(e.LeftChild, e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	c, constant := isConst(x)
	f, ok := formOf(e.Type())
	if !ok || !constant || c.Null || !l.form.integer() || !x.form.integer() || types.IsYear(l.form.sql) || c.Int == 0 || c.Int == -1 {
		return typed{}, notFamilies
	}
	rest := exec.Arith{Op: exec.Mod, L: l.expr, R: x.expr, T: intType, Text: e.String()}
	switch f.kind {
	case kindInt:
		return typed{rest, f}, ""
	case kindDecimal:
		f.t = decimalType(20+int(f.t.Scale), int(f.t.Scale))
		return typed{exec.Convert{Arg: rest, T: f.t, Text: e.String()}, f}, ""
	}
	return typed{}, notFamilies
}

// concat converts CONCAT of texts.
func (p *planner) concat(e sql.Expression, r *relation) (typed, string) {
	f, ok := formOf(e.Type())
	if !ok || f.kind != kindText || !comparableBytes(f.sql) {
		return typed{}, notType
	}
	out := exec.Func{Fn: exec.Concat, T: stringType}
	for _, a := range e.Children() {
		x, reason := p.expr(a, r)
		if reason != "" {
			return typed{}, reason
		}
		switch {
		case x.form.kind == kindText:
			out.Args = append(out.Args, x.expr)
		case x.form.kind == kindInt && !types.IsYear(x.form.sql) && x.form.sql != types.Boolean:
			out.Args = append(out.Args, exec.Convert{Arg: x.expr, T: stringType, Text: e.String()})
		default:
			return typed{}, notFamilies
		}
	}
	return typed{out, f}, ""
}
