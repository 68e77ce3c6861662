package sqlfn

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// roundFunctions are ROUND of decimals to a known number of digits, which has that many: the engine's keep those of what is
// rounded; and ROUND of doubles, whose halves go to the even side. Everything else is the engine's.
func roundFunctions() []sql.Function {
	return []sql.Function{sql.FunctionN{Name: "round", Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if digits, ok := roundDigits(args); ok && types.IsDecimal(args[0].Type()) {
			return &scalar{name: "round", args: args, strict: true, typeOf: func(args []sql.Expression) sql.Type {
				t, ok := args[0].Type().(sql.DecimalType)
				if !ok {
					return wholeType(args)
				}
				scale := uint8(min(max(0, digits), maxDecimalScale))
				return types.MustCreateColumnDecimalType(max(1, scale, min(65, t.Precision()-t.Scale()+1+scale)), scale)
			}, eval: func(_ *sql.Context, values []any, _ []sql.Expression) (any, error) {
				d, ok := exactOf(values[0])
				if !ok {
					return nil, nil
				}
				return d.Round(min(digits, maxDecimalScale)).Truncate(max(0, digits)), nil
			}}, nil
		}
		if len(args) > 0 && len(args) < 3 && types.IsFloat(args[0].Type()) {
			return &scalar{name: "round", args: args, strict: true, typeOf: fixed(types.Float64), eval: roundDouble}, nil
		}
		return function.NewRound(args...)
	}}}
}

// roundDouble rounds as MySQL does, by C's rint.
func roundDouble(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	x, err := toFloat(ctx, args[0])
	if err != nil {
		return nil, err
	}
	digits := int64(0)
	if len(args) > 1 {
		if digits, err = toInt(ctx, args[1]); err != nil {
			return nil, err
		}
	}
	switch {
	case digits > 308 || math.IsInf(x, 0) || math.IsNaN(x):
		return x, nil
	case digits < -308:
		return 0.0, nil
	}
	p := math.Pow10(int(max(digits, -digits)))
	if digits < 0 {
		return math.RoundToEven(x/p) * p, nil
	}
	if y := math.RoundToEven(x * p); !math.IsInf(y, 0) {
		return y / p, nil
	}
	return x, nil
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
