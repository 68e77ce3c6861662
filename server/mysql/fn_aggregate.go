package mysql

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
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

// buffer feeds an accumulator with the rows of a group.
type buffer struct {
	child sql.Expression
	acc   accumulator
}

func (b *buffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.child.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	return b.acc.add(ctx, v)
}

func (b *buffer) Eval(*sql.Context) (any, error) { return b.acc.result(), nil }
func (b *buffer) Dispose()                       { expression.Dispose(b.child) }

// windowed computes an accumulator over window frames. Frames mostly grow or slide by a row, so
// the last frame is kept and changed.
type windowed struct {
	child  sql.Expression
	framer sql.WindowFramer
	fresh  func() accumulator

	acc        accumulator
	start, end int // frame that acc holds
	err        error
}

func newWindowed(child sql.Expression, w *sql.WindowDefinition, fresh func() accumulator) (sql.WindowFunction, error) {
	f := &windowed{child: child, fresh: fresh}
	if w != nil && w.Frame != nil {
		framer, err := w.Frame.NewFramer(w)
		if err != nil {
			return nil, err
		}
		f.framer = framer
	}
	return f, nil
}

func (f *windowed) Dispose() { expression.Dispose(f.child) }

func (f *windowed) DefaultFramer() sql.WindowFramer {
	if f.framer != nil {
		return f.framer
	}
	return aggregation.NewUnboundedPrecedingToCurrentRowFramer()
}

func (f *windowed) StartPartition(_ *sql.Context, interval sql.WindowInterval, _ sql.WindowBuffer) error {
	f.acc, f.start, f.end = f.fresh(), interval.Start, interval.Start
	return f.err
}

func (f *windowed) Compute(ctx *sql.Context, interval sql.WindowInterval, buf sql.WindowBuffer) any {
	if interval.End <= interval.Start {
		return nil
	}
	if interval.Start < f.start || interval.End < f.end || interval.Start > f.end || !f.drop(ctx, interval.Start, buf) {
		f.acc, f.start, f.end = f.fresh(), interval.Start, interval.Start
	}
	for ; f.end < interval.End; f.end++ {
		v, err := f.child.Eval(ctx, buf[f.end])
		if err == nil && v != nil {
			err = f.acc.add(ctx, v)
		}
		if err != nil && f.err == nil {
			f.err = err
		}
	}
	return f.acc.result()
}

// drop takes the rows before start out of the frame; false when that is not possible.
func (f *windowed) drop(ctx *sql.Context, start int, buf sql.WindowBuffer) bool {
	for ; f.start < start; f.start++ {
		v, err := f.child.Eval(ctx, buf[f.start])
		if err != nil {
			return false
		}
		if v == nil {
			continue
		}
		if ok, err := f.acc.remove(ctx, v); !ok || err != nil {
			return false
		}
	}
	return true
}
