package sqlfn

import (
	"fmt"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// NameCastTime and NameCastDatetime stand for CAST(… AS TIME(digits)) and CAST(… AS DATETIME(digits)), which round: the engine's TIME has
// all digits, and no time of dates written as text, its DATETIME cuts digits off, and takes no numbers. No user can write their names
// unquoted.
const (
	NameCastTime     = "millrace cast time"
	NameCastDatetime = "millrace cast datetime"
)

func timeCastFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: NameCastTime, strict: true, typeOf: fixed(types.Time), text: func(args []sql.Expression) string {
			return fmt.Sprintf("convert(%s, time(%s))", args[0], args[1])
		}, eval: castTime}, 2, 2),
		scalarFunction(scalar{name: NameCastDatetime, strict: true, typeOf: func(args []sql.Expression) sql.Type {
			return types.MustCreateDatetimeType(sqltypes.Datetime, castDigits(args[1]))
		}, text: func(args []sql.Expression) string {
			return fmt.Sprintf("convert(%s, datetime(%s))", args[0], args[1])
		}, eval: castDatetime}, 2, 2),
	}
}

// castDigits of a second are what e says, a literal of 0 to 6.
func castDigits(e sql.Expression) int {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return 0
	}
	n, _ := integerOf(lit.Value())
	return int(min(n.abs, 6))
}

// castDatetime is NULL where there is no such time, or rounding would leave the years that there are.
func castDatetime(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	v := args[0]
	if w, ok := integerOf(v); ok && !w.negative && w.abs > 100 {
		v = fmt.Sprintf("%06d", w.abs) // 101 is the first of January 2000
	}
	at, err := timestamp(ctx, []any{v}, exprs[:1])
	t, ok := at.(time.Time)
	if err != nil || !ok {
		return nil, err
	}
	t = t.Round(time.Duration(math.Pow10(9 - castDigits(exprs[1]))))
	if t.Year() > 9999 {
		ctx.Warn(1441, "Datetime function: datetime field overflow")
		return nil, nil
	}
	return t, nil
}

// alikeBranches makes the arguments of IF, IFNULL and COALESCE alike, as MySQL does: text where one is text, or some are times and
// others are not; DATETIME of different times; DOUBLE of numbers with one. The engine has the type of one of them for all. Other
// numbers are exact.Branches's; ENUM, JSON and bytes stay.
func alikeBranches(args []sql.Expression) []sql.Expression {
	times, numbers, texts, others, doubles, alike, digits := 0, 0, 0, 0, 0, true, 0
	var first sql.Type
	for _, a := range args {
		t := a.Type()
		switch {
		case t == nil || t == types.Null:
			continue
		case types.IsTime(t), types.IsTimespan(t):
			times++
			digits = max(digits, fractionDigits(a))
		case types.IsFloat(t):
			doubles++
			numbers++
		case types.IsNumber(t):
			numbers++
		case types.IsTextOnly(t):
			texts++
		default:
			others++
		}
		if first == nil {
			first = t
		}
		alike = alike && first.Equals(t)
	}
	if alike || times == 0 && others > 0 {
		return args
	}
	out := make([]sql.Expression, len(args))
	for i, a := range args {
		out[i] = a
		t := a.Type()
		isTime := t != nil && (types.IsTime(t) || types.IsTimespan(t))
		switch {
		case t == nil || t == types.Null:
		case isTime && (numbers > 0 || texts > 0 || others > 0), types.IsNumber(t) && (times > 0 || texts > 0):
			out[i] = spelled(a)
		case isTime && types.IsDatetimeType(t) && fractionDigits(a) == digits:
		case isTime:
			to := types.MustCreateDatetimeType(types.DatetimeMaxPrecision.Type(), digits)
			out[i] = &scalar{name: "timestamp", args: []sql.Expression{a}, strict: true, text: asArgument, typeOf: fixed(to), eval: timestamp}
		case doubles > 0 && t != types.Float64:
			out[i] = expression.NewConvert(a, expression.ConvertToDouble)
		}
	}
	return out
}

// spell is a value as text; a time as its type spells it.
func spell(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
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

func castTime(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
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
}

// AsTimeOfDay is e, text, as a TIME.
func AsTimeOfDay(e sql.Expression) sql.Expression {
	return &scalar{name: NameCastTime, args: []sql.Expression{e, expression.NewLiteral(int64(6), types.Int64)}, strict: true, typeOf: fixed(types.Time), text: asArgument, eval: castTime}
}

// branchIf, branchIfNull and branchCoalesce are the engine's functions over arguments made alike.
func branchIf(a, b, c sql.Expression) sql.Expression {
	values := alikeBranches([]sql.Expression{b, c})
	if t := values[0].Type(); types.IsTime(t) || t == types.Null && types.IsTime(values[1].Type()) {
		// IF would be a DATETIME, of dates too.
		return expression.NewCase(nil, []expression.CaseBranch{{Cond: a, Value: values[0]}}, values[1])
	}
	return function.NewIf(a, values[0], values[1])
}

func branchIfNull(a, b sql.Expression) sql.Expression {
	values := alikeBranches([]sql.Expression{a, b})
	return function.NewIfNull(values[0], values[1])
}

func branchCoalesce(args ...sql.Expression) (sql.Expression, error) {
	values := alikeBranches(args)
	var known []sql.Expression
	for _, a := range values {
		if a.Type() != types.Null {
			known = append(known, a)
		}
	}
	if len(known) > 0 && (types.IsTime(known[0].Type()) || types.IsTimespan(known[0].Type())) {
		values = known // of NULL and a time the engine makes text
	}
	return function.NewCoalesce(values...)
}
