package sqlfn

import (
	"fmt"

	"millrace/pushdown/exact"
	"millrace/pushdown/window"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// aggregate is what our aggregates of one argument share.
type aggregate struct {
	name   string
	child  sql.Expression
	window *sql.WindowDefinition
	id     sql.ColumnId
}

func (a *aggregate) FunctionName() string { return a.name }
func (a *aggregate) Description() string  { return a.name }

//nolint:staticcheck // the engine's name
func (a *aggregate) Id() sql.ColumnId              { return a.id }
func (a *aggregate) Window() *sql.WindowDefinition { return a.window }
func (a *aggregate) IsNullable() bool              { return true }

func (a *aggregate) Resolved() bool {
	if !a.child.Resolved() {
		return false
	}
	return a.window == nil || expression.ExpressionsResolved(a.window.ToExpressions()...)
}

// String names an aggregate: the planner takes two of the same name for the same one.
func (a *aggregate) String() string {
	if a.window == nil {
		return fmt.Sprintf("%s(%s)", a.name, a.child)
	}
	p := sql.NewTreePrinter()
	_ = p.WriteNode("%s", a.name)
	_ = p.WriteChildren(a.window.String(), a.child.String())
	return p.String()
}

func (a *aggregate) Children() []sql.Expression {
	children := []sql.Expression{a.child}
	if a.window != nil {
		children = append(children, a.window.ToExpressions()...)
	}
	return children
}

func (a *aggregate) withChildren(children []sql.Expression) (aggregate, error) {
	n := *a
	if len(children) < 1 {
		return n, fmt.Errorf("%s: no argument", a.name)
	}
	n.child = children[0]
	if len(children) > 1 && a.window != nil {
		w, err := a.window.FromExpressions(children[1:])
		if err != nil {
			return n, err
		}
		n.window = w
	}
	return n, nil
}

func (a *aggregate) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, aggregation.ErrEvalUnsupportedOnAggregation.New(a.name)
}

func (a *aggregate) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func cloneExpr(e sql.Expression) (sql.Expression, error) { return transform.Clone(e) }

// accumulator takes in the values of one group, or of one window frame; never NULL.
type accumulator interface {
	add(ctx *sql.Context, v any) error
	// remove takes a value out again; false, and nothing done, when it cannot.
	remove(ctx *sql.Context, v any) (bool, error)
	// result of what was added; nil for nothing.
	result() any
}

// buffer feeds an accumulator with the rows of a group, or of a window's frame.
type buffer struct {
	child sql.Expression
	acc   accumulator
}

var _ window.Slider = (*buffer)(nil)

func (b *buffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.child.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	return b.acc.add(ctx, v)
}

// Remove implements window.Slider.
func (b *buffer) Remove(ctx *sql.Context, row sql.Row) (bool, error) {
	v, err := b.child.Eval(ctx, row)
	if err != nil || v == nil {
		return err == nil, err
	}
	return b.acc.remove(ctx, v)
}

func (b *buffer) Eval(*sql.Context) (any, error) { return b.acc.result(), nil }
func (b *buffer) Dispose()                       { expression.Dispose(b.child) }

// windowFunctions are the functions with OVER that are no aggregates.
func windowFunctions() []sql.Function { return window.Functions(commonType) }

// commonType holds the values of both types.
func commonType(a, b sql.Type) sql.Type {
	switch {
	case a.Equals(b) || b == types.Null:
		return a
	case a == types.Null:
		return b
	case types.IsNumber(a) && types.IsNumber(b):
		if types.IsFloat(a) || types.IsFloat(b) {
			return types.Float64
		}
		field := func(t sql.Type) sql.Expression { return expression.NewGetField(0, t, "", true) }
		e, err := function.NewCoalesce(field(a), field(b))
		if err != nil {
			return a
		}
		if exact := exact.Branches(e); exact != nil {
			return exact.Type()
		}
		return e.Type()
	case types.IsTime(a) && types.IsTime(b):
		return types.DatetimeMaxPrecision
	}
	return types.LongText
}

// errWindowed is why the engine itself cannot compute an aggregate over frames: package pushdown does.
func errWindowed(name string) error { return sql.ErrWindowUnsupported.New(name) }
