package boundplan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"millrace/pushdown/interval"
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
	if span, ok := date.(types.Timespan); ok && s.ofTime() {
		return s.later(ctx, span, delta), nil
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
	t, ok = interval.Add(t, delta, s.sign)
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

// ofTime says whether the sum of a TIME and the interval is a TIME: with whole days or more it is a DATETIME of today.
func (s *intervalSum) ofTime() bool {
	switch unit, _, _ := strings.Cut(s.interval.Unit, "_"); unit {
	case "HOUR", "MINUTE", "SECOND", "MICROSECOND":
		return true
	}
	return false
}

// later is a TIME so much later, or earlier; NULL beyond those that there are.
func (s *intervalSum) later(ctx *sql.Context, t types.Timespan, d *expression.TimeDelta) any {
	base := time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC) // a TIME is no longer than 35 days
	sum, ok := interval.Add(base.Add(time.Duration(t)*time.Microsecond), d, s.sign)
	if micros := (sum.Unix()-base.Unix())*1_000_000 + int64(sum.Nanosecond()/1000); ok && micros >= -sqlfn.MostTime && micros <= sqlfn.MostTime {
		return types.Timespan(micros)
	}
	ctx.Warn(1441, "Datetime function: time field overflow")
	return nil
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
	if math.Abs(seconds) > interval.MostSeconds {
		return &expression.TimeDelta{Seconds: math.MaxInt64}
	}
	whole, fraction := math.Modf(seconds)
	return &expression.TimeDelta{Seconds: int64(whole), Microseconds: int64(math.Round(fraction * 1_000_000))}
}
