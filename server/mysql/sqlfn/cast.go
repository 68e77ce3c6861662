package sqlfn

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// NameCastDecimal stands for CAST(… AS DECIMAL(precision, scale)): the engine's makes 0 of what does
// not fit and of text that does not end with its number, and writes out exponents of any size.
// No user can write its name unquoted.
const NameCastDecimal = "millrace cast decimal"

// NameIntegerText is put around what is cast to an integer, with 1 for a signed one and 0 for another; no user can write its name unquoted.
const NameIntegerText = "millrace integer text"

var integerPrefix = regexp.MustCompile(`^[ \t\r\n\f\v]*([+-]?\d+)`)

// integerText cuts text off behind the digits that it begins with, with MySQL's warning: the engine
// makes 0 of '12abc', and rounds '1.9'.
func integerText(ctx *sql.Context, s string) string {
	m := integerPrefix.FindStringSubmatch(s)
	if m == nil || strings.Trim(s[len(m[0]):], " \t\r\n\f\v") != "" {
		ctx.Warn(1292, "Truncated incorrect INTEGER value: '%s'", sqlerr.Clip(s))
	}
	if m == nil {
		return "0"
	}
	return m[1]
}

// integerValue is v for the engine to make an integer of: with 64 bits whose meaning changes with the sign, where the engine
// takes the nearest number.
func integerValue(ctx *sql.Context, v, toSigned any) (any, error) {
	flag, _ := integerOf(toSigned)
	isSigned := flag.abs == 1
	switch v := v.(type) {
	case string:
		digits := integerText(ctx, v)
		if _, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return digits, nil
		}
		if strings.HasPrefix(digits, "-") {
			return strconv.FormatInt(math.MinInt64, 10), nil
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 10, 64)
		if err != nil {
			n = math.MaxUint64
		}
		if isSigned {
			return strconv.FormatInt(int64(n), 10), nil
		}
		return strconv.FormatUint(n, 10), nil
	case uint64:
		if isSigned {
			return int64(v), nil
		}
	case decimal.Decimal:
		if !isSigned && v.IsNegative() {
			if n := v.Round(0).BigInt(); n.IsInt64() {
				return n.Int64(), nil
			}
			return int64(math.MinInt64), nil
		}
	}
	return v, nil
}

// NameDoubleText is put around what is cast to text; no user can write its name unquoted.
const NameDoubleText = "millrace double text"

// NameCharText stands for what is cast to CHAR(n): the engine cuts bytes, and text of some types not
// at all.
const NameCharText = "millrace char text"

// NameBytesText is put around what is cast to CHAR: bytes that are no text are NULL. No user can write its name unquoted.
const NameBytesText = "millrace bytes text"

// wellFormed says whether s is text, with MySQL's warning if it is not.
func wellFormed(ctx *sql.Context, s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			ctx.Warn(1300, "Invalid utf8mb4 character string: '%X'", s[i:min(len(s), i+3)])
			return false
		}
	}
	return true
}

// charText cuts text to so many characters, with MySQL's warning.
func charText(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	s, err := ToText(ctx, args[0], exprs[0].Type())
	if err != nil || !wellFormed(ctx, s) {
		return nil, err
	}
	n, err := toInt(ctx, args[1])
	if err != nil {
		return nil, err
	}
	for i := range s {
		if n == 0 {
			ctx.Warn(1292, "Truncated incorrect CHAR(%d) value: '%s'", args[1], sqlerr.Clip(s))
			return s[:i], nil
		}
		n--
	}
	return s, nil
}

// doubleText is a floating-point number in MySQL's spelling; anything else stays. The engine writes
// out exponents of any size.
func doubleText(v any) any {
	switch f := v.(type) {
	case float64:
		return string(sqltable.AppendDouble(nil, f, 64))
	case float32:
		return string(sqltable.AppendDouble(nil, float64(f), 32))
	default:
		return v
	}
}

func castFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: NameDoubleText, text: asArgument, strict: true, typeOf: func(args []sql.Expression) sql.Type {
			if t := args[0].Type(); !types.IsFloat(t) && !types.IsJSON(t) {
				return t
			}
			return types.LongText
		}, eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if j, ok := args[0].(sql.JSONWrapper); ok {
				text, err := sqltable.TextOfJSON(j)
				return string(text), err
			}
			return doubleText(args[0]), nil
		}}, 1, 1),
		scalarFunction(scalar{name: NameBytesText, text: asArgument, strict: true, typeOf: func(args []sql.Expression) sql.Type {
			if t := args[0].Type(); !types.IsBinaryType(t) {
				return t
			}
			return types.LongText
		}, eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			if !types.IsBinaryType(exprs[0].Type()) {
				return args[0], nil
			}
			s, err := ToText(ctx, args[0], exprs[0].Type())
			if err != nil || !wellFormed(ctx, s) {
				return nil, err
			}
			return s, nil
		}}, 1, 1),
		scalarFunction(scalar{name: NameCharText, text: func(args []sql.Expression) string {
			return fmt.Sprintf("convert(%s, char(%s))", args[0], args[1])
		}, strict: true, typeOf: fixed(types.LongText), eval: charText}, 2, 2),
		scalarFunction(scalar{name: NameCastDecimal, strict: true, text: func(args []sql.Expression) string {
			return fmt.Sprintf("convert(%s, decimal(%s,%s))", args[0], args[1], args[2])
		}, typeOf: castDecimalType, eval: castDecimal}, 3, 3),
		scalarFunction(scalar{name: NameIntegerText, text: asArgument, strict: true, typeOf: func(args []sql.Expression) sql.Type { return args[0].Type() }, eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			return integerValue(ctx, args[0], args[1])
		}}, 2, 2),
	}
}

