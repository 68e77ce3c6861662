package sqlfn

import (
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// dayFunctions count days since the year 0: the engine's are a day off behind leap years.
func dayFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "to_days", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			t, ok := args[0].(time.Time)
			if !ok {
				s, err := ToText(ctx, args[0], exprs[0].Type())
				if err != nil {
					return nil, err
				}
				if t, ok = dateTimeOf(ctx, digitDate(s)); !ok {
					ctx.Warn(1292, "Incorrect datetime value: '%s'", sqlerr.Clip(s))
					return nil, nil
				}
			}
			return (t.Unix() + daysToUnix*86_400) / 86_400, nil
		}}, 1, 1),
		scalarFunction(scalar{name: "from_days", strict: true, typeOf: fixed(types.Date), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			f, err := doubleOf(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			if f < firstDay-0.5 || f >= lastDay+0.5 {
				return types.Date.Zero(), nil
			}
			d, err := toInt(ctx, f)
			return time.Unix((d-daysToUnix)*86_400, 0).UTC(), err
		}}, 1, 1),
	}
}

// The days of the years 1 to 9999.
const (
	firstDay = 366
	lastDay  = 3_652_424
)
