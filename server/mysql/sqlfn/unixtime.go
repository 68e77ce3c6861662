package sqlfn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// maxUnixMicros is MySQL's last Unix time, 3001-01-18 23:59:59.999999.
const (
	maxUnixSecs   = 32536771199
	maxUnixMicros = maxUnixSecs*1_000_000 + 999_999
)

// unixTimeFunctions read times, and replace those of the engine that read the zone database for every row, round
// fractions away, and shift what a TIMESTAMP column holds by the session's zone.
func unixTimeFunctions() []sql.Function {
	return append(timeTextFunctions(),
		scalarFunction(scalar{name: "unix_timestamp", strict: true, typeOf: unixTimestampType, eval: unixTimestamp}, 0, 1),
		scalarFunction(scalar{name: "from_unixtime", strict: true, typeOf: fromUnixtimeType, eval: fromUnixtime}, 1, 2),
	)
}

// unixTimestampType is BIGINT, or DECIMAL with the fraction digits that the argument has.
func unixTimestampType(args []sql.Expression) sql.Type {
	if len(args) == 0 {
		return types.Int64
	}
	digits := 6
	switch t := args[0].Type().(type) {
	case sql.DatetimeType:
		digits = t.Precision()
	case sql.NumberType:
		digits = 0
	case sql.StringType:
		if lit, ok := args[0].(*expression.Literal); ok {
			if s, ok := lit.Value().(string); ok {
				_, fraction, _ := strings.Cut(s, ".")
				digits = min(len(fraction), 6)
			}
		}
	}
	if digits == 0 {
		return types.Int64
	}
	return types.MustCreateDecimalType(19, uint8(digits))
}

func unixTimestamp(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	if len(args) == 0 {
		return ctx.QueryTime().Unix(), nil
	}
	wall, ok := wallTime(ctx, args[0])
	if !ok {
		return int64(0), nil
	}
	loc, err := zoneOf(ctx)
	if err != nil {
		return nil, err
	}
	// Every time shown in a session is wall time of its zone, TIMESTAMP columns' as well.
	micros := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc).UnixMicro()
	if micros < 0 || micros > maxUnixMicros {
		micros = 0
	}
	d, ok := unixTimestampType(exprs).(sql.DecimalType)
	if !ok {
		return micros / 1e6, nil
	}
	return decimal.New(micros, -6).Truncate(int32(d.Scale())), nil
}

// wallTime reads a value as a time as MySQL does, with a warning when it is none.
func wallTime(ctx *sql.Context, v any) (time.Time, bool) {
	if n, ok := integerOf(v); ok && !n.negative {
		v = timeDigits(n.abs)
	}
	if s, ok := v.(string); ok {
		v = timeText(cleanTime(ctx, s))
	}
	c, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
	t, ok := c.(time.Time)
	if err != nil || !ok {
		ctx.Warn(1292, "Incorrect datetime value: '%v'", v)
		return time.Time{}, false
	}
	return t, true
}

// timeDigits spells YYYYMMDD and YYYYMMDDhhmmss, with two digits for the year as well.
func timeDigits(n uint64) string {
	s := strconv.FormatUint(n, 10)
	if len(s) == 5 || len(s) == 11 {
		s = "0" + s
	}
	if len(s) == 6 || len(s) == 12 {
		century := "20"
		if s >= "7" {
			century = "19"
		}
		s = century + s
	}
	if len(s) != 8 && len(s) != 14 {
		return s
	}
	date := s[:4] + "-" + s[4:6] + "-" + s[6:8]
	if len(s) == 8 {
		return date
	}
	return date + " " + s[8:10] + ":" + s[10:12] + ":" + s[12:14]
}

// fromUnixtimeType is DATETIME with the fraction digits of the argument, or text with a format.
func fromUnixtimeType(args []sql.Expression) sql.Type {
	if len(args) == 2 {
		return types.LongText
	}
	t := args[0].Type()
	switch {
	case types.IsInteger(t):
		return types.Datetime
	case types.IsDecimal(t):
		return types.MustCreateDatetimeType(sqltypes.Datetime, int(min(t.(sql.DecimalType).Scale(), 6)))
	default:
		return types.DatetimeMaxPrecision
	}
}

func fromUnixtime(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	micros, ok := unixMicros(ctx, args[0])
	if !ok || micros < 0 || micros > maxUnixMicros {
		return nil, nil
	}
	loc, err := zoneOf(ctx)
	if err != nil {
		return nil, err
	}
	t := time.UnixMicro(micros).In(loc)
	wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if len(args) == 1 {
		return wall, nil
	}
	format, err := ToText(ctx, args[1], nil)
	if err != nil {
		return nil, err
	}
	return function.NewDateFormat(expression.NewLiteral(wall, types.DatetimeMaxPrecision), expression.NewLiteral(format, types.LongText)).Eval(ctx, nil)
}

// unixMicros reads seconds, rounded to microseconds as MySQL does; false where they are far out
// of range.
func unixMicros(ctx *sql.Context, v any) (int64, bool) {
	if n, ok := integerOf(v); ok {
		if n.negative || n.abs > maxUnixSecs {
			return 0, false
		}
		return int64(n.abs) * 1e6, true
	}
	switch x := v.(type) {
	case decimal.Decimal:
		if x.Abs().GreaterThan(decimal.New(maxUnixMicros, -6)) {
			return 0, false
		}
		return x.Shift(6).Round(0).IntPart(), true
	case float32:
		return unixMicros(ctx, float64(x))
	case float64:
		if math.IsNaN(x) || math.Abs(x) > maxUnixSecs+1 {
			return 0, false
		}
		return int64(math.RoundToEven(x * 1e6)), true
	case string:
		return unixMicros(ctx, NumericPrefix(ctx, x))
	case []byte:
		return unixMicros(ctx, NumericPrefix(ctx, string(x)))
	case time.Time:
		// A time where a number is wanted reads as its digits.
		n, err := strconv.ParseInt(x.Format("20060102150405"), 10, 64)
		return n * 1e6, err == nil && n <= maxUnixSecs
	default:
		return 0, false
	}
}

// zoned are sessions that know the zone of their time_zone.
type zoned interface {
	Zone(ctx *sql.Context) (*time.Location, error)
}

// zoneOf is the zone of the session's time_zone.
func zoneOf(ctx *sql.Context) (*time.Location, error) {
	if s, ok := ctx.Session.(zoned); ok {
		return s.Zone(ctx)
	}
	v, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return nil, err
	}
	name, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("time_zone is not text but %T", v)
	}
	return sqltable.ParseZone(name)
}
