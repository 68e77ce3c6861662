package pushdown

import (
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// cases converts CASE, whose branches the engine converts to the type of the whole.
func (p *planner) cases(e *expression.Case, r *relation, as *form) (typed, string) {
	f, ok := formOf(e.Type())
	if !ok {
		return typed{}, notType
	}
	if as != nil {
		f = *as
	}
	out := exec.Case{}
	var values []typed
	for _, b := range e.Branches {
		cond := b.Cond
		if e.Expr != nil {
			cond = expression.NewEquals(e.Expr, b.Cond)
		}
		c, reason := p.condition(cond, r)
		if reason != "" {
			return typed{}, reason
		}
		v, reason := p.expr(b.Value, r)
		if reason != "" {
			return typed{}, reason
		}
		out.When = append(out.When, exec.When{Cond: c})
		values = append(values, v)
	}
	if e.Else != nil {
		v, reason := p.expr(e.Else, r)
		if reason != "" {
			return typed{}, reason
		}
		values = append(values, v)
	}
	if f.kind == kindWall && len(values) > 0 {
		// Times of one type stay what they are.
		for _, v := range values {
			if v.form.kind != kindNull {
				f = v.form
				break
			}
		}
		f.sql = e.Type()
	}
	if types.IsTextOnly(e.Type()) && !comparableBytes(e.Type()) {
		return typed{}, byCollation
	}
	if f.kind == kindDecimal && as == nil && !sameDigits(values, &f) {
		return typed{}, "branches of different digits"
	}
	return p.branches(out, values, f, true)
}

// sameDigits gives f the digits that all values have; false when they differ.
func sameDigits(values []typed, f *form) bool {
	scale, whole := int32(-1), 0
	for _, v := range values {
		switch v.form.kind {
		case kindNull:
			continue
		case kindDecimal:
			whole = max(whole, wholeDigits(v.form.sql), boundDigits(v))
		default:
			whole = max(whole, 20)
		}
		if scale >= 0 && scale != v.form.t.Scale {
			return false
		}
		scale = v.form.t.Scale
	}
	if scale < 0 || whole+int(scale) > maxDecimal256 {
		return false
	}
	f.t = decimalType(whole+int(scale), int(scale))
	return true
}

// branches completes a CASE with its values as form f; converts says that the engine converts them, too.
func (p *planner) branches(out exec.Case, values []typed, f form, converts bool) (typed, string) {
	exprs := make([]exec.Expr, len(values))
	for i, v := range values {
		x, ok := branch(v, f, converts)
		if !ok {
			return typed{}, "branches of different types"
		}
		exprs[i] = x
	}
	for i := range out.When {
		out.When[i].Then = exprs[i]
	}
	if len(exprs) > len(out.When) {
		out.Else = exprs[len(out.When)]
	}
	out.T = f.t
	return typed{out, f}, ""
}

func branch(v typed, f form, converts bool) (exec.Expr, bool) {
	if c, ok := isConst(v); ok && c.Null {
		return exec.Const{T: f.t, Null: true}, true
	}
	switch f.kind {
	case kindBool, kindInt:
		return v.expr, v.form.integer() && types.IsYear(v.form.sql) == types.IsYear(f.sql)
	case kindText:
		return v.expr, v.form.kind == kindText
	case kindFloat:
		if f.sql == types.Float32 {
			return nil, false
		}
		if v.form.kind != kindFloat && !converts {
			return nil, false
		}
		return toFloat(v)
	case kindDecimal:
		if v.form.t.Scale > f.t.Scale || !converts && (v.form.kind != kindDecimal || v.form.t.Scale != f.t.Scale) {
			return nil, false
		}
		switch v.form.kind {
		case kindDecimal, kindInt, kindBool, kindUint:
			return toDecimal(v, f.t), true
		}
		return nil, false
	}
	return v.expr, v.form.alike(f)
}

// common converts values that the engine passes on as they are.
func (p *planner) common(values []sql.Expression, t sql.Type, r *relation, as *form) ([]typed, form, string) {
	var out []typed
	var f form
	for _, e := range values {
		v, reason := p.expr(e, r)
		if reason != "" {
			return nil, f, reason
		}
		out = append(out, v)
		if v.form.kind == kindNull {
			continue
		}
		if f.kind == 0 || f.kind == kindBool && v.form.kind == kindInt {
			f = v.form
		}
	}
	if as != nil {
		return out, *as, ""
	}
	if f.kind == 0 {
		return nil, f, notType
	}
	want, ok := formOf(t)
	if !ok {
		return nil, f, notType
	}
	if f.kind == kindInstant {
		want.kind, want.unit = kindInstant, f.unit
	}
	if f.kind == kindWall {
		want.unit = f.unit
	}
	if want.kind != f.kind && !(want.integer() && f.integer()) {
		return nil, f, notType
	}
	if f.kind == kindDecimal && !sameDigits(out, &f) {
		return nil, f, "branches of different digits"
	}
	if types.IsTextOnly(t) && !comparableBytes(t) {
		return nil, f, byCollation
	}
	f.sql = t
	return out, f, ""
}

func (p *planner) ifElse(e *function.If, r *relation, as *form) (typed, string) {
	args := e.Children()
	c, reason := p.condition(args[0], r)
	if reason != "" {
		return typed{}, reason
	}
	values, f, reason := p.common(args[1:], e.Type(), r, as)
	if reason != "" {
		return typed{}, reason
	}
	return p.branches(exec.Case{When: []exec.When{{Cond: c}}}, values, f, as != nil)
}

// firstValue is the first of its values that is not NULL.
func (p *planner) firstValue(args []sql.Expression, t sql.Type, r *relation, as *form) (typed, string) {
	values, f, reason := p.common(args, t, r, as)
	if reason != "" {
		return typed{}, reason
	}
	out := exec.Case{}
	for _, v := range values[:len(values)-1] {
		out.When = append(out.When, exec.When{Cond: exec.Not{Arg: exec.IsNull{Arg: v.expr}}})
	}
	return p.branches(out, values, f, as != nil)
}

func (p *planner) nullIf(e *function.NullIf, r *relation) (typed, string) {
	eq, reason := p.condition(expression.NewEquals(e.LeftChild, e.RightChild), r)
	if reason != "" {
		return typed{}, reason
	}
	values, f, reason := p.common([]sql.Expression{e.LeftChild}, e.Type(), r, nil)
	if reason != "" {
		return typed{}, reason
	}
	null := typed{exec.Const{T: f.t, Null: true}, f}
	return p.branches(exec.Case{When: []exec.When{{Cond: eq}}}, []typed{null, values[0]}, f, false)
}
