package sqlfn

import (
	"math"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// maxDecimalScale is the most fraction digits that a DECIMAL has.
const maxDecimalScale = 30

// numberFunctions are missing in the engine, or wrong there.
func numberFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "sign", strict: true, typeOf: fixed(types.Int64), eval: sign}, 1, 1),
		scalarFunction(scalar{name: "abs", strict: true, typeOf: absoluteType, eval: absolute}, 1, 1),
		scalarFunction(scalar{name: "pow", strict: true, typeOf: fixed(types.Float64), eval: power}, 2, 2),
		scalarFunction(scalar{name: "power", strict: true, typeOf: fixed(types.Float64), eval: power}, 2, 2),
		scalarFunction(scalar{name: "truncate", strict: true, typeOf: truncateType, eval: truncate}, 2, 2),
		scalarFunction(scalar{name: "period_add", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			months, ok, err := periodMonths(ctx, args[0])
			if err != nil || !ok {
				return nil, err
			}
			n, err := toInt(ctx, args[1])
			if err != nil {
				return nil, err
			}
			months += n
			return months/12*100 + months%12 + 1, nil
		}}, 2, 2),
		scalarFunction(scalar{name: "period_diff", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			a, ok, err := periodMonths(ctx, args[0])
			if err != nil || !ok {
				return nil, err
			}
			b, ok, err := periodMonths(ctx, args[1])
			if err != nil || !ok {
				return nil, err
			}
			return a - b, nil
		}}, 2, 2),
	}
}

func absoluteType(args []sql.Expression) sql.Type {
	switch t := args[0].Type(); {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t), types.IsBoolean(t):
		return types.Int64
	case types.IsDecimal(t):
		return t
	}
	return types.Float64
}

// absolute has an error where the engine's wraps around.
func absolute(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	if w, ok := integerOf(args[0]); ok && !types.IsFloat(exprs[0].Type()) {
		switch {
		case types.IsUnsigned(exprs[0].Type()):
			return w.abs, nil
		case w.abs > math.MaxInt64:
			return nil, sqlerr.New(1690, "22003", "BIGINT value is out of range in 'abs(%s)'", exprs[0])
		}
		return int64(w.abs), nil
	}
	if d, ok := args[0].(decimal.Decimal); ok {
		return d.Abs(), nil
	}
	f, err := doubleOf(ctx, args[0], exprs[0].Type())
	return math.Abs(f), err
}

// power has an error where the engine's is NULL or infinite.
func power(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	base, err := doubleOf(ctx, args[0], exprs[0].Type())
	if err != nil {
		return nil, err
	}
	exponent, err := doubleOf(ctx, args[1], exprs[1].Type())
	if err != nil {
		return nil, err
	}
	p := math.Pow(base, exponent)
	if math.IsInf(p, 0) || math.IsNaN(p) {
		return nil, sqlerr.New(1690, "22003", "DOUBLE value is out of range in 'pow(%s,%s)'", exprs[0], exprs[1])
	}
	return p, nil
}

// sign is that of the number itself: the engine's is that of the number rounded.
func sign(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	if d, ok := exactOf(args[0]); ok {
		return int64(d.Sign()), nil
	}
	f, err := toFloat(ctx, args[0])
	switch {
	case err != nil:
		return nil, err
	case f < 0:
		return int64(-1), nil
	case f > 0:
		return int64(1), nil
	}
	return int64(0), nil
}

// periodMonths reads YYYYMM or YYMM as months.
func periodMonths(ctx *sql.Context, v any) (int64, bool, error) {
	p, err := toInt(ctx, v)
	if err != nil {
		return 0, false, err
	}
	year, month := p/100, p%100
	if p <= 0 || month < 1 || month > 12 {
		return 0, false, sqlerr.New(1210, "HY000", "Incorrect arguments to period_add")
	}
	switch {
	case year < 70:
		year += 2000
	case year < 100:
		year += 1900
	}
	return year*12 + month - 1, true, nil
}

func truncateType(args []sql.Expression) sql.Type {
	switch t := args[0].Type(); {
	case types.IsInteger(t):
		if types.IsUnsigned(t) {
			return types.Uint64
		}
		return types.Int64
	case types.IsDecimal(t):
		scale := t.(sql.DecimalType).Scale()
		if lit, ok := args[1].(*expression.Literal); ok {
			if n, ok := integerOf(lit.Value()); ok {
				switch {
				case n.negative:
					scale = 0
				case n.abs < uint64(scale):
					scale = uint8(n.abs)
				}
			}
		}
		return types.MustCreateDecimalType(65, min(scale, maxDecimalScale))
	default:
		return types.Float64
	}
}

func truncate(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	digits, err := toInt(ctx, args[1])
	if err != nil {
		return nil, err
	}
	digits = max(-400, min(400, digits))
	switch t := truncateType(exprs); t {
	case types.Int64, types.Uint64:
		v, _, err := t.Convert(ctx, args[0])
		if err != nil || digits >= 0 {
			return v, err
		}
		d, _, err := types.InternalDecimalType.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		out, _, err := t.Convert(ctx, towardsZero(d.(decimal.Decimal), int32(digits)))
		return out, err
	case types.Float64:
		v := args[0]
		if s, ok := v.(string); ok {
			v = NumericPrefix(ctx, s)
		}
		c, _, err := types.Float64.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		f := c.(float64)
		unit := math.Pow(10, float64(digits))
		switch {
		case digits < -308:
			return 0.0, nil
		case math.IsInf(unit, 0) || math.IsInf(f*unit, 0):
			return f, nil
		}
		return math.Trunc(f*unit) / unit, nil
	default:
		c, _, err := types.InternalDecimalType.Convert(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return towardsZero(c.(decimal.Decimal), int32(digits)), nil
	}
}

// towardsZero cuts d after so many fraction digits, or before the point if that is negative.
func towardsZero(d decimal.Decimal, digits int32) decimal.Decimal {
	if digits >= 0 {
		return d.Truncate(digits)
	}
	return d.Shift(digits).Truncate(0).Shift(-digits)
}

// utcTimestamp is of the moment that NOW() is of.
func utcTimestamp(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	digits := int64(0)
	if len(args) > 0 {
		n, err := toInt(ctx, args[0])
		if err != nil {
			return nil, err
		}
		digits = max(0, min(6, n))
	}
	return ctx.QueryTime().UTC().Truncate(time.Duration(math.Pow10(int(9 - digits)))), nil
}
