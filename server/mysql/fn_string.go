package mysql

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// tooLong is the answer of a function whose result would be larger than maxFunctionBytes.
func tooLong(ctx *sql.Context, name string) any {
	ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", name, maxFunctionBytes)
	return nil
}

// stringFunctions are those that multiply their input: the engine's know no bound.
func stringFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "repeat", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, err := toText(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			n, err := toInt(ctx, args[1])
			if err != nil {
				return nil, err
			}
			if n <= 0 || s == "" {
				return "", nil
			}
			if n > maxFunctionBytes/int64(len(s)) {
				return tooLong(ctx, "repeat"), nil
			}
			return strings.Repeat(s, int(n)), nil
		}}, 2, 2),
		scalarFunction(scalar{name: "space", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			n, err := toInt(ctx, args[0])
			if err != nil {
				return nil, err
			}
			if n > maxFunctionBytes {
				return tooLong(ctx, "space"), nil
			}
			return strings.Repeat(" ", int(max(0, n))), nil
		}}, 1, 1),
		scalarFunction(scalar{name: "lpad", strict: true, typeOf: fixed(types.LongText), eval: pad(true)}, 3, 3),
		scalarFunction(scalar{name: "rpad", strict: true, typeOf: fixed(types.LongText), eval: pad(false)}, 3, 3),
	}
}

func pad(left bool) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		s, err := toText(ctx, args[0], exprs[0].Type())
		if err != nil {
			return nil, err
		}
		n, err := toInt(ctx, args[1])
		if err != nil {
			return nil, err
		}
		fill, err := toText(ctx, args[2], exprs[2].Type())
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, nil
		}
		if n > maxFunctionBytes/utf8.UTFMax {
			return tooLong(ctx, "pad"), nil
		}
		have := int64(utf8.RuneCountInString(s))
		if have >= n {
			cut, err := fromChar(s, n+1)
			if err != nil {
				return s, nil
			}
			return s[:cut], nil
		}
		if fill == "" {
			return "", nil
		}
		var b strings.Builder
		runes := []rune(fill)
		for i := int64(0); i < n-have; i++ {
			b.WriteRune(runes[i%int64(len(runes))])
		}
		if left {
			return b.String() + s, nil
		}
		return s + b.String(), nil
	}
}
