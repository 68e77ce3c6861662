package sqlfn

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// weekDateFunctions are DATE, WEEK, of which the engine has not all modes, and STR_TO_DATE with the formats of a week and its day, which make YEARWEEK's number a
// date again. The engine answers them with NULL; all other formats stay its own.
func weekDateFunctions() []sql.Function {
	return []sql.Function{dateFunction(), scalarFunction(scalar{name: "week", strict: true, typeOf: fixed(types.Int64), eval: week}, 1, 2), sql.Function2{Name: "str_to_date", Fn: func(text, format sql.Expression) sql.Expression {
		if literal, ok := format.(*expression.Literal); ok {
			switch literal.Value() {
			case "%X%V %W":
				return weekDate(text, format, true)
			case "%x%v %W":
				return weekDate(text, format, false)
			}
		}
		return strictDate(text, format)
	}}}
}

// strictDate is the engine's STR_TO_DATE, which ends a statement at the first NULL and at numbers.
func strictDate(text, format sql.Expression) sql.Expression {
	return &scalar{name: "str_to_date", args: []sql.Expression{text, format}, strict: true, typeOf: func(args []sql.Expression) sql.Type {
		t := function.NewStrToDate(args[0], args[1]).Type()
		if types.IsDatetimeType(t) {
			if format, ok := args[1].(*expression.Literal); ok {
				if f, ok := format.Value().(string); ok && !strings.Contains(f, "%f") {
					return t
				}
			}
			return types.DatetimeMaxPrecision // there may be microseconds
		}
		return t
	}, eval: func(ctx *sql.Context, values []any, _ []sql.Expression) (any, error) {
		var args [2]sql.Expression
		for i, v := range values {
			s, err := ToText(ctx, v, nil)
			if err != nil {
				return nil, err
			}
			args[i] = expression.NewLiteral(s, types.LongText)
		}
		return function.NewStrToDate(args[0], args[1]).Eval(ctx, nil)
	}}
}

// weekDate reads year, week and day; weeks begin on Sunday, and the first is that of the year's first Sunday
// (%X%V), or they are those of ISO 8601 (%x%v).
func weekDate(text, format sql.Expression, sunday bool) sql.Expression {
	return &scalar{name: "str_to_date", args: []sql.Expression{text, format}, strict: true, typeOf: fixed(types.Date), eval: func(_ *sql.Context, values []any, _ []sql.Expression) (any, error) {
		text, ok := values[0].(string)
		if !ok {
			return nil, nil
		}
		number, name, ok := strings.Cut(strings.TrimSpace(text), " ")
		if !ok || len(number) != 6 {
			return nil, nil
		}
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return nil, nil // no date, as MySQL answers
		}
		day := -1
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(d.String(), strings.TrimSpace(name)) {
				day = int(d)
			}
		}
		year, week := int(n/100), int(n%100)
		if day < 0 || week < 1 || week > 53 {
			return nil, nil
		}
		first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if sunday {
			first = first.AddDate(0, 0, (7-int(first.Weekday()))%7)
		} else {
			// The week of January 4 is the first.
			first = time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
			first = first.AddDate(0, 0, -((int(first.Weekday()) + 6) % 7))
			day = (day + 6) % 7
		}
		return first.AddDate(0, 0, 7*(week-1)+day), nil
	}}
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
