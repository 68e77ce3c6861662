package sqlfn

import (
	"fmt"
	"strings"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameExtractTime stands for EXTRACT(unit FROM …) of units with a time of day; no user can write its name unquoted.
const NameExtractTime = "millrace extract time"

// clockFunctions read parts of a time, which may have more than 24 hours or be negative: the engine makes a time of day of it first.
func clockFunctions() []sql.Function {
	part := func(name string, of func(micros int64) int64) sql.Function {
		return scalarFunction(scalar{name: name, strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			c, ok := timeOf(ctx, args[0], exprs[0].Type())
			if !ok {
				return nil, nil
			}
			return of(max(c.micros, -c.micros)), nil
		}}, 1, 1)
	}
	return []sql.Function{
		part("hour", func(micros int64) int64 { return micros / microsPerSecond / 3600 }),
		part("minute", func(micros int64) int64 { return micros / microsPerSecond / 60 % 60 }),
		part("second", func(micros int64) int64 { return micros / microsPerSecond % 60 }),
		part("microsecond", func(micros int64) int64 { return micros % microsPerSecond }),
		scalarFunction(scalar{name: NameExtractTime, strict: true, typeOf: fixed(types.Int64), text: func(args []sql.Expression) string {
			return fmt.Sprintf("extract(%s from %s)", unitOf(args[0]), args[1])
		}, eval: extractTime}, 2, 2),
	}
}

// unitOf an EXTRACT, in capitals.
func unitOf(e sql.Expression) string {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return ""
	}
	s, _ := lit.Value().(string)
	return strings.ToUpper(s)
}

// extractTime has the sign of the time. Of a date with a time, units that begin with DAY have the day of the month; hours of a TIME are
// not made days.
func extractTime(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	c, ok := timeOf(ctx, args[1], exprs[1].Type())
	if !ok {
		return nil, nil
	}
	day := int64(0)
	if at, ok := args[1].(time.Time); ok {
		day = int64(at.Day())
	} else if !c.date.IsZero() {
		day = int64(c.date.Day())
	}
	micros, sign := c.micros, int64(1)
	if micros < 0 {
		micros, sign = -micros, -1
	}
	seconds := micros / microsPerSecond
	parts := []struct {
		unit  string
		value int64
		scale int64 // of what comes before it
	}{{"DAY", day, 1}, {"HOUR", seconds / 3600, 100}, {"MINUTE", seconds / 60 % 60, 100}, {"SECOND", seconds % 60, 100}, {"MICROSECOND", micros % microsPerSecond, microsPerSecond}}
	first, last, compound := strings.Cut(unitOf(exprs[0]), "_")
	if !compound {
		last = first
	}
	out, inside := int64(0), false
	for _, p := range parts {
		if inside = inside || p.unit == first; inside {
			out = out*p.scale + p.value
		}
		if p.unit == last {
			return sign * out, nil
		}
	}
	return nil, sqlerr.New(1064, "42000", "Incorrect unit of EXTRACT: '%s'", unitOf(exprs[0]))
}
