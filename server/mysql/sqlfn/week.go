package sqlfn

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// weekFunctions are WEEK, of which the engine has not all modes.
func weekFunctions() []sql.Function {
	return []sql.Function{scalarFunction(scalar{name: "week", strict: true, typeOf: fixed(types.Int64), eval: week}, 1, 2)}
}

// week is the number of a date's week; the mode's bits say that weeks begin on Monday (1), that the days before a year's first
// week are the last one of the year before, not week 0 (2), and, other than Monday's bit, that the first week has four days of the
// year or more, not all seven.
func week(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	t, ok := wallTime(ctx, args[0])
	if !ok {
		return nil, nil
	}
	mode := int64(0)
	if len(args) > 1 {
		var err error
		if mode, err = toInt(ctx, args[1]); err != nil {
			return nil, err
		}
	}
	monday, inYear, fourDays := mode&1 != 0, mode&2 == 0, (mode&1 != 0) != (mode&4 != 0)
	weekday := func(t time.Time) int {
		if monday {
			return (int(t.Weekday()) + 6) % 7
		}
		return int(t.Weekday())
	}
	// The day that the year's first week begins on.
	begin := func(year int) time.Time {
		first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		before := weekday(first)
		if fourDays && before < 4 || !fourDays && before == 0 {
			return first.AddDate(0, 0, -before)
		}
		return first.AddDate(0, 0, 7-before)
	}
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	from := begin(t.Year())
	switch {
	case day.Before(from) && inYear:
		return int64(0), nil
	case day.Before(from):
		from = begin(t.Year() - 1)
	case !inYear && !day.Before(begin(t.Year()+1)):
		return int64(1), nil
	}
	return int64(day.Sub(from)/(24*time.Hour))/7 + 1, nil
}
