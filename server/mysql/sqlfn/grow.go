package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
)

// growingFunctions are the engine's that make text of text some times longer; set into each other
// they would fill any memory.
func growingFunctions(memory Memory) []sql.Function {
	var out []sql.Function
	for name, make := range map[string]func(sql.Expression) sql.Expression{
		"hex": function.NewHex, "quote": function.NewQuote, "to_base64": function.NewToBase64, "json_quote": json.NewJSONQuote,
	} {
		out = append(out, sql.Function1{Name: name, Fn: func(e sql.Expression) sql.Expression {
			return &growing{Expression: make(e), name: name, memory: memory}
		}})
	}
	return out
}

// growing bounds the result of another function.
type growing struct {
	sql.Expression
	name   string
	memory Memory
}

var (
	_ sql.FunctionExpression = (*growing)(nil)
	_ sql.CollationCoercible = (*growing)(nil)
)

func (g *growing) FunctionName() string { return g.name }
func (g *growing) Description() string  { return g.name }

func (g *growing) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.Expression)
}

func (g *growing) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	inner, err := g.Expression.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return &growing{inner, g.name, g.memory}, nil
}

func (g *growing) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := g.Expression.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v == nil && g.name == "quote" {
		return "NULL", nil // the word
	}
	size := textBytes(v)
	if size > maxFunctionBytes {
		return tooLong(ctx, g.name), nil
	}
	return v, g.memory.Admits(size)
}

// textBytes is the length of a text; 0 for anything else.
func textBytes(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	default:
		return 0
	}
}
