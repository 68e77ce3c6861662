package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// absFunction is the engine's ABS, which knows no truth values.
func absFunction() sql.Function {
	return sql.Function1{Name: "abs", Fn: func(e sql.Expression) sql.Expression { return newAbsolute(e) }}
}

type absolute struct {
	sql.Expression // the engine's
	of             sql.Expression
}

var (
	_ sql.FunctionExpression = (*absolute)(nil)
	_ sql.CollationCoercible = (*absolute)(nil)
)

func newAbsolute(e sql.Expression) *absolute { return &absolute{function.NewAbsVal(e), e} }

func (*absolute) FunctionName() string { return "abs" }
func (*absolute) Description() string  { return "abs" }

func (*absolute) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (a *absolute) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return newAbsolute(children[0]), nil
}

func (a *absolute) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.of.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if truth, ok := v.(bool); ok {
		n, _, err := types.Int8.Convert(ctx, truth)
		return n, err
	}
	return function.NewAbsVal(expression.NewLiteral(v, a.of.Type())).Eval(ctx, nil)
}
