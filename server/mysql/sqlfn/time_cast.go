package sqlfn

import (
	"fmt"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameCastTime stands for CAST(… AS TIME(digits)): the engine's has all digits, and no time of dates written as text. No user can
// write its name unquoted.
const NameCastTime = "millrace cast time"

func timeCastFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: NameCastTime, strict: true, typeOf: fixed(types.Time), text: func(args []sql.Expression) string {
			return fmt.Sprintf("convert(%s, time(%s))", args[0], args[1])
		}, eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			c, ok := timeOf(ctx, args[0], exprs[0].Type())
			if !ok {
				return nil, nil
			}
			digits, err := toInt(ctx, args[1])
			if err != nil {
				return nil, err
			}
			unit := int64(math.Pow10(int(6 - max(0, min(6, digits)))))
			half := unit / 2
			if c.micros < 0 {
				half = -half
			}
			return types.Timespan(clampTime(ctx, (c.micros+half)/unit*unit)), nil
		}}, 2, 2),
	}
}

// temporalBranches makes the arguments of IF, IFNULL and COALESCE alike, where some are times: different times become DATETIME, times beside
// something else text. The engine has the type of one of them for all.
func temporalBranches(args []sql.Expression) []sql.Expression {
	times, others, alike, digits := 0, 0, true, 0
	var first sql.Type
	for _, a := range args {
		t := a.Type()
		switch {
		case t == nil || t == types.Null:
			continue
		case types.IsTime(t), types.IsTimespan(t):
			times++
			digits = max(digits, fractionDigits(a))
		default:
			others++
		}
		if first == nil {
			first = t
		}
		alike = alike && first.Equals(t)
	}
	if times == 0 || alike {
		return args
	}
	out := make([]sql.Expression, len(args))
	for i, a := range args {
		out[i] = a
		t := a.Type()
		switch {
		case t == nil || t == types.Null || !types.IsTime(t) && !types.IsTimespan(t):
		case others > 0:
			out[i] = &scalar{name: NameTemporalText, args: []sql.Expression{a}, strict: true, text: asArgument, typeOf: fixed(types.LongText), eval: temporalText}
		case types.IsDatetimeType(t) && fractionDigits(a) == digits:
		default:
			to := types.MustCreateDatetimeType(types.DatetimeMaxPrecision.Type(), digits)
			out[i] = &scalar{name: "timestamp", args: []sql.Expression{a}, strict: true, text: asArgument, typeOf: fixed(to), eval: timestamp}
		}
	}
	return out
}

// NameTemporalText is put around times that become text.
const NameTemporalText = "millrace temporal text"

// temporalText spells a time as its type does.
func temporalText(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	t, ok := args[0].(time.Time)
	if !ok {
		return ToText(ctx, args[0], exprs[0].Type())
	}
	if types.IsDateType(exprs[0].Type()) {
		return t.Format(time.DateOnly), nil
	}
	digits := fractionDigits(exprs[0])
	if digits == 0 || digits == 6 && t.Nanosecond() == 0 {
		return t.Format(time.DateTime), nil // six digits may be the engine's, of what has none
	}
	return t.Format("2006-01-02 15:04:05.000000"[:20+digits]), nil
}

// branchIf, branchIfNull and branchCoalesce are the engine's functions over arguments made alike.
func branchIf(a, b, c sql.Expression) sql.Expression {
	values := temporalBranches([]sql.Expression{b, c})
	return function.NewIf(a, values[0], values[1])
}

func branchIfNull(a, b sql.Expression) sql.Expression {
	values := temporalBranches([]sql.Expression{a, b})
	return function.NewIfNull(values[0], values[1])
}

func branchCoalesce(args ...sql.Expression) (sql.Expression, error) {
	values := temporalBranches(args)
	var known []sql.Expression
	for _, a := range values {
		if a.Type() != types.Null {
			known = append(known, a)
		}
	}
	if len(known) > 0 && types.IsTime(known[0].Type()) {
		values = known // of NULL and a DATETIME the engine makes text
	}
	return function.NewCoalesce(values...)
}
