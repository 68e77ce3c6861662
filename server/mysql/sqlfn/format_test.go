package sqlfn

import (
	"math"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

func TestFormatKeepsEveryDigitOfExactNumbers(t *testing.T) {
	for _, c := range []struct {
		value  any
		kind   sql.Type
		digits int64
		want   string
	}{
		{int64(math.MaxInt64), types.Int64, 0, "9,223,372,036,854,775,807"},
		{int64(-1234567), types.Int64, 2, "-1,234,567.00"},
		{int64(999), types.Int64, 0, "999"},
		{int64(1000), types.Int64, -3, "1,000"},
		{decimal.RequireFromString("12345678901234567890.125"), types.InternalDecimalType, 2, "12,345,678,901,234,567,890.13"},
		{decimal.RequireFromString("-0.5"), types.InternalDecimalType, 0, "-1"},
		{5.855, types.Float64, 2, "5.86"},
		{12332.2, types.Float64, 0, "12,332"},
		{12332.123456, types.Float64, 4, "12,332.1235"},
		{"1234.5", types.LongText, 1, "1,234.5"},
		{1e300, types.Float64, 1_000_000_000, ""},
	} {
		f, err := formatFunctions()[0].(sql.FunctionN).Fn(expression.NewLiteral(c.value, c.kind), expression.NewLiteral(c.digits, types.Int64))
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Eval(sql.NewEmptyContext(), nil)
		if err != nil || c.want != "" && got != c.want {
			t.Errorf("FORMAT(%v, %d) = %v, %v, want %s", c.value, c.digits, got, err, c.want)
		}
	}
}
