package columnar

import (
	"math"
	"strings"

	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/number"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// bucket says over which values of a column an expression has one value: all from origin + k·step to the next
// such, as far as they are not below least.
type bucket struct {
	step, origin, least int64
}

// together is the bucket over which both have one value.
func (b bucket) together(c bucket) bucket {
	return bucket{gcd(gcd(b.step, c.step), abs(b.origin-c.origin)), b.origin, max(b.least, c.least)}
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// brought is arg, a column, with the values of a bucket of e brought together, so that what is computed once per
// distinct value is computed once per bucket. e reads the column as field 0.
func (p *planner) brought(e sql.Expression, arg typed) typed {
	switch arg.form.Kind {
	case form.Instant, form.Wall:
	case form.Int:
		if types.IsYear(arg.form.SQL) {
			return arg
		}
	default:
		return arg
	}
	b, ok := p.buckets(e, arg.form)
	if !ok || b.step <= 1 {
		return arg
	}
	floor := exec.Func{Fn: exec.FloorTo, T: form.IntType, Args: []exec.Expr{arg.expr, exec.Const{T: form.IntType, Int: b.step}, exec.Const{T: form.IntType, Int: b.origin}}}
	if b.least > math.MinInt64 {
		floor.Args = append(floor.Args, exec.Const{T: form.IntType, Int: b.least})
	}
	arg.expr = floor
	return arg
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

// buckets of expression e over one column of form f; false where they are not known. Every use of the
// column must be one that has a bucket.
func (p *planner) buckets(e sql.Expression, f form.Form) (bucket, bool) {
	switch x := e.(type) {
	case *expression.GetField:
		return bucket{}, false
	case *expression.IntDiv, meaning.Checked:
		if b, ok := p.quotients(e, f); ok {
			return b, true
		}
	case *expression.Div:
		if d, ok := p.division(x, f); ok {
			return newBucket(d.unit, d.origin, 0), d.unit > 0
		}
	case sql.FunctionExpression:
		if b, ok := p.functionBuckets(x, f); ok {
			return b, true
		}
	}
	var out bucket
	found := false
	for _, c := range e.Children() {
		if len(columnsIn(c)) == 0 {
			continue
		}
		b, ok := p.buckets(c, f)
		if !ok {
			return bucket{}, false
		}
		if !found {
			out, found = b, true
		} else {
			out = out.together(b)
		}
	}
	return out, found
}

func (p *planner) functionBuckets(x sql.FunctionExpression, f form.Form) (bucket, bool) {
	name := strings.ToLower(x.FunctionName())
	args := x.Children()
	if len(args) == 0 || anyColumns(args[1:]) {
		return bucket{}, false
	}
	if seconds, ok := granularities[name]; ok {
		return p.strikes(args[0], f, seconds)
	}
	switch name {
	case "date_format":
		if s, ok := textLiteral(args[1]); ok {
			return p.strikes(args[0], f, formatGranularity(s))
		}
	case "from_unixtime":
		if len(args) != 2 {
			break
		}
		if s, ok := textLiteral(args[1]); ok {
			if c, ok := p.unixClock(args[0], f); ok {
				return c.at(p, formatGranularity(s))
			}
		}
	case tumble, hop:
		n := positive(args[1], math.MaxInt64)
		if name == hop { // windows begin and end at multiples of both
			n = gcd(n, positive(args[2], math.MaxInt64))
		}
		if n > 0 && n%1e6 == 0 {
			return p.strikes(args[0], f, gcd(n/1e6, 86400)) // the last Unix time is the end of a day
		}
	case "floor":
		if l, r := meaning.QuotientSides(args[0]); l != nil {
			if b, ok := p.floored(args[0], f); ok {
				return b, true
			}
			if g := secondsOver(l, r, maxExactFloor-1); g > 0 {
				return p.unixStrikes(firstArgument(l), f, g)
			}
		}
	}
	return bucket{}, false
}

func anyColumns(list []sql.Expression) bool {
	for _, e := range list {
		if len(columnsIn(e)) > 0 {
			return true
		}
	}
	return false
}

func textLiteral(e sql.Expression) (string, bool) {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return "", false
	}
	s, ok := lit.Value().(string)
	return s, ok
}

// clock is a time that is made of a column's values: second s strikes at value origin + s·unit, and
// between two there are no others. It holds from value least on.
type clock struct {
	unit, origin, least int64
	zoned               bool // as the session's zone shows it
}

// strikes is the bucket of what has one value over so many seconds of time e.
func (p *planner) strikes(e sql.Expression, f form.Form, seconds int64) (bucket, bool) {
	c, ok := p.clock(e, f)
	if !ok {
		return bucket{}, false
	}
	return c.at(p, seconds)
}

// unixStrikes is the bucket of what has one value over so many seconds of the Unix time of e, which is a time in the
// session's zone.
func (p *planner) unixStrikes(e sql.Expression, f form.Form, seconds int64) (bucket, bool) {
	c, ok := p.clock(e, f)
	c.zoned = true
	if !ok {
		return bucket{}, false
	}
	return c.at(p, seconds)
}

// at is the bucket of so many seconds.
func (c clock) at(p *planner, seconds int64) (bucket, bool) {
	if seconds <= 0 {
		return bucket{}, false
	}
	least := c.least
	if c.zoned {
		// A wall clock strikes the hour when its zone says so, and before 1970 in all kinds of ways.
		seconds = p.zone.Step(seconds)
		if !p.zone.Fixed() {
			least = max(least, c.origin)
		}
	}
	if seconds <= 0 || c.unit > math.MaxInt64/seconds {
		return bucket{}, false
	}
	return newBucket(seconds*c.unit, c.origin, least), true
}

// newBucket leaves a first bucket alone that begins below zero: there something ends.
func newBucket(step, origin, least int64) bucket {
	if origin < 0 {
		least = max(least, origin+step)
	}
	return bucket{step, origin, least}
}

// readers are put around times by the server, to read text; a time they leave alone.
const (
	timeReader  = "millrace time text"
	clockReader = "millrace clock text"
	// tumble and hop are what TUMBLE and HOP become: the beginning of a window of so many microseconds, each so many behind the last one.
	tumble = "millrace tumble"
	hop    = "millrace hop"
)

// clock says how time e is made of a column of form f.
func (p *planner) clock(e sql.Expression, f form.Form) (clock, bool) {
	switch x := e.(type) {
	case *expression.GetField:
		if f.Kind == form.Instant || f.Kind == form.Wall && f.Unit <= 1e6 {
			return clock{unit: 1e6 / f.Unit, least: math.MinInt64, zoned: f.Kind == form.Instant}, true
		}
	case sql.FunctionExpression:
		args := x.Children()
		switch strings.ToLower(x.FunctionName()) {
		case timeReader, clockReader:
			if types.IsTime(args[0].Type()) {
				return p.clock(args[0], f)
			}
		case "from_unixtime":
			if len(args) == 1 {
				return p.unixClock(args[0], f)
			}
		}
	}
	return clock{}, false
}

// unixClock is the clock of FROM_UNIXTIME(e).
func (p *planner) unixClock(e sql.Expression, f form.Form) (clock, bool) {
	if f.Kind != form.Int {
		return clock{}, false
	}
	switch x := e.(type) {
	case *expression.GetField:
		return clock{unit: 1, zoned: true}, true
	case *expression.IntDiv, meaning.Checked:
		if b, ok := p.quotients(e, f); ok {
			return clock{b.step, b.origin, b.least, true}, true
		}
	case *expression.Div:
		if d, ok := p.division(x, f); ok {
			return clock{d.by, d.origin, 0, true}, true
		}
	case sql.FunctionExpression:
		if strings.EqualFold(x.FunctionName(), "floor") {
			if b, ok := p.floored(firstArgument(x), f); ok {
				return clock{b.step, b.origin, b.least, true}, true
			}
		}
	}
	return clock{}, false
}

func firstArgument(e sql.Expression) sql.Expression {
	if c := e.Children(); len(c) > 0 {
		return c[0]
	}
	return nil
}

// maxDivisor bounds divisors: quotients by it have nine exact digits, and are whole only where nothing is left over.
const maxDivisor = 1_000_000_000

// quotients are the buckets of column DIV constant, and of UNIX_TIMESTAMP(time) DIV constant.
func (p *planner) quotients(e sql.Expression, f form.Form) (bucket, bool) {
	var l, r sql.Expression
	switch x := e.(type) {
	case *expression.IntDiv:
		l, r = x.LeftChild, x.RightChild
	case meaning.Checked:
		op, left, right := x.Arithmetic()
		if op != "div" {
			return bucket{}, false
		}
		l, r = left, right
	}
	if _, ok := l.(*expression.GetField); ok && f.Kind == form.Int {
		if n := positive(r, math.MaxInt32*maxDivisor); n > 0 {
			return bucket{step: n}, true
		}
		return bucket{}, false
	}
	if g := secondsOver(l, r, math.MaxInt32); g > 0 {
		return p.unixStrikes(firstArgument(l), f, g)
	}
	return bucket{}, false
}

// positive is a constant whole number up to most; 0 for anything else.
func positive(e sql.Expression, most int64) int64 {
	lit, ok := e.(*expression.Literal)
	if !ok || lit.Value() == nil || number.IsFloat(lit) {
		return 0
	}
	n, ok := number.Of(lit)
	if !ok || !n.IsInteger() || n.Sign() <= 0 || n.GreaterThan(decimal.NewFromInt(most)) {
		return 0
	}
	return n.IntPart()
}

// secondsOver says over how many seconds UNIX_TIMESTAMP(time), divided by a constant and cut off behind the point, has one
// value; 0: not known. The last Unix time is the end of a day.
func secondsOver(l, r sql.Expression, most int64) int64 {
	f, ok := l.(sql.FunctionExpression)
	if !ok || !strings.EqualFold(f.FunctionName(), "unix_timestamp") || len(f.Children()) != 1 {
		return 0
	}
	if n := positive(r, most); n > 0 {
		return gcd(n, 86400)
	}
	return 0
}

// maxExactFloor bounds divisors whose quotients stay below the next whole number when they are rounded to four digits.
const maxExactFloor = 20_000

// division tells of column / constant, which is a decimal.
type division struct {
	by     int64 // the constant
	unit   int64 // values that have one quotient; 0 when all differ
	origin int64
	digits bool // the quotient has four digits, else nine or more
}

// division of a column of integers by a constant that is a power of ten, or divides one: the quotient is rounded to four
// digits, half away from zero, or has all. Which it is the expression itself tells.
func (p *planner) division(x *expression.Div, f form.Form) (division, bool) {
	if _, ok := x.LeftChild.(*expression.GetField); !ok || f.Kind != form.Int {
		return division{}, false
	}
	by := positive(x.RightChild, maxDivisor)
	if by == 0 {
		return division{}, false
	}
	if 10_000%by == 0 {
		return division{by: by, unit: 1}, true
	}
	if by%10_000 != 0 {
		return division{}, false
	}
	unit := by / 10_000
	d := division{by: by, digits: true}
	// What half a unit becomes tells whether there are four digits.
	v, err := x.Eval(p.ctx, sql.Row{by + unit + (unit+1)/2})
	q, ok := v.(decimal.Decimal)
	if err != nil || !ok {
		return division{}, false
	}
	switch {
	case unit == 1 || q.Equal(decimal.New(10_002, -4)):
		d.unit = unit
		d.origin = -(unit / 2)
	case by == 10 || by == 1e5 || by == 1e6:
		d.digits = false // microseconds are exact
	case isTen(by):
		// FROM_UNIXTIME rounds to microseconds.
		d.digits = false
		d.origin = -(by / 1e6 / 2)
	default:
		return division{}, false
	}
	return d, true
}

func isTen(n int64) bool {
	for n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// floored are the buckets of FLOOR(column / constant), if e is that quotient.
func (p *planner) floored(e sql.Expression, f form.Form) (bucket, bool) {
	l, r := meaning.QuotientSides(e)
	if _, ok := l.(*expression.GetField); !ok || f.Kind != form.Int {
		return bucket{}, false
	}
	most := int64(maxExactFloor - 1)
	if _, ok := e.(meaning.Quotient); ok {
		most = maxDivisor
	}
	if n := positive(r, most); n > 0 {
		return bucket{step: n}, true
	}
	div, ok := e.(*expression.Div)
	if !ok {
		return bucket{}, false
	}
	d, ok := p.division(div, f)
	if !ok {
		return bucket{}, false
	}
	if !d.digits {
		return bucket{step: d.by}, true
	}
	return newBucket(d.by, d.origin, 0), true
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
