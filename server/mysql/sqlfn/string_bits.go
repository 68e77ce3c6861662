package sqlfn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameBitNot stands for the operator ~, which the engine does not have. No user can write its name unquoted.
const NameBitNot = "millrace bit not"

// NameBitOperator stands for the operators of bits, with the operator after it: the engine's lose bits of unsigned numbers. No user can write its name
// unquoted.
const NameBitOperator = "millrace bit "

// bitOperators are MySQL's, whose results are unsigned.
func bitOperators() []sql.Function {
	var out []sql.Function
	for op, of := range map[string]func(a, b uint64) uint64{
		"&": func(a, b uint64) uint64 { return a & b }, "|": func(a, b uint64) uint64 { return a | b }, "^": func(a, b uint64) uint64 { return a ^ b },
		"<<": func(a, b uint64) uint64 { return a << b }, ">>": func(a, b uint64) uint64 { return a >> b },
	} {
		out = append(out, scalarFunction(scalar{name: NameBitOperator + op, strict: true, typeOf: fixed(types.Uint64), text: func(args []sql.Expression) string {
			return "(" + args[0].String() + " " + op + " " + args[1].String() + ")"
		}, eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			a, err := bitsOf(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			b, err := bitsOf(ctx, args[1], exprs[1].Type())
			return of(a, b), err
		}}, 2, 2))
	}
	return out
}

// bitsOf is v as the 64 bits that MySQL's operators and functions of bits work on: rounded, and negative numbers by their complement.
func bitsOf(ctx *sql.Context, v any, t sql.Type) (uint64, error) {
	v = numberOfTime(v, t)
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			return n, nil
		}
		v = NumericPrefix(ctx, s)
	}
	if w, ok := integerOf(v); ok {
		if w.negative {
			return -w.abs, nil
		}
		return w.abs, nil
	}
	if d, ok := exactOf(v); ok {
		n := d.Round(0).BigInt()
		switch {
		case n.IsInt64():
			return uint64(n.Int64()), nil
		case n.IsUint64():
			return n.Uint64(), nil
		case n.Sign() < 0:
			return 1 << 63, nil
		}
		return math.MaxUint64, nil
	}
	f, err := toFloat(ctx, v)
	if err != nil {
		return 0, err
	}
	switch f = math.RoundToEven(f); {
	case f >= math.MaxUint64:
		return math.MaxUint64, nil
	case f >= 0:
		return uint64(f), nil
	case f > math.MinInt64:
		return uint64(int64(f)), nil
	}
	return 1 << 63, nil
}

// numberOfTime is a time as the digits that it has as a number; anything else stays.
func numberOfTime(v any, t sql.Type) any {
	switch v := v.(type) {
	case time.Time:
		if types.IsDateType(t) {
			return v.Format("20060102")
		}
		return v.Format("20060102150405")
	case string:
		if _, ok := t.(sql.DatetimeType); ok {
			text, _, _ := strings.Cut(v, ".")
			return strings.NewReplacer("-", "", ":", "", " ", "").Replace(text)
		}
	case types.Timespan:
		text, _, _ := strings.Cut(v.String(), ".")
		return strings.ReplaceAll(text, ":", "")
	}
	return v
}

