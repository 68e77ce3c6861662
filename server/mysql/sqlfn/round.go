package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// roundFunctions are ROUND of decimals to a known number of digits, which has that many: the engine's keep those of what is
// rounded. Everything else is the engine's.
func roundFunctions() []sql.Function {
	return []sql.Function{sql.FunctionN{Name: "round", Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if digits, ok := roundDigits(args); ok && types.IsDecimal(args[0].Type()) {
			return &scalar{name: "round", args: args, strict: true, typeOf: func(args []sql.Expression) sql.Type {
				t, ok := args[0].Type().(sql.DecimalType)
				if !ok {
					return wholeType(args)
				}
				scale := min(t.Scale(), uint8(max(0, digits)))
				return types.MustCreateColumnDecimalType(max(1, min(65, t.Precision()-t.Scale()+1+scale)), scale)
			}, eval: func(_ *sql.Context, values []any, _ []sql.Expression) (any, error) {
				d, ok := exactOf(values[0])
				if !ok {
					return nil, nil
				}
				return d.Round(min(digits, -d.Exponent())).Truncate(max(0, digits)), nil
			}}, nil
		}
		return function.NewRound(args...)
	}}}
}

// roundDigits are those of ROUND, if they are known; negative ones are before the point.
func roundDigits(args []sql.Expression) (int32, bool) {
	if len(args) == 1 {
		return 0, true
	}
	if len(args) != 2 {
		return 0, false
	}
	literal, ok := args[1].(*expression.Literal)
	if !ok {
		return 0, false
	}
	n, ok := integerOf(literal.Value())
	digits := int32(min(n.abs, 100))
	if n.negative {
		digits = -digits
	}
	return digits, ok
}
