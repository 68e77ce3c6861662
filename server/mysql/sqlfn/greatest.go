package sqlfn

import (
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// extremeFunctions are GREATEST and LEAST, exact where all of their arguments are: the engine's refuse decimals, and make doubles of
// integers.
func extremeFunctions() []sql.Function {
	named := func(name string, sign int, engine func(args ...sql.Expression) (sql.Expression, error)) sql.Function {
		own := scalarFunction(scalar{name: name, strict: true, typeOf: extremeType, eval: extremeNumber(sign)}, 2, maxArguments)
		return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			known := false
			for i, a := range args {
				if types.IsEnum(a.Type()) {
					args[i] = EnumText(a)
				}
			}
			for _, a := range args {
				t := a.Type()
				if t != types.Null && !types.IsInteger(t) && !types.IsDecimal(t) && !types.IsBoolean(t) || types.IsYear(t) {
					return engine(args...)
				}
				known = known || t != types.Null
			}
			if !known {
				return engine(args...)
			}
			return own.NewInstance(args)
		}}
	}
	return []sql.Function{named("greatest", 1, function.NewGreatest), named("least", -1, function.NewLeast)}
}

// extremeType has the digits of all arguments.
func extremeType(args []sql.Expression) sql.Type {
	whole, scale := 0, 0
	signed, unsigned, decimals := false, false, false
	for _, a := range args {
		t := a.Type()
		if t == types.Null {
			continue
		}
		signed, unsigned, decimals = signed || !types.IsUnsigned(t), unsigned || types.IsUnsigned(t), decimals || types.IsDecimal(t)
		p, s, _ := exactDigits(a.Type())
		whole, scale = max(whole, p-s), max(scale, s)
	}
	switch {
	case !decimals && !unsigned:
		return types.Int64
	case !decimals && !signed:
		return types.Uint64
	}
	scale = min(scale, types.DecimalTypeMaxScale)
	t, err := types.CreateColumnDecimalType(uint8(min(whole+scale, types.DecimalTypeMaxPrecision)), uint8(scale))
	if err != nil {
		return types.Float64
	}
	return t
}

func extremeNumber(sign int) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(_ *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		var best decimal.Decimal
		for i, a := range args {
			d, ok := a.(decimal.Decimal)
			if !ok {
				w, isInt := integerOf(a)
				if !isInt {
					return nil, sql.ErrInvalidType.New(exprs[i].Type())
				}
				d = decimal.NewFromBigInt(new(big.Int).SetUint64(w.abs), 0)
				if w.negative {
					d = d.Neg()
				}
			}
			if i == 0 || d.Cmp(best)*sign > 0 {
				best = d
			}
		}
		typ := extremeType(exprs)
		t, ok := typ.(sql.DecimalType)
		if !ok {
			switch typ {
			case types.Int64:
				return best.IntPart(), nil
			case types.Uint64:
				return best.BigInt().Uint64(), nil
			}
			f, _ := best.Float64()
			return f, nil
		}
		scale := int32(t.Scale())
		return decimal.NewFromBigInt(best.Shift(scale).BigInt(), -scale), nil
	}
}
