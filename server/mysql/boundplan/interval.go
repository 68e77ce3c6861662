package boundplan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// fixInterval replaces sums of a time and an interval; the engine's wrap around beyond 292 years. nil:
// nothing to do.
func fixInterval(_ *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *function.DateAdd:
		return &intervalSum{inner: e, date: e.Date, interval: e.Interval, sign: 1}
	case *function.DateSub:
		return &intervalSum{inner: e, date: e.Date, interval: e.Interval, sign: -1}
	}
	return nil
}

// intervalSum is a time plus or minus an interval; NULL with MySQL's warning when there is no such time.
type intervalSum struct {
	inner    sql.Expression // the engine's, which knows the type
	date     sql.Expression
	interval *expression.Interval
	sign     int64
}

var (
	_ sql.Expression         = (*intervalSum)(nil)
	_ sql.CollationCoercible = (*intervalSum)(nil)
)

func (s *intervalSum) Resolved() bool   { return s.inner.Resolved() }
func (s *intervalSum) String() string   { return s.inner.String() }
func (s *intervalSum) IsNullable() bool { return true }

// Type is the engine's, but a DATETIME has as many digits as the time and the interval need.
func (s *intervalSum) Type() sql.Type {
	t := s.inner.Type()
	if t != types.DatetimeMaxPrecision {
		return t
	}
	unit := s.interval.Unit
	digits := 0
	if amount := s.interval.Child.Type(); unit == "SECOND" && types.IsDecimal(amount) {
		digits = min(6, int(amount.(sql.DecimalType).Scale()))
	} else if strings.Contains(unit, "MICROSECOND") || unit == "SECOND" && !types.IsInteger(amount) {
		return t
	}
	if d, ok := s.date.Type().(sql.DatetimeType); ok {
		return types.MustCreateDatetimeType(sqltypes.Datetime, max(digits, d.Precision()))
	}
	return t
}

// Children are the time and the interval's amount: the planner looks for intervals where only its own
// sums may be.
func (s *intervalSum) Children() []sql.Expression {
	return []sql.Expression{s.date, s.interval.Child}
}

func (s *intervalSum) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.inner)
}

func (s *intervalSum) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 2)
	}
	parts := []sql.Expression{children[0], expression.NewInterval(children[1], s.interval.Unit)}
	inner, err := s.inner.WithChildren(parts...)
	if err != nil {
		return nil, err
	}
	if fixed := fixInterval(nil, inner); fixed != nil {
		return fixed, nil
	}
	return inner, nil
}

func (s *intervalSum) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	date, err := s.date.Eval(ctx, row)
	if err != nil || date == nil {
		return nil, err
	}
	if date, err = sql.UnwrapAny(ctx, date); err != nil {
		return nil, err
	}
	delta, err := s.delta(ctx, row)
	if err != nil || delta == nil {
		return nil, err
	}
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, date)
	if err != nil {
		ctx.Warn(1292, "%s", err.Error())
		return nil, nil
	}
	t, ok := v.(time.Time)
	if !ok {
		return nil, nil
	}
	t, ok = addInterval(t, delta, s.sign)
	if !ok {
		ctx.Warn(1441, "Datetime function: datetime field overflow")
		return nil, nil
	}
	typ := s.Type()
	text, isText := date.(string)
	if types.IsText(typ) && isText {
		// Text in, text out, with a time of day when either has one.
		switch {
		case t.Nanosecond() > 0:
			return t.Format(sql.DatetimeLayoutNoTrim), nil
		case strings.Contains(s.interval.Unit, "HOUR"), strings.Contains(s.interval.Unit, "MINUTE"), strings.Contains(s.interval.Unit, "SECOND"):
			return t.Format(sql.TimestampDatetimeLayout), nil
		}
		for _, layout := range types.DateOnlyLayouts {
			if _, err := time.Parse(layout, text); err == nil {
				return t.Format(sql.DateLayout), nil
			}
		}
	}
	out, _, err := typ.Convert(ctx, t)
	return out, err
}

// compoundUnits are the units of a text of several numbers, with how many.
var compoundUnits = map[string]int{
	"YEAR_MONTH": 2, "DAY_HOUR": 2, "DAY_MINUTE": 3, "DAY_SECOND": 4, "DAY_MICROSECOND": 5, "HOUR_MINUTE": 2, "HOUR_SECOND": 3, "HOUR_MICROSECOND": 4,
	"MINUTE_SECOND": 2, "MINUTE_MICROSECOND": 3, "SECOND_MICROSECOND": 2,
}

