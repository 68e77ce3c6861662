package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// dateFunction is the engine's DATE, which says that its values are dates and makes text of them: groups, and rows of a union,
// took such for others than dates.
func dateFunction() sql.Function {
	return sql.Function1{Name: "date", Fn: func(e sql.Expression) sql.Expression { return &dateOf{function.NewDate(e)} }}
}

type dateOf struct{ sql.Expression }

var (
	_ sql.FunctionExpression = (*dateOf)(nil)
	_ sql.CollationCoercible = (*dateOf)(nil)
)

func (*dateOf) FunctionName() string { return "date" }
func (*dateOf) Description() string  { return "date" }

func (*dateOf) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (d *dateOf) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	inner, err := d.Expression.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return &dateOf{inner}, nil
}

func (d *dateOf) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := d.Expression.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	date, _, err := types.Date.Convert(ctx, v)
	return date, err
}
