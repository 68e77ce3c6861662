package pushdown

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/shopspring/decimal"
)

// step is how many units of a time column of form f may be taken together, from any multiple of it to the next,
// because e has one value over them; 0 when that is not known.
func (p *planner) step(e sql.Expression, f form) int64 {
	if f.kind != kindInstant && f.kind != kindWall || f.unit > 1e6 {
		return 0
	}
	seconds := granularity(e)
	if f.kind == kindInstant && seconds > 0 {
		// A wall clock strikes the hour when its zone says so.
		seconds = p.zone.Step(seconds)
	}
	return seconds * (1e6 / f.unit)
}

// granularities of functions of a time, in seconds: they have one value from one multiple to the next.
var granularities = map[string]int64{
	"second": 1, "minute": 60, "hour": 3600,
	"date": 86400, "day": 86400, "dayofmonth": 86400, "month": 86400, "year": 86400, "quarter": 86400,
	"dayofweek": 86400, "weekday": 86400, "dayofyear": 86400, "week": 86400, "weekofyear": 86400, "yearweek": 86400,
	"dayname": 86400, "monthname": 86400, "to_days": 86400, "last_day": 86400,
}

// formats tells the granularity of DATE_FORMAT's specifiers.
var formats = map[byte]int64{
	'a': 86400, 'b': 86400, 'c': 86400, 'D': 86400, 'd': 86400, 'e': 86400, 'j': 86400, 'M': 86400, 'm': 86400,
	'U': 86400, 'u': 86400, 'V': 86400, 'v': 86400, 'W': 86400, 'w': 86400, 'X': 86400, 'x': 86400, 'Y': 86400, 'y': 86400, '%': 86400,
	'H': 3600, 'h': 3600, 'I': 3600, 'k': 3600, 'l': 3600, 'p': 3600,
	'i': 60, 'S': 1, 's': 1, 'r': 1, 'T': 1,
}

// granularity of an expression over one time column, in seconds; 0 unknown. Every use of the column
// must be one that has a granularity.
func granularity(e sql.Expression) int64 {
	switch x := e.(type) {
	case *expression.GetField:
		return 0
	case *expression.IntDiv:
		return secondsDiv(x.LeftChild, x.RightChild)
	case Checked:
		if op, l, r := x.Arithmetic(); op == "div" && len(columnsIn(r)) == 0 {
			if g := secondsDiv(l, r); g > 0 {
				return g
			}
		}
	case sql.FunctionExpression:
		name := strings.ToLower(x.FunctionName())
		if g, ok := granularities[name]; ok && overColumn(x) {
			return g
		}
		if name == "date_format" && overColumn(x) {
			if lit, ok := x.Children()[1].(*expression.Literal); ok {
				if s, ok := lit.Value().(string); ok {
					return formatGranularity(s)
				}
			}
			return 0
		}
	}
	g := int64(86400 * 7 * 4)
	found := false
	for _, c := range e.Children() {
		if len(columnsIn(c)) == 0 {
			continue
		}
		of := granularity(c)
		if of == 0 {
			return 0
		}
		g, found = gcd(g, of), true
	}
	if !found {
		return 0
	}
	return g
}

// secondsDiv is the granularity of UNIX_TIMESTAMP(column) DIV a constant.
func secondsDiv(l, r sql.Expression) int64 {
	f, ok := l.(sql.FunctionExpression)
	if !ok || !strings.EqualFold(f.FunctionName(), "unix_timestamp") || !overColumn(f) {
		return 0
	}
	lit, ok := r.(*expression.Literal)
	if !ok {
		return 0
	}
	n, ok := number(lit)
	if !ok || !n.IsInteger() || n.Sign() <= 0 || n.GreaterThan(decimal.New(366*86400, 0)) {
		return 0
	}
	return n.IntPart()
}

// overColumn says that the first argument is a column and the others are constant.
func overColumn(e sql.Expression) bool {
	children := e.Children()
	if len(children) == 0 {
		return false
	}
	if _, ok := children[0].(*expression.GetField); !ok {
		return false
	}
	for _, c := range children[1:] {
		if len(columnsIn(c)) > 0 {
			return false
		}
	}
	return true
}

func formatGranularity(format string) int64 {
	g := int64(86400)
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		of, ok := formats[format[i]]
		if !ok {
			return 0
		}
		g = gcd(g, of)
	}
	return g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
