package sqlfn

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

const (
	microsPerSecond = int64(1_000_000)
	microsPerDay    = 86_400 * microsPerSecond
	// MostTime is the largest TIME there is, 838:59:59, in microseconds.
	MostTime = (838*3600 + 59*60 + 59) * microsPerSecond
	// daysToUnix is TO_DAYS of 1970-01-01.
	daysToUnix = 719_528
)

var (
	// colonTime is a time of day or a span with colons, perhaps after a number of days.
	colonTime = regexp.MustCompile(`^\s*(-?)(?:(\d{1,2})\s+)?(\d{1,4})(?::(\d{1,2}))?(?::(\d{1,2})(\.\d*)?)?`)
	// digitTime is one without: its last digits are the seconds.
	digitTime = regexp.MustCompile(`^\s*(-?)(\d{1,7})(\.\d*)?`)
	// dateBefore is a date with the beginning of a time behind it.
	dateBefore = regexp.MustCompile(`^\s*\d{4}[-/.^@]\d{1,2}[-/.^@]\d{1,2}[ T]+\d`)
	fraction   = regexp.MustCompile(`\.(\d+)\s*$`)
)

// clockTime is what a function of times reads: a span in microseconds, after a date if there was one.
type clockTime struct {
	micros int64
	date   time.Time // midnight; zero: there is none
}

// timeOf reads v as TIME, or as the date and the time that it has. false: it is none, of which a warning tells.
func timeOf(ctx *sql.Context, v any, t sql.Type) (clockTime, bool) {
	switch v := v.(type) {
	case time.Time:
		midnight := time.Date(v.Year(), v.Month(), v.Day(), 0, 0, 0, 0, time.UTC)
		c := clockTime{micros: v.Sub(midnight).Microseconds()}
		if !types.IsDateType(t) {
			c.date = midnight
		}
		return c, true
	case types.Timespan:
		return clockTime{micros: int64(v)}, true
	}
	s, err := ToText(ctx, v, t)
	if err != nil {
		return clockTime{}, false
	}
	incorrect := func() (clockTime, bool) {
		ctx.Warn(1292, "Truncated incorrect time value: '%s'", sqlerr.Clip(s))
		return clockTime{}, false
	}
	if date := digitDate(s); dateBefore.MatchString(s) || len(s) >= 12 && date != s {
		at, ok := dateTimeOf(ctx, date)
		if !ok {
			return incorrect()
		}
		return timeOf(ctx, at, types.DatetimeMaxPrecision)
	}
	negative, hours, minutes, seconds, micros, end := false, int64(0), int64(0), int64(0), int64(0), 0
	number := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n } // 0: not there
	if m := colonTime.FindStringSubmatch(s); m != nil && (m[2] != "" || m[4] != "") {
		negative, hours, minutes, seconds, micros, end = m[1] != "", 24*number(m[2])+number(m[3]), number(m[4]), number(m[5]), fractionMicros(m[6]), len(m[0])
	} else if m := digitTime.FindStringSubmatch(s); m != nil {
		n := number(m[2])
		negative, hours, minutes, seconds, micros, end = m[1] != "", n/10000, n/100%100, n%100, fractionMicros(m[3]), len(m[0])
	} else {
		return incorrect()
	}
	if minutes > 59 || seconds > 59 {
		return incorrect()
	}
	if strings.TrimSpace(s[end:]) != "" {
		ctx.Warn(1292, "Truncated incorrect time value: '%s'", sqlerr.Clip(s))
	}
	total := (hours*3600+minutes*60+seconds)*microsPerSecond + micros
	if negative {
		total = -total
	}
	return clockTime{micros: clampTime(ctx, total)}, true
}

// fractionMicros reads ".5" as microseconds, rounded.
func fractionMicros(s string) int64 {
	if len(s) < 2 {
		return 0
	}
	s = (s[1:] + "0000000")[:7]
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return (n + 5) / 10
}

// clampTime is the nearest TIME, with a warning.
func clampTime(ctx *sql.Context, micros int64) int64 {
	near := max(-MostTime, min(MostTime, micros))
	if near != micros {
		ctx.Warn(1292, "Truncated incorrect time value: '%s'", types.Timespan(micros).String())
	}
	return near
}

// dateTimeOf reads text as a date with a time, perhaps.
func dateTimeOf(ctx *sql.Context, s string) (time.Time, bool) {
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, timeText(cleanTime(ctx, s)))
	if err != nil {
		return time.Time{}, false
	}
	t, ok := v.(time.Time)
	return t, ok
}

// fractionDigits is how many digits of a second e may have.
func fractionDigits(e sql.Expression) int {
	t := e.Type()
	switch {
	case types.IsDatetimeType(t), types.IsTimestampType(t):
		if d, ok := t.(sql.DatetimeType); ok {
			return d.Precision()
		}
	case types.IsDateType(t), types.IsInteger(t), types.IsNull(e):
		return 0
	}
	if literal, ok := e.(*expression.Literal); ok {
		if s, ok := literal.Value().(string); ok {
			m := fraction.FindStringSubmatch(s)
			if m == nil {
				return 0
			}
			return min(6, len(m[1]))
		}
	}
	return 6
}

