package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// letterFunctions are the engine's, with text for an argument: of another type they would say that their answer is of that.
func letterFunctions() []sql.Function {
	var out []sql.Function
	for _, f := range []struct {
		name  string
		other func(sql.Expression) sql.Expression
	}{{"lower", function.NewLower}, {"lcase", function.NewLower}, {"upper", function.NewUpper}, {"ucase", function.NewUpper}, {"reverse", function.NewReverse}} {
		out = append(out, sql.Function1{Name: f.name, Fn: func(e sql.Expression) sql.Expression { return f.other(spelled(e)) }})
	}
	return out
}

// spelled is e, or what it gives as text.
func spelled(e sql.Expression) sql.Expression {
	switch t := e.Type(); {
	case types.IsEnum(t):
		return EnumText(e)
	case types.IsNumber(t): // times are package boundplan's, which knows their digits
		return &scalar{name: "millrace text", args: []sql.Expression{e}, text: asArgument, strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			return ToText(ctx, args[0], exprs[0].Type())
		}}
	}
	return e
}