func castDecimalType(args []sql.Expression) sql.Type {
	var digits [2]uint8
	for i, a := range args[1:] {
		if lit, ok := a.(*expression.Literal); ok {
			if n, ok := integerOf(lit.Value()); ok {
				digits[i] = uint8(n.abs) // checked by rewriteDecimalCast
			}
		}
	}
	return types.MustCreateDecimalType(max(1, digits[0]), digits[1])
}

func castDecimal(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	t := castDecimalType(exprs).(sql.DecimalType)
	precision, scale := int(t.Precision()), int(t.Scale())
	var text string
	switch v := args[0].(type) {
	case decimal.Decimal:
		return fitDecimal(ctx, v, precision, scale), nil
	case float64:
		text = strconv.FormatFloat(v, 'e', -1, 64)
	case float32:
		text = strconv.FormatFloat(float64(v), 'e', -1, 32)
	case time.Time: // its digits
		layout := "20060102150405.000000"
		if types.IsDateType(exprs[0].Type()) {
			layout = "20060102"
		}
		text = v.Format(layout)
	case types.Timespan:
		text = strings.ReplaceAll(v.String(), ":", "")
	case string:
		text = numberOf(ctx, v)
	case []byte:
		text = numberOf(ctx, string(v))
	case sql.JSONWrapper:
		value, err := jsonValue(v, 1, "cast")
		if err != nil {
			return nil, err
		}
		unquoted, _ := value.Unquote()
		text = numberOf(ctx, string(unquoted))
	default:
		n, ok := integerOf(v)
		if !ok { // whatever else there is
			return expression.NewConvertWithLengthAndScale(expression.NewLiteral(v, exprs[0].Type()), expression.ConvertToDecimal, precision, scale).Eval(ctx, nil)
		}
		d := decimal.NewFromBigInt(new(big.Int).SetUint64(n.abs), 0)
		if n.negative {
			d = d.Neg()
		}
		return fitDecimal(ctx, d, precision, scale), nil
	}
	var d jsonval.Decimal // so that no exponent is written out
	d.Set([]byte(text))
	switch {
	case d.N == 0 || d.Exp < -int64(scale):
		return decimal.New(0, -int32(scale)), nil
	case d.Exp > int64(precision-scale):
		return largest(ctx, d.Neg, precision, scale), nil
	}
	n, _ := new(big.Int).SetString(string(d.Digits[:d.N]), 10)
	if d.Neg {
		n.Neg(n)
	}
	return fitDecimal(ctx, decimal.NewFromBigInt(n, int32(d.Exp)-int32(d.N)), precision, scale), nil
}

// fitDecimal rounds to scale, and takes the nearest value there is for one of too many digits.
func fitDecimal(ctx *sql.Context, d decimal.Decimal, precision, scale int) decimal.Decimal {
	d = d.Round(int32(scale))
	if d.Abs().GreaterThanOrEqual(decimal.New(1, int32(precision-scale))) {
		return largest(ctx, d.Sign() < 0, precision, scale)
	}
	return d
}

// largest is the value with most digits, with MySQL's warning.
func largest(ctx *sql.Context, negative bool, precision, scale int) decimal.Decimal {
	ctx.Warn(1264, "Out of range value in CAST to DECIMAL(%d,%d)", precision, scale)
	d := decimal.New(1, int32(precision-scale)).Sub(decimal.New(1, -int32(scale)))
	if negative {
		return d.Neg()
	}
	return d
}

// numberOf is the number that s begins with, "0" if none, with MySQL's warning when that is not all of s.
func numberOf(ctx *sql.Context, s string) string {
	m := numberPrefix.FindStringSubmatch(s)
	if m == nil || strings.Trim(s[len(m[0]):], " \t\r\n\f\v") != "" {
		ctx.Warn(1292, "Truncated incorrect DECIMAL value: '%s'", sqlerr.Clip(s))
	}
	if m == nil {
		return "0"
	}
	return m[1]
}
