package sqlfn

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// maxFormatDigits is how many digits behind the point FORMAT gives at most, as in MySQL.
const maxFormatDigits = 30

// formatFunctions are FORMAT(X, D) in MySQL's own locale: the engine's goes through float64, which loses digits of integers
// and decimals, and panics on doubles that it cannot scale. Other locales are the engine's, for what it can scale.
func formatFunctions() []sql.Function {
	own := scalar{name: "format", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
		digits, _, err := types.Int64.Convert(ctx, args[1])
		if err != nil {
			return nil, err
		}
		return grouped(ctx, args[0], int32(max(0, min(maxFormatDigits, digits.(int64)))))
	}}
	return []sql.Function{sql.FunctionN{Name: "format", Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) == 3 && !americanLocale(args[2]) {
			return function.NewFormat(args...)
		}
		return scalarFunction(own, 2, 2).(sql.FunctionN).Fn(args[:min(2, len(args))]...)
	}}}
}

// americanLocale says whether a locale is written out and is the one that FORMAT has without it.
func americanLocale(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	name, ok := l.Value().(string)
	return ok && strings.EqualFold(name, "en_US")
}

// grouped is a number rounded to digits behind the point, with a comma before each three digits.
func grouped(ctx *sql.Context, v any, digits int32) (any, error) {
	var text string
	if d, ok := exactOf(v); ok {
		text = d.Round(digits).StringFixed(digits)
	} else {
		f, _, err := types.Float64.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		text = strconv.FormatFloat(roundedDouble(f.(float64), digits), 'f', int(digits), 64)
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String(), nil
}

// roundedDouble rounds as MySQL does: scaled up, to the nearest integer, and down again. What cannot be scaled stays.
func roundedDouble(f float64, digits int32) float64 {
	scale := math.Pow(10, float64(digits))
	if scaled := f * scale; !math.IsInf(scaled, 0) {
		return math.RoundToEven(scaled) / scale
	}
	return f
}
