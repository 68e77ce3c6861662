package sqlfn

import (
	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonAggregates are the engine's JSON_ARRAYAGG and JSON_OBJECTAGG, which keep a whole group, as
// long as there is memory for it. What they are fed with are texts of JSON, which jsonOfTexts puts together.
func jsonAggregates(memory Memory) []sql.Function {
	return []sql.Function{
		sql.Function1{Name: "json_arrayagg", Fn: func(e sql.Expression) sql.Expression {
			return &guarded{aggregation.NewJsonArray(newJSONPart(e, false)), memory}
		}},
		sql.Function2{Name: "json_objectagg", Fn: func(key, value sql.Expression) sql.Expression {
			return &guarded{aggregation.NewJSONObjectAgg(newJSONPart(key, true), newJSONPart(value, false)).(sql.Aggregation), memory}
		}},
	}
}

// jsonPart is an expression's value as JSON text, or as the name of a member. It is never NULL.
type jsonPart struct {
	expression.UnaryExpression
	name bool
}

var (
	_ sql.Expression         = (*jsonPart)(nil)
	_ sql.CollationCoercible = (*jsonPart)(nil)
)

func newJSONPart(e sql.Expression, name bool) sql.Expression {
	return &jsonPart{expression.UnaryExpression{Child: e}, name}
}

func (p *jsonPart) Type() sql.Type   { return types.LongText }
func (p *jsonPart) IsNullable() bool { return false }
func (p *jsonPart) String() string   { return p.Child.String() }

func (p *jsonPart) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, p.Child)
}

func (p *jsonPart) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(p, len(children), 1)
	}
	return newJSONPart(children[0], p.name), nil
}

func (p *jsonPart) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := p.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if p.name {
		return jsonName(ctx, v, p.Child)
	}
	atom, err := jsonAtom(ctx, v, p.Child)
	return string(atom), err
}

// jsonOfTexts is the array or object that an aggregate of jsonParts gives; NULL stays NULL.
func jsonOfTexts(v any) any {
	doc, ok := v.(types.JSONDocument)
	if !ok {
		return v
	}
	var out []byte
	switch parts := doc.Val.(type) {
	case []any:
		out = append(out, '[')
		for i, p := range parts {
			if i > 0 {
				out = append(out, ',')
			}
			text, _ := p.(string)
			out = append(out, text...)
		}
		out = append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for name, p := range parts {
			if len(out) > 1 {
				out = append(out, ',')
			}
			text, _ := p.(string)
			out = append(append(jsonval.AppendQuoted(out, name), ':'), text...)
		}
		out = append(out, '}')
	default:
		return nil
	}
	return sqltable.JSONText(jsonval.Value(out).AppendNormal(nil))
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

// NewWindowFunction keeps to the window's frame, which the engine's aggregates forget.
func (g *guarded) NewWindowFunction() (sql.WindowFunction, error) {
	inner, err := g.Aggregation.NewWindowFunction()
	if err != nil {
		return nil, err
	}
	f := &framed{inner, inner.DefaultFramer(), g}
	if g.Window() != nil && g.Window().Frame != nil {
		f.framer, err = g.Window().Frame.NewFramer(g.Window())
	}
	return f, err
}

type framed struct {
	sql.WindowFunction
	framer    sql.WindowFramer
	aggregate *guarded
}

func (f *framed) DefaultFramer() sql.WindowFramer { return f.framer }

// Compute is the aggregate of the frame's rows. That they can be had StartPartition has found out.
func (f *framed) Compute(ctx *sql.Context, interval sql.WindowInterval, buf sql.WindowBuffer) any {
	b, err := f.aggregate.NewBuffer()
	if err != nil {
		return err
	}
	for _, row := range buf[interval.Start:interval.End] {
		if err := b.Update(ctx, row); err != nil {
			return err
		}
	}
	v, err := b.Eval(ctx)
	if err != nil {
		return err
	}
	return v
}

type guardedBuffer struct {
	sql.AggregationBuffer
	memory Memory
	any    bool
}

func (b *guardedBuffer) Update(ctx *sql.Context, row sql.Row) error {
	if err := b.memory.Full(ctx); err != nil {
		return err
	}
	b.any = true
	return b.AggregationBuffer.Update(ctx, row)
}

func (b *guardedBuffer) Eval(ctx *sql.Context) (any, error) {
	if !b.any {
		return nil, nil
	}
	v, err := b.AggregationBuffer.Eval(ctx)
	return jsonOfTexts(v), err
}
