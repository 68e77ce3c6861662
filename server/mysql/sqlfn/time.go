package sqlfn

import (
	"regexp"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// NameCleanTime is put around what is cast to a time; no user can write its name unquoted.
const NameCleanTime = "millrace clean time"

var timePrefix = regexp.MustCompile(`^\s*\d{1,4}[-/.:]\d{1,2}[-/.:]\d{1,2}(?:[ T]+\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d*)?)?)?`)

var zoneSuffix = regexp.MustCompile(`^(?:Z|[+-]\d{2}:\d{2})$`)

// cleanTime cuts off what follows a time in text, with MySQL's warning.
func cleanTime(ctx *sql.Context, s string) string {
	prefix := timePrefix.FindString(s)
	rest := strings.TrimSpace(s[len(prefix):])
	if prefix == "" || rest == "" || zoneSuffix.MatchString(rest) {
		return s
	}
	ctx.Warn(1292, "Truncated incorrect datetime value: '%s'", s)
	return prefix
}

// timeFunctions are missing in the engine, but for TIMESTAMPDIFF, which takes a month for 30 days there and looks 292 years far.
func timeFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: NameCleanTime, text: asArgument, strict: true, typeOf: func(args []sql.Expression) sql.Type { return args[0].Type() }, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if s, ok := args[0].(string); ok {
				return cleanTime(ctx, s), nil
			}
			return args[0], nil
		}}, 1, 1),
		scalarFunction(scalar{name: "makedate", strict: true, typeOf: fixed(types.Date), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			year, err := toInt(ctx, args[0])
			if err != nil {
				return nil, err
			}
			day, err := toInt(ctx, args[1])
			if err != nil {
				return nil, err
			}
			switch {
			case year >= 0 && year < 70:
				year += 2000
			case year >= 70 && year < 100:
				year += 1900
			}
			if day <= 0 || year < 0 || year > 9999 || day > 4_000_000 {
				return nil, nil
			}
			t := time.Date(int(year), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(day-1))
			if t.Year() > 9999 {
				return nil, nil
			}
			return t, nil
		}}, 2, 2),
		scalarFunction(scalar{name: "timestampdiff", strict: true, typeOf: fixed(types.Int64), eval: timestampDiff}, 3, 3),
		scalarFunction(scalar{name: "sec_to_time", strict: true, typeOf: fixed(types.Time), eval: secToTime}, 1, 1),
		scalarFunction(scalar{name: "utc_timestamp", typeOf: func(args []sql.Expression) sql.Type {
			digits := 0
			if len(args) > 0 {
				if lit, ok := args[0].(*expression.Literal); ok {
					if n, ok := integerOf(lit.Value()); ok && !n.negative {
						digits = int(min(n.abs, 6))
					}
				}
			}
			return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
		}, eval: utcTimestamp}, 0, 1),
	}
}

// secToTime is so many seconds as a TIME, the nearest that there is.
func secToTime(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	v, _, err := types.InternalDecimalType.Convert(ctx, args[0])
	if err != nil {
		n, err := toInt(ctx, args[0])
		if err != nil {
			return nil, err
		}
		v = decimal.NewFromInt(n)
	}
	micros := v.(decimal.Decimal).Shift(6).Round(0)
	most := decimal.NewFromInt((838*3600 + 59*60 + 59) * 1e6)
	switch {
	case micros.GreaterThan(most):
		micros = most
	case micros.LessThan(most.Neg()):
		micros = most.Neg()
	}
	return types.Timespan(micros.IntPart()), nil
}