// stringBitFunctions write numbers as text, and bits as lists.
func stringBitFunctions(memory Memory) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: NameBitNot, strict: true, text: func(args []sql.Expression) string { return "~" + args[0].String() }, typeOf: fixed(types.Uint64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			n, err := bitsOf(ctx, args[0], exprs[0].Type())
			return ^n, err
		}}, 1, 1),
		scalarFunction(scalar{name: "oct", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			v := args[0]
			if _, ok := integerOf(v); !ok { // the digits that it begins with, as CONV reads them
				s, err := ToText(ctx, v, nil)
				if err != nil {
					return nil, err
				}
				if m := integerPrefix.FindStringSubmatch(s); m != nil {
					v = m[1]
				} else {
					v = "0"
				}
			}
			n, err := bitsOf(ctx, v, exprs[0].Type())
			return strconv.FormatUint(n, 8), err
		}}, 1, 1),
		scalarFunction(scalar{name: "insert", strict: true, joins: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, err := ToText(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			at, err := toInt(ctx, args[1])
			if err != nil {
				return nil, err
			}
			n, err := toInt(ctx, args[2])
			if err != nil {
				return nil, err
			}
			with, err := ToText(ctx, args[3], exprs[3].Type())
			if err != nil {
				return nil, err
			}
			return insertText(s, at, n, with), memory.Admits(len(s) + len(with))
		}}, 4, 4),
		scalarFunction(scalar{name: "make_set", joins: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			if args[0] == nil {
				return nil, nil
			}
			bits, err := bitsOf(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			var parts []string
			for i, a := range args[1:] {
				if i >= 64 || bits>>i&1 == 0 || a == nil {
					continue
				}
				s, err := ToText(ctx, a, exprs[i+1].Type())
				if err != nil {
					return nil, err
				}
				parts = append(parts, s)
			}
			out := strings.Join(parts, ",")
			return out, memory.Admits(len(out))
		}}, 2, maxArguments),
		scalarFunction(scalar{name: "export_set", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			bits, err := bitsOf(ctx, args[0], exprs[0].Type())
			if err != nil {
				return nil, err
			}
			words := [3]string{2: ","}
			for i := range min(3, len(args)-1) {
				if words[i], err = ToText(ctx, args[i+1], exprs[i+1].Type()); err != nil {
					return nil, err
				}
			}
			n := int64(64)
			if len(args) == 5 {
				if n, err = toInt(ctx, args[4]); err != nil {
					return nil, err
				}
				if n < 0 || n > 64 {
					n = 64
				}
			}
			size := max(len(words[0]), len(words[1])) + len(words[2])
			if size > maxFunctionBytes/64 {
				return tooLong(ctx, "export_set"), nil
			}
			parts := make([]string, n)
			for i := range parts {
				parts[i] = words[1-bits>>i&1]
			}
			return strings.Join(parts, words[2]), memory.Admits(size * int(n))
		}}, 3, 5),
		scalarFunction(scalar{name: "format_bytes", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			return inUnits(ctx, args[0], 4, []unit{{1 << 60, "EiB"}, {1 << 50, "PiB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "bytes"}})
		}}, 1, 1),
		scalarFunction(scalar{name: "format_pico_time", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			return inUnits(ctx, args[0], 3, []unit{{86_400e12, "d"}, {3_600e12, "h"}, {60e12, "min"}, {1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}})
		}}, 1, 1),
	}
}

// insertText puts with in the place of n characters of s from the one numbered at; outside of s, nothing happens.
func insertText(s string, at, n int64, with string) string {
	length := int64(utf8.RuneCountInString(s))
	if at < 1 || at > length {
		return s
	}
	if n < 0 || n > length-at+1 {
		n = length - at + 1
	}
	from, to, i := len(s), len(s), int64(1)
	for offset := range s {
		if i == at {
			from = offset
		}
		if i == at+n {
			to = offset
			break
		}
		i++
	}
	return s[:from] + with + s[to:]
}

type unit struct {
	size float64
	name string
}

// inUnits writes a number in the largest unit that it fills; units go from the largest down, and the last, which has no
// fractions, is written in so many columns.
func inUnits(ctx *sql.Context, v any, width int, units []unit) (any, error) {
	if s, ok := v.(string); ok {
		v = NumericPrefix(ctx, s)
	}
	f, err := toFloat(ctx, v)
	if err != nil {
		return nil, err
	}
	last := len(units) - 1
	for _, u := range units[:last] {
		if math.Abs(f) < u.size {
			continue
		}
		if x := f / u.size; math.Abs(x) < 100_000 {
			return fmt.Sprintf("%.2f %s", x, u.name), nil
		}
		return fmt.Sprintf("%.2e %s", f/u.size, u.name), nil
	}
	return fmt.Sprintf("%*d %s", width, int64(f), units[last].name), nil
}
