package mysql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// timeTextFunction is put around the times that functions take; no user can write its name unquoted.
const timeTextFunction = "millrace time text"

// clockTextFunction reads a time of day without a date as well.
const clockTextFunction = "millrace clock text"

// timeArguments are the engine's functions of times, with how many of their first arguments are
// times. They understand dashes between the parts of a date alone; MySQL takes any punctuation.
var timeArguments = map[string]int{
	"hour": 1, "minute": 1, "second": 1, "microsecond": 1, "date": 1, "time": 1, "year": 1, "month": 1, "day": 1,
	"dayofmonth": 1, "dayofweek": 1, "dayofyear": 1, "weekday": 1, "week": 1, "weekofyear": 1, "yearweek": 1, "quarter": 1,
	"dayname": 1, "monthname": 1, "last_day": 1, "to_days": 1, "date_format": 1, "datediff": 2, "convert_tz": 1,
}

// rewriteTimeArguments lets functions of times read them as MySQL does.
func rewriteTimeArguments(e *sqlparser.FuncExpr) {
	n := timeArguments[e.Name.Lowered()]
	if !e.Qualifier.IsEmpty() || n > len(e.Exprs) {
		return
	}
	reader := timeTextFunction
	switch e.Name.Lowered() {
	case "hour", "minute", "second", "microsecond":
		reader = clockTextFunction
	}
	for _, x := range e.Exprs[:n] {
		if a, ok := x.(*sqlparser.AliasedExpr); ok {
			a.Expr = call(reader, a.Expr)
		}
	}
}

var looseTime = regexp.MustCompile(`^\s*(\d{4})[-/.:^@](\d{1,2})[-/.:^@](\d{1,2})(?:[ T]+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(\.\d{1,6})?)?)?)?\s*$`)

// timeText spells a time with dashes and colons and all digits; other text stays.
func timeText(s string) string {
	if !strings.ContainsAny(s, "/.:^@ ") { // a date with dashes, or none
		return s
	}
	m := looseTime.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	part := func(i int) int {
		n, err := strconv.Atoi(m[i])
		if err != nil {
			return 0 // not there
		}
		return n
	}
	date := fmt.Sprintf("%s-%02d-%02d", m[1], part(2), part(3))
	if m[4] == "" {
		return date
	}
	return fmt.Sprintf("%s %02d:%02d:%02d%s", date, part(4), part(5), part(6), m[7])
}

var clock = regexp.MustCompile(`^\s*(\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,6})?)?)\s*$`)

// clockText puts a date before a time of day that has none: the engine wants one to take the hour.
func clockText(s string) string {
	if m := clock.FindStringSubmatch(s); m != nil {
		s = "2000.01.01 " + m[1]
	}
	return timeText(s)
}

// timeTextFunctions change text, and leave what is a time already.
func timeTextFunctions() []sql.Function {
	reader := func(name string, read func(string) string) sql.Function {
		return scalarFunction(scalar{
			name: name, text: asArgument, strict: true,
			typeOf: func(args []sql.Expression) sql.Type { return args[0].Type() },
			eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
				if s, ok := args[0].(string); ok {
					return read(s), nil
				}
				return args[0], nil
			},
		}, 1, 1)
	}
	return []sql.Function{reader(timeTextFunction, timeText), reader(clockTextFunction, clockText)}
}
