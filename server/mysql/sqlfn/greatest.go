package sqlfn

import (
	"math/big"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// extremeFunctions are GREATEST and LEAST: exact of exact numbers, doubles where one is, times of times, and otherwise text, which is
// compared as times if one argument is a date. The engine's refuse decimals, make doubles of integers and of text, and DATETIME of dates.
func extremeFunctions() []sql.Function {
	named := func(name string, sign int) sql.Function {
		return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) < 2 {
				return nil, wrongCount(name)
			}
			for i, a := range args {
				if types.IsEnum(a.Type()) {
					args[i] = EnumText(a)
				}
			}
			f := scalar{name: name, args: args, strict: true, joins: true}
			f.typeOf, f.eval = extremeOf(args, sign)
			return &f, nil
		}}
	}
	return []sql.Function{named("greatest", 1), named("least", -1)}
}

// extremeOf arguments of such types.
func extremeOf(args []sql.Expression, sign int) (func([]sql.Expression) sql.Type, func(*sql.Context, []any, []sql.Expression) (any, error)) {
	dates, times, doubles, numbers, known := 0, 0, 0, 0, 0
	var typ, date sql.Type = types.Null, nil
	for _, a := range args {
		t := a.Type()
		if t == types.Null {
			continue
		}
		known++
		switch {
		case types.IsTime(t):
			if date == nil {
				date = t
			}
			dates++
		case types.IsTimespan(t):
			times++
		case types.IsFloat(t):
			doubles++
			numbers++
		case types.IsNumber(t), types.IsBoolean(t):
			numbers++
		}
		typ = UnionType(typ, t)
	}
	switch known {
	case 0:
		return fixed(types.Null), extremeText(sign) // NULL
	case numbers:
		if doubles > 0 {
			return fixed(types.Float64), extremeDouble(sign)
		}
		return extremeType, extremeNumber(sign)
	case dates, times:
		return fixed(typ), extremeTime(typ, sign)
	}
	if dates > 0 && numbers == 0 && times == 0 {
		return fixed(types.LongText), extremeTimeText(date, sign)
	}
	return fixed(types.LongText), extremeText(sign)
}

func extremeDouble(sign int) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
		var best float64
		for i, a := range args {
			f, err := toFloat(ctx, a)
			if err != nil {
				return nil, err
			}
			if i == 0 || f != best && f > best == (sign > 0) {
				best = f
			}
		}
		return best, nil
	}
}

// extremeTime is of times that are all brought to type t.
func extremeTime(t sql.Type, sign int) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
		var best any
		for i, a := range args {
			v, _, err := t.Convert(ctx, a)
			if err != nil {
				return nil, err
			}
			order := 0
			if i > 0 {
				if order, err = t.Compare(ctx, v, best); err != nil {
					return nil, err
				}
			}
			if i == 0 || order*sign > 0 {
				best = v
			}
		}
		return best, nil
	}
}

// extremeTimeText is of dates and text that spells dates, as text of the first date's type t; NULL where text is no date.
func extremeTimeText(t sql.Type, sign int) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		var best time.Time
		for i, a := range args {
			at, ok := a.(time.Time)
			if !ok {
				s, err := ToText(ctx, a, exprs[i].Type())
				if err != nil {
					return nil, err
				}
				if at, ok = dateTimeOf(ctx, digitDate(s)); !ok {
					ctx.Warn(1292, "Incorrect datetime value: '%s'", sqlerr.Clip(s))
					return nil, nil
				}
			}
			if i == 0 || at.Compare(best)*sign > 0 {
				best = at
			}
		}
		if types.IsDateType(t) {
			return best.Format(time.DateOnly), nil
		}
		if d, ok := t.(sql.DatetimeType); ok && d.Precision() > 0 {
			return best.Format("2006-01-02 15:04:05.000000"[:20+d.Precision()]), nil
		}
		return best.Format(time.DateTime), nil
	}
}

// extremeText compares as text.
func extremeText(sign int) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		text := types.MustCreateString(sqltypes.Text, types.LongTextBlobMax, collationOf(ctx, exprs))
		best := ""
		for i, a := range args {
			s, err := spell(ctx, []any{a}, exprs[i:i+1])
			if err != nil {
				return nil, err
			}
			order := 0
			if i > 0 {
				if order, err = text.Compare(ctx, s, best); err != nil {
					return nil, err
				}
			}
			if i == 0 || order*sign > 0 {
				best = s.(string)
			}
		}
		return best, nil
	}
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
