package sqlfn

import (
	"unicode/utf8"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// searchFunctions look for text as its collation compares it: the engine's count bytes, or compare without case.
func searchFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "locate", strict: true, joins: true, typeOf: fixed(types.Int64), eval: locate}, 2, 3),
		scalarFunction(scalar{name: "instr", strict: true, joins: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			return locate(ctx, []any{args[1], args[0]}, []sql.Expression{exprs[1], exprs[0]})
		}}, 2, 2),
		scalarFunction(scalar{name: "field", joins: true, typeOf: fixed(types.Int64), eval: field}, 2, maxArguments),
	}
}

// collationOf all of exprs together.
func collationOf(ctx *sql.Context, exprs []sql.Expression) sql.CollationID {
	collation, level := sql.GetCoercibility(ctx, exprs[0])
	for _, e := range exprs[1:] {
		c, l := sql.GetCoercibility(ctx, e)
		collation, level = sql.ResolveCoercibility(collation, level, c, l)
	}
	return collation
}

// locate is the place of the first text in the second, in characters from 1, from the place in the third on; 0 for none.
func locate(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	part, err := ToText(ctx, args[0], exprs[0].Type())
	if err != nil {
		return nil, err
	}
	whole, err := ToText(ctx, args[1], exprs[1].Type())
	if err != nil {
		return nil, err
	}
	place := int64(1)
	if len(args) == 3 {
		if place, err = toInt(ctx, args[2]); err != nil {
			return nil, err
		}
	}
	if place < 1 {
		return int64(0), nil
	}
	starts := func(s string) bool { return len(s) >= len(part) && s[:len(part)] == part }
	if c := collationOf(ctx, exprs[:2]); FoldsText(c) {
		weight := c.Sorter()
		wanted := []rune(part)
		starts = func(s string) bool {
			for _, w := range wanted {
				r, n := utf8.DecodeRuneInString(s)
				if n == 0 || weight(r) != weight(w) {
					return false
				}
				s = s[n:]
			}
			return true
		}
	}
	for at := int64(1); ; at++ {
		if at >= place && starts(whole) {
			return at, nil
		}
		if whole == "" {
			return int64(0), nil
		}
		_, n := utf8.DecodeRuneInString(whole)
		whole = whole[n:]
	}
}

// field is which of the other arguments equals the first, from 1; 0 for none. All text is compared as text, all exact numbers
// exactly, and anything else as doubles.
func field(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	if args[0] == nil {
		return int64(0), nil
	}
	equal, err := fieldEquality(ctx, args[0], exprs)
	if err != nil {
		return nil, err
	}
	for i, a := range args[1:] {
		if a == nil {
			continue
		}
		if ok, err := equal(a, exprs[i+1].Type()); ok || err != nil {
			return int64(i + 1), err
		}
	}
	return int64(0), nil
}

func fieldEquality(ctx *sql.Context, wanted any, exprs []sql.Expression) (func(any, sql.Type) (bool, error), error) {
	texts, exacts := true, true
	for _, e := range exprs {
		t := e.Type()
		if t == types.Null {
			continue
		}
		texts = texts && !types.IsNumber(t)
		exacts = exacts && types.IsNumber(t) && !types.IsFloat(t)
	}
	switch {
	case texts:
		s, err := ToText(ctx, wanted, exprs[0].Type())
		if err != nil {
			return nil, err
		}
		collation := collationOf(ctx, exprs)
		return func(v any, t sql.Type) (bool, error) {
			other, err := ToText(ctx, v, t)
			if err != nil {
				return false, err
			}
			order, err := compare.Text(ctx, collation, s, other)
			return order == 0, err
		}, nil
	case exacts:
		if d, ok := exactOf(wanted); ok {
			return func(v any, _ sql.Type) (bool, error) {
				var other decimal.Decimal
				other, ok := exactOf(v)
				return ok && d.Equal(other), nil
			}, nil
		}
	}
	f, err := doubleOf(ctx, wanted, exprs[0].Type())
	if err != nil {
		return nil, err
	}
	return func(v any, t sql.Type) (bool, error) {
		other, err := doubleOf(ctx, v, t)
		return f == other, err
	}, nil
}

// doubleOf any value: of text, of the number that it begins with.
func doubleOf(ctx *sql.Context, v any, t sql.Type) (float64, error) {
	if types.IsNumber(t) {
		return toFloat(ctx, v)
	}
	s, err := ToText(ctx, v, t)
	if err != nil {
		return 0, err
	}
	return NumericPrefix(ctx, s), nil
}