// delta is the interval; nil for NULL. The engine multiplies some units, which may overflow, drops the fraction of seconds, and
// refuses what is not spelled as the unit's name shows.
func (s *intervalSum) delta(ctx *sql.Context, row sql.Row) (*expression.TimeDelta, error) {
	unit, factor := s.interval.Unit, int64(1)
	if n := compoundUnits[unit]; n > 0 || unit == "SECOND" && !types.IsInteger(s.interval.Child.Type()) {
		v, err := s.interval.Child.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		text, err := sqlfn.ToText(ctx, v, s.interval.Child.Type())
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return compoundDelta(text, unit, n), nil
		}
		return secondsDelta(sqlfn.NumericPrefix(ctx, text)), nil
	}
	switch unit {
	case "QUARTER":
		unit, factor = "MONTH", 3
	case "WEEK":
		unit, factor = "DAY", 7
	default:
		return s.interval.EvalDelta(ctx, row)
	}
	d, err := expression.NewInterval(s.interval.Child, unit).EvalDelta(ctx, row)
	if err != nil || d == nil {
		return nil, err
	}
	for _, part := range [...]*int64{&d.Months, &d.Days} {
		*part = max(-math.MaxInt64/factor, min(math.MaxInt64/factor, *part)) * factor
	}
	return d, nil
}

// compoundDelta reads the n numbers of a unit, whatever stands between them; when there are fewer, they are the last ones.
func compoundDelta(text, unit string, n int) *expression.TimeDelta {
	text = strings.TrimSpace(text)
	unsigned := strings.TrimPrefix(text, "-")
	fields := strings.FieldsFunc(unsigned, func(r rune) bool { return r < '0' || r > '9' })
	fields = fields[:min(n, len(fields))]
	var d expression.TimeDelta
	parts := []*int64{&d.Years, &d.Months}
	if unit != "YEAR_MONTH" {
		parts = []*int64{&d.Days, &d.Hours, &d.Minutes, &d.Seconds, &d.Microseconds}
		first := map[byte]int{'D': 0, 'H': 1, 'M': 2, 'S': 3}[unit[0]]
		parts = parts[first : first+n]
	}
	parts = parts[n-len(fields):]
	for i, f := range fields {
		if parts[i] == &d.Microseconds {
			f = (f + "000000")[:max(6, len(f))] // of a second
		}
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			v = math.MaxInt64
		}
		if unsigned != text {
			v = -v
		}
		*parts[i] = v
	}
	return &d
}

// secondsDelta are seconds with a fraction.
func secondsDelta(seconds float64) *expression.TimeDelta {
	if math.Abs(seconds) > mostSeconds {
		return &expression.TimeDelta{Seconds: math.MaxInt64}
	}
	whole, fraction := math.Modf(seconds)
	return &expression.TimeDelta{Seconds: int64(whole), Microseconds: int64(math.Round(fraction * 1_000_000))}
}

// What more of each unit leaves all years that there are.
const (
	mostYears   = 10_000
	mostMonths  = 12 * mostYears
	mostDays    = 366 * mostYears
	mostHours   = 24 * mostDays
	mostMinutes = 60 * mostHours
	mostSeconds = 60 * mostMinutes
	mostMicros  = 1_000_000 * mostSeconds
)

// addInterval is t and, with sign 1 or -1, d later or earlier; false when that is outside of the years 0 to 9999.
func addInterval(t time.Time, d *expression.TimeDelta, sign int64) (time.Time, bool) {
	for _, part := range [...]struct{ n, most int64 }{
		{d.Years, mostYears},
		{d.Months, mostMonths},
		{d.Days, mostDays},
		{d.Hours, mostHours},
		{d.Minutes, mostMinutes},
		{d.Seconds, mostSeconds},
		{d.Microseconds, mostMicros},
	} {
		if part.n > part.most || part.n < -part.most {
			return t, false
		}
	}
	inYears := func() bool { return t.Year() >= 0 && t.Year() <= 9999 }
	t = addMonths(t, sign*(12*d.Years+d.Months))
	if !inYears() {
		return t, false
	}
	seconds := d.Days*86400 + d.Hours*3600 + d.Minutes*60 + d.Seconds + d.Microseconds/1_000_000 // below 2^42
	micros := d.Microseconds % 1_000_000
	t = time.Unix(t.Unix()+sign*seconds, int64(t.Nanosecond())+sign*micros*1000).In(t.Location())
	return t, inYears()
}

// addMonths is t so many months later, or earlier, at the same day or the last of a month that has no such day. The engine's
// is a year late where that is a December after t's year.
func addMonths(t time.Time, months int64) time.Time {
	if months == 0 {
		return t
	}
	year, month, day := t.Date()
	first := time.Date(year, month+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1)
}