// timeOfDayFunctions count with times of day.
func timeOfDayFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "maketime", strict: true, typeOf: fixed(types.Time), eval: makeTime}, 3, 3),
		scalarFunction(scalar{name: "addtime", strict: true, typeOf: addTimeType, eval: addTime(1)}, 2, 2),
		scalarFunction(scalar{name: "subtime", strict: true, typeOf: addTimeType, eval: addTime(-1)}, 2, 2),
		scalarFunction(scalar{name: "time_to_sec", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			c, ok := timeOf(ctx, args[0], exprs[0].Type())
			if !ok {
				return nil, nil
			}
			return c.micros / microsPerSecond, nil
		}}, 1, 1),
		scalarFunction(scalar{name: "to_seconds", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			t, ok := args[0].(time.Time)
			if !ok {
				s, err := ToText(ctx, args[0], exprs[0].Type())
				if err != nil {
					return nil, err
				}
				if t, ok = dateTimeOf(ctx, digitDate(s)); !ok {
					ctx.Warn(1292, "Incorrect datetime value: '%s'", sqlerr.Clip(s))
					return nil, nil
				}
			}
			return t.Unix() + daysToUnix*86_400, nil
		}}, 1, 1),
		sql.FunctionN{Name: "timestamp", Fn: newTimestamp},
	}
}

var (
	shortDate = regexp.MustCompile(`^(?:\d{6}|\d{12}(?:\.\d*)?)$`)
	longDate  = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)(?:(\.\d+)|\.)?)?$`)
)

// digitDate puts dashes and colons into a date that is written as a number.
func digitDate(s string) string {
	if shortDate.MatchString(s) {
		century := "20"
		if s >= "70" {
			century = "19"
		}
		s = century + s
	}
	m := longDate.FindStringSubmatch(s)
	switch {
	case m == nil:
		return s
	case m[4] == "":
		return m[1] + "-" + m[2] + "-" + m[3]
	}
	return m[1] + "-" + m[2] + "-" + m[3] + " " + m[4] + ":" + m[5] + ":" + m[6] + m[7]
}

func makeTime(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	hours, err := toInt(ctx, args[0])
	if err != nil {
		return nil, err
	}
	minutes, err := toInt(ctx, args[1])
	if err != nil {
		return nil, err
	}
	v, _, err := types.InternalDecimalType.Convert(ctx, args[2])
	if err != nil {
		return nil, err
	}
	seconds := v.(decimal.Decimal)
	if minutes < 0 || minutes > 59 || seconds.IsNegative() || seconds.GreaterThanOrEqual(decimal.NewFromInt(60)) {
		return nil, nil
	}
	negative := hours < 0
	hours = max(-1000, min(1000, hours)) // beyond what there is
	if negative {
		hours = -hours
	}
	micros := (hours*3600+minutes*60)*microsPerSecond + seconds.Shift(6).Round(0).IntPart()
	if negative {
		micros = -micros
	}
	return types.Timespan(clampTime(ctx, micros)), nil
}

func addTimeType(args []sql.Expression) sql.Type {
	switch t := args[0].Type(); {
	case types.IsTimespan(t):
		return types.Time
	case types.IsDatetimeType(t), types.IsTimestampType(t):
		return types.MustCreateDatetimeType(types.DatetimeMaxPrecision.Type(), max(fractionDigits(args[0]), fractionDigits(args[1])))
	}
	return types.LongText
}

// addTime adds (or subtracts) a time to a time, or to a date with a time.
func addTime(sign int64) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		a, ok := timeOf(ctx, args[0], exprs[0].Type())
		if !ok {
			return nil, nil
		}
		b, ok := timeOf(ctx, args[1], exprs[1].Type())
		if !ok || !b.date.IsZero() {
			return nil, nil
		}
		sum := a.micros + sign*b.micros
		asText := types.IsText(addTimeType(exprs))
		if a.date.IsZero() {
			span := types.Timespan(clampTime(ctx, sum))
			if asText {
				return span.String(), nil
			}
			return span, nil
		}
		at := a.date.Add(time.Duration(sum) * time.Microsecond)
		if at.Year() < 0 || at.Year() > 9999 {
			return nil, nil
		}
		if asText {
			if at.Nanosecond() != 0 {
				return at.Format("2006-01-02 15:04:05.000000"), nil
			}
			return at.Format(time.DateTime), nil
		}
		return at, nil
	}
}

// newTimestamp is TIMESTAMP(when) and TIMESTAMP(when, time): a DATETIME. The engine's has the type of its argument, and takes one.
func newTimestamp(args ...sql.Expression) (sql.Expression, error) {
	f, err := scalarFunction(scalar{name: "timestamp", strict: true, typeOf: func(args []sql.Expression) sql.Type {
		digits := 0
		for _, a := range args {
			digits = max(digits, fractionDigits(a))
		}
		return types.MustCreateDatetimeType(types.DatetimeMaxPrecision.Type(), digits)
	}, eval: timestamp}, 1, 2).NewInstance(args)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func timestamp(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	at, ok := args[0].(time.Time)
	if span, is := args[0].(types.Timespan); is {
		now, err := sessionNow(ctx)
		if err != nil {
			return nil, err
		}
		at, ok = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC).Add(time.Duration(span)*time.Microsecond), true
	}
	if !ok {
		s, err := ToText(ctx, args[0], exprs[0].Type())
		if err != nil {
			return nil, err
		}
		if at, ok = dateTimeOf(ctx, digitDate(s)); !ok {
			ctx.Warn(1292, "Incorrect datetime value: '%s'", sqlerr.Clip(s))
			return nil, nil
		}
	}
	if len(args) == 1 {
		return at, nil
	}
	c, ok := timeOf(ctx, args[1], exprs[1].Type())
	if !ok || !c.date.IsZero() {
		return nil, nil
	}
	at = at.Add(time.Duration(c.micros) * time.Microsecond)
	if at.Year() < 0 || at.Year() > 9999 {
		return nil, nil
	}
	return at, nil
}
