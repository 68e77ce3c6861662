package columnar

import (
	"fmt"
	"time"

	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// mapped converts a function of one column: the engine's own expression computes it, once per distinct
// value. So it is exact whatever the function is; where it can be told that close times have one
// value (an hour, a formatted minute), the times are first brought together.
func (p *planner) mapped(e sql.Expression, r *relation) (typed, string) {
	if !meaning.Deterministic(e) {
		return typed{}, why.NotRandom
	}
	f, ok := form.Of(e.Type())
	if ok && f.Kind == form.Decimal {
		f, ok = p.digitsOfMapped(e, f)
	}
	if !ok {
		return typed{}, why.NotType
	}
	fields := columnsIn(e)
	if len(fields) == 0 {
		return typed{}, why.NotExpression // what folding left alone
	}
	at := fields[0].Index()
	for _, g := range fields {
		if g.Index() != at {
			return p.mappedChild(e, r, f)
		}
	}
	arg, reason := r.field(at)
	if reason != "" {
		return p.mappedChild(e, r, f)
	}
	// The expression reads its only column in a row of one field.
	own, _, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if g, ok := e.(*expression.GetField); ok {
			return g.WithIndex(0), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil {
		return typed{}, err.Error()
	}
	return p.applied(own, p.brought(own, arg), f), ""
}

// mappedChild maps over the only argument that is no constant, if that converts.
func (p *planner) mappedChild(e sql.Expression, r *relation, f form.Form) (typed, string) {
	switch e.(type) {
	case expression.Tuple, *expression.Case:
		return typed{}, why.NotExpression
	}
	children := e.Children()
	only := -1
	for i, c := range children {
		if len(columnsIn(c)) == 0 {
			continue
		}
		if only >= 0 {
			return typed{}, why.NotExpression
		}
		only = i
	}
	if only < 0 {
		return typed{}, why.NotExpression
	}
	if _, tuple := children[only].(expression.Tuple); tuple {
		return typed{}, why.NotExpression
	}
	switch e.(type) {
	case *expression.Div, *expression.Arithmetic, *expression.Mod, *expression.IntDiv, *expression.UnaryMinus, meaning.Checked:
		if meaning.HasDivision(children[only]) {
			return typed{}, "the digits of a division inside"
		}
	}
	arg, reason := p.expr(children[only], r)
	if reason != "" {
		return typed{}, reason
	}
	with := append([]sql.Expression(nil), children...)
	with[only] = expression.NewGetField(0, children[only].Type(), "x", true)
	own, err := e.WithChildren(with...)
	if err != nil {
		return typed{}, err.Error()
	}
	return p.applied(own, arg, f), ""
}

// applied computes own, an expression over a row of one field, for each distinct value of arg.
func (p *planner) applied(own sql.Expression, arg typed, f form.Form) typed {
	ctx, in, lock := p.ctx, arg.form, p.engine
	p.touched = true
	apply := func(c exec.Const) (exec.Const, error) {
		lock.Lock()
		defer lock.Unlock()
		v, err := own.Eval(ctx, sql.Row{in.Value(c, lock.zone)})
		if err != nil {
			return exec.Const{}, err
		}
		out, ok := f.Constant(ctx, v)
		if !ok {
			return exec.Const{}, fmt.Errorf("pushdown: %s gave %v (%T), which is no %s", own, v, v, f.SQL)
		}
		return out, nil
	}
	return typed{exec.Map{Arg: arg.expr, Apply: apply, T: f.T, Text: own.String()}, f}
}

// wall shows an instant as the wall time of the session's zone.
func (p *planner) wall(x typed) typed {
	in, lock := x.form, p.engine
	f := form.Form{Kind: form.Wall, SQL: in.SQL, T: form.IntType, Unit: 1}
	apply := func(c exec.Const) (exec.Const, error) {
		if c.Null {
			return exec.Const{T: form.IntType, Null: true}, nil
		}
		lock.Lock()
		defer lock.Unlock()
		return exec.Const{T: form.IntType, Int: lock.zone.Wall(c.Int * in.Unit).UnixMicro()}, nil
	}
	return typed{exec.Map{Arg: x.expr, Apply: apply, T: form.IntType, Text: "wall time"}, f}
}
