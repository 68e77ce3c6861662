package sqlfn

import (
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// tooLong is the answer of a function whose result would be larger than maxFunctionBytes.
func tooLong(ctx *sql.Context, name string) any {
	ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", name, maxFunctionBytes)
	return nil
}

// stringFunctions are those that make long text of short: the engine's know no bound, and one
// REPLACE of every letter of a long text by another long text ended the process.
func stringFunctions(memory Memory) []sql.Function {
	return append(slices.Concat(letterFunctions(), searchFunctions()), []sql.Function{
		scalarFunction(scalar{name: "concat", strict: true, joins: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			return joined(ctx, memory, "concat", args, "")
		}}, 1, maxArguments),
		scalarFunction(scalar{name: "concat_ws", joins: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if args[0] == nil {
				return nil, nil
			}
			separator, err := longText(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return joined(ctx, memory, "concat_ws", args[1:], separator)
		}}, 2, maxArguments),
		scalarFunction(scalar{name: "replace", strict: true, joins: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			var texts [3]string
			for i := range texts {
				var err error
				if texts[i], err = longText(ctx, args[i]); err != nil {
					return nil, err
				}
			}
			s, from, to := texts[0], texts[1], texts[2]
			if from == "" {
				return s, nil
			}
			size := len(s) + strings.Count(s, from)*(len(to)-len(from)) // below 2^50: both are bounded
			if size > maxFunctionBytes {
				return tooLong(ctx, "replace"), nil
			}
			return strings.ReplaceAll(s, from, to), memory.Admits(size)
		}}, 3, 3),
		scalarFunction(scalar{name: "repeat", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, err := ToText(ctx, args[0], exprs[0].Type())
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
			return strings.Repeat(s, int(n)), memory.Admits(len(s) * int(n))
		}}, 2, 2),
		scalarFunction(scalar{name: "space", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			n, err := toInt(ctx, args[0])
			if err != nil {
				return nil, err
			}
			if n > maxFunctionBytes {
				return tooLong(ctx, "space"), nil
			}
			return strings.Repeat(" ", int(max(0, n))), memory.Admits(int(n))
		}}, 1, 1),
		scalarFunction(scalar{name: "lpad", strict: true, typeOf: fixed(types.LongText), eval: pad(true)}, 3, 3),
		scalarFunction(scalar{name: "rpad", strict: true, typeOf: fixed(types.LongText), eval: pad(false)}, 3, 3),
	}...)
}

// longText is v as the engine converts it to text.
func longText(ctx *sql.Context, v any) (string, error) {
	switch v := v.(type) {
	case types.Timespan:
		return v.String(), nil
	case sql.JSONWrapper:
		text, err := sqltable.TextOfJSON(v)
		return string(text), err
	}
	c, _, err := types.LongText.Convert(ctx, doubleText(v))
	if err != nil {
		return "", err
	}
	text, _, err := sql.Unwrap[string](ctx, c)
	return text, err
}

// joined is the arguments that are not NULL, with separator between them.
func joined(ctx *sql.Context, memory Memory, name string, args []any, separator string) (any, error) {
	parts := make([]string, 0, len(args))
	size := 0
	for _, a := range args {
		if a == nil {
			continue
		}
		text, err := longText(ctx, a)
		if err != nil {
			return nil, err
		}
		if size += len(text) + len(separator); size > maxFunctionBytes {
			return tooLong(ctx, name), nil
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, separator), memory.Admits(size)
}

func pad(left bool) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		s, err := ToText(ctx, args[0], exprs[0].Type())
		if err != nil {
			return nil, err
		}
		n, err := toInt(ctx, args[1])
		if err != nil {
			return nil, err
		}
		fill, err := ToText(ctx, args[2], exprs[2].Type())
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
