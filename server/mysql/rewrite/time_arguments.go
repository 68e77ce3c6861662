package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// timeArguments are the engine's functions of times, with how many of their first arguments are
// times. They understand dashes between the parts of a date alone; MySQL takes any punctuation.
var timeArguments = map[string]int{
	"date": 1, "time": 1, "year": 1, "month": 1, "day": 1,
	"dayofmonth": 1, "dayofweek": 1, "dayofyear": 1, "weekday": 1, "week": 1, "weekofyear": 1, "yearweek": 1, "quarter": 1,
	"dayname": 1, "monthname": 1, "last_day": 1, "to_days": 1, "date_format": 1, "datediff": 2, "convert_tz": 1,
}

// rewriteTimeArguments lets functions of times read them as MySQL does.
func rewriteTimeArguments(e *sqlparser.FuncExpr) {
	n := timeArguments[e.Name.Lowered()]
	if !e.Qualifier.IsEmpty() || n > len(e.Exprs) {
		return
	}
	for _, x := range e.Exprs[:n] {
		if a, ok := x.(*sqlparser.AliasedExpr); ok {
			a.Expr = call(sqlfn.NameTimeText, a.Expr)
		}
	}
}
