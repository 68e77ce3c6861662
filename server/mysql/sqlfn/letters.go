package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// letterFunctions are the engine's, with text for their first arguments: numbers and times are refused, or the answer is said to
// be of their type.
func letterFunctions() []sql.Function {
	var out []sql.Function
	for name, of := range map[string]func(sql.Expression) sql.Expression{
		"lower": function.NewLower, "lcase": function.NewLower, "upper": function.NewUpper, "ucase": function.NewUpper, "reverse": function.NewReverse,
	} {
		out = append(out, sql.Function1{Name: name, Fn: func(e sql.Expression) sql.Expression { return of(spelled(e)) }})
	}
	for name, of := range map[string]func(a, b sql.Expression) sql.Expression{"left": function.NewLeft, "right": function.NewRight} {
		out = append(out, sql.Function2{Name: name, Fn: func(a, b sql.Expression) sql.Expression { return of(spelled(a), b) }})
	}
	for _, name := range []string{"substring", "substr", "mid"} {
		out = append(out, sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) > 0 {
				args[0] = spelled(args[0])
			}
			return function.NewSubstring(args...)
		}})
	}
	return append(out,
		sql.Function3{Name: "substring_index", Fn: func(a, b, n sql.Expression) sql.Expression {
			return function.NewSubstringIndex(spelled(a), spelled(b), n)
		}},
	)
}

// spelled is e, or what it gives as text, if that is an ENUM's, a number or a time.
func spelled(e sql.Expression) sql.Expression {
	switch t := e.Type(); {
	case t == nil:
		return e
	case types.IsEnum(t):
		return EnumText(e)
	case types.IsNumber(t), types.IsTime(t), types.IsTimespan(t):
		return &scalar{name: "millrace text", args: []sql.Expression{e}, text: asArgument, strict: true, typeOf: fixed(types.LongText), eval: spell}
	}
	return e
}
