package sqlfn

import (
	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// EnumText is e, an ENUM, as text.
func EnumText(e sql.Expression) sql.Expression {
	return &enumText{expression.UnaryExpression{Child: e}}
}

type enumText struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*enumText)(nil)
	_ sql.CollationCoercible = (*enumText)(nil)
	_ meaning.EnumText       = (*enumText)(nil)
)

// Enum implements meaning.EnumText.
func (x *enumText) Enum() sql.Expression { return x.Child }

func (x *enumText) String() string { return x.Child.String() }

func (x *enumText) Type() sql.Type {
	if t, ok := x.Child.Type().(sql.EnumType); ok {
		return types.CreateLongText(t.Collation())
	}
	return types.LongText
}

func (x *enumText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, x.Child)
}

func (x *enumText) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &enumText{expression.UnaryExpression{Child: children[0]}}, nil
}

func (x *enumText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	t, ok := x.Child.Type().(sql.EnumType)
	if !ok {
		return v, nil
	}
	c, _, err := t.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	if n, ok := c.(uint16); ok {
		s, _ := t.At(int(n))
		return s, nil
	}
	return c, nil
}
