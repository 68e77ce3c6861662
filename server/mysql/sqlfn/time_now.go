package sqlfn

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// nowFunctions tell the present date or time of day: the engine has some of them as text, which drivers then
// take for no date, and some not at all.
func nowFunctions() []sql.Function {
	date := func(wall func(*sql.Context) (time.Time, error)) func(*sql.Context, []any, []sql.Expression) (any, error) {
		return func(ctx *sql.Context, _ []any, _ []sql.Expression) (any, error) {
			t, err := wall(ctx)
			if err != nil {
				return nil, err
			}
			return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), nil
		}
	}
	return []sql.Function{
		scalarFunction(scalar{name: "curdate", typeOf: fixed(types.Date), eval: date(sessionNow)}, 0, 0),
		scalarFunction(scalar{name: "current_date", typeOf: fixed(types.Date), eval: date(sessionNow)}, 0, 0),
		scalarFunction(scalar{name: "utc_date", typeOf: fixed(types.Date), eval: date(utcNow)}, 0, 0),
		scalarFunction(scalar{name: "utc_time", typeOf: fixed(types.Time), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			v, err := utcTimestamp(ctx, args, exprs)
			if err != nil {
				return nil, err
			}
			t := v.(time.Time)
			midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
			return types.Timespan(t.Sub(midnight).Microseconds()), nil
		}}, 0, 1),
	}
}

// sessionNow is the statement's time on the wall of its session, in UTC fields.
func sessionNow(ctx *sql.Context) (time.Time, error) {
	now, err := function.NewNow()
	if err != nil {
		return time.Time{}, err
	}
	v, err := now.Eval(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	return v.(time.Time), nil
}

func utcNow(ctx *sql.Context) (time.Time, error) { return ctx.QueryTime().UTC(), nil }
