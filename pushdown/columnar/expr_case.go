package columnar

import (
	"millrace/pushdown/compare"
	"millrace/pushdown/form"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// cases converts CASE, whose branches the engine converts to the type of the whole.
func (p *planner) cases(e *expression.Case, r *relation, as *form.Form) (typed, string) {
	f, ok := form.Of(e.Type())
	if !ok {
		return typed{}, why.NotType
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
	if f.Kind == form.Wall && len(values) > 0 {
		// Times of one type stay what they are.
		for _, v := range values {
			if v.form.Kind != form.Null {
				f = v.form
				break
			}
		}
		f.SQL = e.Type()
	}
	if types.IsTextOnly(e.Type()) && !compare.ByBytes(e.Type()) {
		return typed{}, why.ByCollation
	}
	if f.Kind == form.Decimal && as == nil && !sameDigits(values, &f) {
		return typed{}, "branches of different digits"
	}
	return p.branches(out, values, f, true)
}

// sameDigits gives f the digits that all values have; false when they differ.
func sameDigits(values []typed, f *form.Form) bool {
	scale, whole := int32(-1), 0
	for _, v := range values {
		switch v.form.Kind {
		case form.Null:
			continue
		case form.Decimal:
			whole = max(whole, form.WholeDigits(v.form.SQL), boundDigits(v))
		default:
			whole = max(whole, 20)
		}
		if scale >= 0 && scale != v.form.T.Scale {
			return false
		}
		scale = v.form.T.Scale
	}
	if scale < 0 || whole+int(scale) > form.MaxDecimal256 {
		return false
	}
	f.T = form.DecimalType(whole+int(scale), int(scale))
	return true
}

// branches completes a CASE with its values as form f; converts says that the engine converts them, too.
func (p *planner) branches(out exec.Case, values []typed, f form.Form, converts bool) (typed, string) {
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
	out.T = f.T
	return typed{out, f}, ""
}

func branch(v typed, f form.Form, converts bool) (exec.Expr, bool) {
	if c, ok := isConst(v); ok && c.Null {
		return exec.Const{T: f.T, Null: true}, true
	}
	switch f.Kind {
	case form.Bool, form.Int:
		return v.expr, v.form.Integer() && types.IsYear(v.form.SQL) == types.IsYear(f.SQL)
	case form.Text:
		return v.expr, v.form.Kind == form.Text
	case form.Float:
		if f.SQL == types.Float32 {
			return nil, false
		}
		if v.form.Kind != form.Float && !converts {
			return nil, false
		}
		return toFloat(v)
	case form.Decimal:
		if v.form.T.Scale > f.T.Scale || !converts && (v.form.Kind != form.Decimal || v.form.T.Scale != f.T.Scale) {
			return nil, false
		}
		switch v.form.Kind {
		case form.Decimal, form.Int, form.Bool, form.Uint:
			return toDecimal(v, f.T), true
		}
		return nil, false
	}
	return v.expr, v.form.Alike(f)
}

// common converts values that the engine passes on as they are.
func (p *planner) common(values []sql.Expression, t sql.Type, r *relation, as *form.Form) ([]typed, form.Form, string) {
	var out []typed
	var f form.Form
	for _, e := range values {
		v, reason := p.expr(e, r)
		if reason != "" {
			return nil, f, reason
		}
		out = append(out, v)
		if v.form.Kind == form.Null {
			continue
		}
		if f.Kind == 0 || f.Kind == form.Bool && v.form.Kind == form.Int {
			f = v.form
		}
	}
	if as != nil {
		return out, *as, ""
	}
	if f.Kind == 0 {
		return nil, f, why.NotType
	}
	want, ok := form.Of(t)
	if !ok {
		return nil, f, why.NotType
	}
	if f.Kind == form.Instant {
		want.Kind, want.Unit = form.Instant, f.Unit
	}
	if f.Kind == form.Wall {
		want.Unit = f.Unit
	}
	if want.Kind != f.Kind && !(want.Integer() && f.Integer()) {
		return nil, f, why.NotType
	}
	if f.Kind == form.Decimal && !sameDigits(out, &f) {
		return nil, f, "branches of different digits"
	}
	if types.IsTextOnly(t) && !compare.ByBytes(t) {
		return nil, f, why.ByCollation
	}
	f.SQL = t
	return out, f, ""
}

func (p *planner) ifElse(e *function.If, r *relation, as *form.Form) (typed, string) {
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
func (p *planner) firstValue(args []sql.Expression, t sql.Type, r *relation, as *form.Form) (typed, string) {
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
	null := typed{exec.Const{T: f.T, Null: true}, f}
	return p.branches(exec.Case{When: []exec.When{{Cond: eq}}}, []typed{null, values[0]}, f, false)
}
