package pushdown

import (
	"fmt"
	"time"

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
	if !deterministic(e) {
		return typed{}, notRandom
	}
	f, ok := formOf(e.Type())
	if ok && f.kind == kindDecimal {
		f, ok = p.digitsOfMapped(e, f)
	}
	if !ok {
		return typed{}, notType
	}
	fields := columnsIn(e)
	if len(fields) == 0 {
		return typed{}, notExpression // what folding left alone
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
func (p *planner) mappedChild(e sql.Expression, r *relation, f form) (typed, string) {
	switch e.(type) {
	case expression.Tuple, *expression.Case:
		return typed{}, notExpression
	}
	children := e.Children()
	only := -1
	for i, c := range children {
		if len(columnsIn(c)) == 0 {
			continue
		}
		if only >= 0 {
			return typed{}, notExpression
		}
		only = i
	}
	if only < 0 {
		return typed{}, notExpression
	}
	if _, tuple := children[only].(expression.Tuple); tuple {
		return typed{}, notExpression
	}
	switch e.(type) {
	case *expression.Div, *expression.Arithmetic, *expression.Mod, *expression.IntDiv, *expression.UnaryMinus, Checked:
		if HasDivision(children[only]) {
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
func (p *planner) applied(own sql.Expression, arg typed, f form) typed {
	ctx, in, lock := p.ctx, arg.form, p.engine
	p.touched = true
	apply := func(c exec.Const) (exec.Const, error) {
		lock.Lock()
		defer lock.Unlock()
		v, err := own.Eval(ctx, sql.Row{in.value(c, lock.zone)})
		if err != nil {
			return exec.Const{}, err
		}
		out, ok := f.constant(ctx, v)
		if !ok {
			return exec.Const{}, fmt.Errorf("pushdown: %s gave %v (%T), which is no %s", own, v, v, f.sql)
		}
		return out, nil
	}
	return typed{exec.Map{Arg: arg.expr, Apply: apply, T: f.t, Text: own.String()}, f}
}

// wall shows an instant as the wall time of the session's zone.
func (p *planner) wall(x typed) typed {
	in, lock := x.form, p.engine
	f := form{kind: kindWall, sql: in.sql, t: intType, unit: 1}
	apply := func(c exec.Const) (exec.Const, error) {
		if c.Null {
			return exec.Const{T: intType, Null: true}, nil
		}
		lock.Lock()
		defer lock.Unlock()
		return exec.Const{T: intType, Int: lock.zone.Wall(c.Int * in.unit).UnixMicro()}, nil
	}
	return typed{exec.Map{Arg: x.expr, Apply: apply, T: intType, Text: "wall time"}, f}
}
