package sqlfn

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// asNumber is a time as the number that arithmetic makes of it, 20260228 of a date; anything else stays. Of TIME the
// engine knows no digits, so that its numbers are DOUBLE.
func asNumber(e sql.Expression) sql.Expression {
	t := e.Type()
	var number sql.Type
	switch {
	case types.IsTimespan(t):
		number = types.Float64
	case types.IsDateType(t):
		number = types.Int64
	case types.IsTime(t):
		number = types.Int64
		if d, ok := t.(sql.DatetimeType); ok && d.Precision() > 0 {
			number = types.MustCreateDecimalType(uint8(14+d.Precision()), uint8(d.Precision()))
		}
	default:
		return e
	}
	if _, interval := e.(*expression.Interval); interval {
		return e
	}
	return &scalar{name: "millrace time number", args: []sql.Expression{e}, text: asArgument, strict: true, typeOf: fixed(number), eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
		switch v := args[0].(type) {
		case time.Time:
			if types.IsDateType(t) {
				return strconv.ParseInt(v.Format("20060102"), 10, 64)
			}
			if number == types.Int64 {
				return strconv.ParseInt(v.Format("20060102150405"), 10, 64)
			}
			d, err := decimal.NewFromString(v.Format("20060102150405.000000"))
			return d.Round(int32(number.(sql.DecimalType).Scale())), err
		case types.Timespan:
			return strconv.ParseFloat(strings.ReplaceAll(v.String(), ":", ""), 64)
		}
		return nil, nil
	}}
}
