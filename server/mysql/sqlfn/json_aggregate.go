package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
)

// jsonAggregates are the engine's JSON_ARRAYAGG and JSON_OBJECTAGG, which keep a whole group, as
// long as there is memory for it.
func jsonAggregates(memory Memory) []sql.Function {
	return []sql.Function{
		sql.Function1{Name: "json_arrayagg", Fn: func(e sql.Expression) sql.Expression {
			return &guarded{aggregation.NewJsonArray(e), memory}
		}},
		sql.Function2{Name: "json_objectagg", Fn: func(key, value sql.Expression) sql.Expression {
			return &guarded{aggregation.NewJSONObjectAgg(key, value).(sql.Aggregation), memory}
		}},
	}
}

// guarded is an aggregate that asks for memory before each row, and is NULL over none.
type guarded struct {
	sql.Aggregation
	memory Memory
}

var (
	_ sql.Aggregation        = (*guarded)(nil)
	_ sql.FunctionExpression = (*guarded)(nil)
	_ sql.CollationCoercible = (*guarded)(nil)
)

func (g *guarded) FunctionName() string {
	return g.Aggregation.(sql.FunctionExpression).FunctionName()
}

func (g *guarded) Description() string { return g.Aggregation.(sql.FunctionExpression).Description() }
func (g *guarded) IsNullable() bool    { return true }

func (g *guarded) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.Aggregation)
}

func (g *guarded) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	inner, err := g.Aggregation.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	agg := inner.(sql.Aggregation)
	return &guarded{agg.WithId(g.Id()).(sql.Aggregation), g.memory}, nil
}

//nolint:staticcheck // the engine's name
func (g *guarded) WithId(id sql.ColumnId) sql.IdExpression {
	return &guarded{g.Aggregation.WithId(id).(sql.Aggregation), g.memory}
}

func (g *guarded) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &guarded{g.Aggregation.WithWindow(w).(sql.Aggregation), g.memory}
}

func (g *guarded) NewBuffer() (sql.AggregationBuffer, error) {
	inner, err := g.Aggregation.NewBuffer()
	if err != nil {
		return nil, err
	}
	return &guardedBuffer{AggregationBuffer: inner, memory: g.memory}, nil
}

// NewWindowFunction keeps to the window's frame, which the engine's aggregate forgets.
func (g *guarded) NewWindowFunction() (sql.WindowFunction, error) {
	inner, err := g.Aggregation.NewWindowFunction()
	if err != nil || g.Window() == nil || g.Window().Frame == nil {
		return inner, err
	}
	framer, err := g.Window().Frame.NewFramer(g.Window())
	if err != nil {
		return nil, err
	}
	return &framed{inner, framer}, nil
}

type framed struct {
	sql.WindowFunction
	framer sql.WindowFramer
}

func (f *framed) DefaultFramer() sql.WindowFramer { return f.framer }

type guardedBuffer struct {
	sql.AggregationBuffer
	memory Memory
	any    bool
}

func (b *guardedBuffer) Update(ctx *sql.Context, row sql.Row) error {
	if err := b.memory.Full(); err != nil {
		return err
	}
	b.any = true
	return b.AggregationBuffer.Update(ctx, row)
}

func (b *guardedBuffer) Eval(ctx *sql.Context) (any, error) {
	if !b.any {
		return nil, nil
	}
	return b.AggregationBuffer.Eval(ctx)
}
