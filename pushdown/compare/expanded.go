package compare

import (
	"context"

	"millrace/internal/uca"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Expands says whether text compares by c after uca.Expand. The engine knows one weight a character, and
// so not that ß is ss, nor that a combining accent is nothing.
func Expands(c sql.CollationID) bool { return c == sql.Collation_utf8mb4_0900_ai_ci }

// expands says whether values of type t do, and the type does not know by itself.
func expands(t sql.Type) bool {
	if _, knows := t.(expandedType); knows {
		return false
	}
	s, ok := t.(sql.StringType)
	return ok && Expands(s.Collation())
}

// AppendWeights appends bytes that are the same for text that is equal by c, and for no other.
func AppendWeights(b []byte, c sql.CollationID, s string) ([]byte, error) {
	if Expands(c) {
		s = uca.Expand(s)
	}
	w := appender(b)
	err := c.WriteWeightString(&w, s)
	return w, err
}

type appender []byte

// Write implements io.Writer.
func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// Text compares by c.
func Text(ctx *sql.Context, c sql.CollationID, a, b string) (int, error) {
	if Expands(c) {
		a, b = uca.Expand(a), uca.Expand(b)
	}
	return types.CreateLongText(c).Compare(ctx, a, b)
}

// Expanded is text e for comparisons by a collation that Expands.
func Expanded(e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *expanded:
		return e
	case *expression.Literal:
		if s, ok := x.Value().(string); ok {
			return expression.NewLiteral(uca.Expand(s), x.Type())
		}
		return e
	}
	return &expanded{expression.UnaryExpression{Child: e}}
}

type expanded struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*expanded)(nil)
	_ sql.CollationCoercible = (*expanded)(nil)
)

func (x *expanded) Type() sql.Type { return x.Child.Type() }
func (x *expanded) String() string { return x.Child.String() }

func (x *expanded) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, x.Child)
}

func (x *expanded) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return Expanded(children[0]), nil
}

func (x *expanded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok {
		return uca.Expand(s), nil
	}
	return v, nil
}

// ExpandedSort has sorting compare what is expanded; nil: nothing to do.
func ExpandedSort(fields sql.SortFields) sql.SortFields {
	var out sql.SortFields
	for i, f := range fields {
		if _, done := f.Column.(*expanded); done || !expands(f.Column.Type()) {
			continue
		}
		if out == nil {
			out = append(out, fields...)
		}
		out[i].Column, out[i].Column2 = Expanded(f.Column), nil
	}
	return out
}

// ExpandedExtremes has MIN and MAX compare what is expanded; nil: nothing to do.
func ExpandedExtremes(list []sql.Expression) []sql.Expression {
	var out []sql.Expression
	for i, e := range list {
		var x sql.Expression
		switch e := e.(type) {
		case *aggregation.Max:
			if expands(e.Child.Type()) {
				x = aggregation.NewMax(&comparesExpanded{expression.UnaryExpression{Child: e.Child}})
			}
		case *aggregation.Min:
			if expands(e.Child.Type()) {
				x = aggregation.NewMin(&comparesExpanded{expression.UnaryExpression{Child: e.Child}})
			}
		}
		if x == nil {
			continue
		}
		if out == nil {
			out = append(out, list...)
		}
		out[i] = x
	}
	return out
}

// comparesExpanded is text as it is, of a type that compares it expanded.
type comparesExpanded struct{ expression.UnaryExpression }

func (x *comparesExpanded) Type() sql.Type {
	if t, ok := x.Child.Type().(sql.StringType); ok {
		return expandedType{t}
	}
	return x.Child.Type()
}

func (x *comparesExpanded) String() string { return x.Child.String() }

func (x *comparesExpanded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return sql.UnwrapAny(ctx, v)
}

func (x *comparesExpanded) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &comparesExpanded{expression.UnaryExpression{Child: children[0]}}, nil
}

type expandedType struct{ sql.StringType }

// Compare implements sql.Type.
func (t expandedType) Compare(ctx context.Context, a, b any) (int, error) {
	for _, v := range []*any{&a, &b} {
		if s, ok := (*v).(string); ok {
			*v = uca.Expand(s)
		}
	}
	return t.StringType.Compare(ctx, a, b)
}
