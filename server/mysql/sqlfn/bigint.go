package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// bigInt is a function of the engine that counts, with MySQL's type. The engine's are unsigned, so that ASCII(s) - 200 would be out
// of range.
type bigInt struct{ sql.FunctionExpression }

var (
	_ sql.FunctionExpression = bigInt{}
	_ sql.CollationCoercible = bigInt{}
)

func bigIntFunctions() []sql.Function {
	var out []sql.Function
	for name, fn := range map[string]func(sql.Expression) sql.Expression{"ascii": function.NewAscii, "weekofyear": function.NewWeekOfYear} {
		out = append(out, sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) != 1 {
				return nil, wrongCount(name)
			}
			return bigInt{fn(args[0]).(sql.FunctionExpression)}, nil
		}})
	}
	return out
}

func (f bigInt) Type() sql.Type { return types.Int64 }

func (f bigInt) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (f bigInt) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	e, err := f.FunctionExpression.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return bigInt{e.(sql.FunctionExpression)}, nil
}

func (f bigInt) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.FunctionExpression.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return toInt(ctx, v)
}
