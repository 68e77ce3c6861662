package boundplan

import (
	"math"
	"strings"
	"time"

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
	case *expression.Arithmetic:
		if i, ok := e.RightChild.(*expression.Interval); ok {
			return fixOperator(e.Op, e.LeftChild, i)
		}
		if i, ok := e.LeftChild.(*expression.Interval); ok && e.Op == "+" {
			return fixOperator(e.Op, e.RightChild, i)
		}
	}
	return nil
}

// fixOperator makes + and - the functions that they stand for: the engine's own always give a DATETIME, of dates too.
func fixOperator(op string, date sql.Expression, interval *expression.Interval) sql.Expression {
	of := function.NewDateAdd
	if op == "-" {
		of = function.NewDateSub
	}
	sum, err := of(date, interval)
	if err != nil {
		return nil
	}
	return fixInterval(nil, sum)
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
	if strings.Contains(unit, "MICROSECOND") || strings.Contains(unit, "SECOND") && !types.IsInteger(s.interval.Child.Type()) {
		return t
	}
	if d, ok := s.date.Type().(sql.DatetimeType); ok {
		return types.MustCreateDatetimeType(sqltypes.Datetime, d.Precision())
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

// delta is the interval; the engine multiplies some units, which may overflow.
func (s *intervalSum) delta(ctx *sql.Context, row sql.Row) (*expression.TimeDelta, error) {
	unit, factor := s.interval.Unit, int64(1)
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
	months := expression.TimeDelta{Years: d.Years, Months: d.Months}
	if sign < 0 {
		t = months.Sub(t)
	} else {
		t = months.Add(t)
	}
	if !inYears() {
		return t, false
	}
	seconds := d.Days*86400 + d.Hours*3600 + d.Minutes*60 + d.Seconds + d.Microseconds/1_000_000 // below 2^42
	micros := d.Microseconds % 1_000_000
	t = time.Unix(t.Unix()+sign*seconds, int64(t.Nanosecond())+sign*micros*1000).In(t.Location())
	return t, inYears()
}
