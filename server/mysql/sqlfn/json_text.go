package sqlfn

import (
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// JSONAsText is e, which is JSON, as text.
func JSONAsText(e sql.Expression) sql.Expression {
	return &jsonAsText{expression.UnaryExpression{Child: e}}
}

type jsonAsText struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*jsonAsText)(nil)
	_ sql.CollationCoercible = (*jsonAsText)(nil)
)

func (x *jsonAsText) String() string { return x.Child.String() }
func (x *jsonAsText) Type() sql.Type { return types.LongText }

func (x *jsonAsText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, x.Child)
}

func (x *jsonAsText) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return JSONAsText(children[0]), nil
}

func (x *jsonAsText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if j, ok := v.(sql.JSONWrapper); ok {
		text, err := sqltable.TextOfJSON(j)
		return string(text), err
	}
	return ToText(ctx, v, x.Child.Type())
}
