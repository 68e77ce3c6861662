package pushdown

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	vtmysql "github.com/dolthub/vitess/go/mysql"
)

// Names of the window functions. The planner takes those that it knows for such; the other two are told apart
// by their number of arguments (no statement can be written so).
const (
	callRowNumber   = "row_number"
	callRank        = "rank"
	callDenseRank   = "dense_rank"
	callPercentRank = "percent_rank"
	callCumeDist    = "cume_dist" // percent_rank of any argument
	callNtile       = "ntile"
	callLag         = "lag"
	callLead        = "lead"
	callFirstValue  = "first_value"
	callLastValue   = "last_value"
	callNthValue    = "nth_value" // first_value of two arguments
)

// windowCall is a function of a window that is no aggregate. The engine's own hide their arguments, and give
// some results types that are not MySQL's.
type windowCall struct {
	name   string
	args   []sql.Expression
	common func(a, b sql.Type) sql.Type
	window *sql.WindowDefinition
	id     sql.ColumnId
}

var (
	_ sql.WindowAggregation  = (*windowCall)(nil)
	_ sql.FunctionExpression = (*windowCall)(nil)
	_ sql.CollationCoercible = (*windowCall)(nil)
)

// WindowFunctions are the functions for the engine's registry that windows are made of here. common is the type that
// holds values of two types, for LAG and LEAD; nil: the first.
func WindowFunctions(common func(a, b sql.Type) sql.Type) []sql.Function {
	if common == nil {
		common = func(a, _ sql.Type) sql.Type { return a }
	}
	named := func(name string, least, most int, kind func(args []sql.Expression) string) sql.Function {
		return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) < least || len(args) > most {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), fmt.Sprintf("%d to %d", least, most), len(args))
			}
			c := &windowCall{name: name, args: args, common: common}
			if kind != nil {
				c.name = kind(args)
			}
			return c, nil
		}}
	}
	return []sql.Function{
		named(callRowNumber, 0, 0, nil),
		named(callRank, 0, 0, nil),
		named(callDenseRank, 0, 0, nil),
		named(callPercentRank, 0, 1, func(args []sql.Expression) string {
			if len(args) == 1 {
				return callCumeDist
			}
			return callPercentRank
		}),
		named(callNtile, 1, 1, nil),
		named(callLag, 1, 3, nil),
		named(callLead, 1, 3, nil),
		named(callFirstValue, 1, 2, func(args []sql.Expression) string {
			if len(args) == 2 {
				return callNthValue
			}
			return callFirstValue
		}),
		named(callLastValue, 1, 1, nil),
	}
}

func (c *windowCall) FunctionName() string { return c.name }
func (c *windowCall) Description() string  { return strings.ToUpper(c.name) }

//nolint:staticcheck // the engine's name
func (c *windowCall) Id() sql.ColumnId              { return c.id }
func (c *windowCall) Window() *sql.WindowDefinition { return c.window }

//nolint:staticcheck // the engine's name
func (c *windowCall) WithId(id sql.ColumnId) sql.IdExpression {
	n := *c
	n.id = id
	return &n
}

func (c *windowCall) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *c
	n.window = w
	return &n
}

func (c *windowCall) Resolved() bool {
	return expression.ExpressionsResolved(c.args...) && expression.ExpressionsResolved(c.window.ToExpressions()...)
}

// String names a call: the planner takes two of the same name for the same one.
func (c *windowCall) String() string {
	parts := make([]string, len(c.args))
	for i, a := range c.args {
		parts[i] = a.String()
	}
	return strings.TrimSpace(fmt.Sprintf("%s(%s) %s", c.name, strings.Join(parts, ", "), c.window.String()))
}

func (c *windowCall) Type() sql.Type {
	switch c.name {
	case callPercentRank, callCumeDist:
		return types.Float64
	case callLag, callLead:
		if len(c.args) == 3 && c.args[2].Type() != types.Null {
			return c.common(c.args[0].Type(), c.args[2].Type())
		}
		return c.args[0].Type()
	case callFirstValue, callLastValue, callNthValue:
		return c.args[0].Type()
	}
	return types.Uint64
}

func (c *windowCall) IsNullable() bool {
	switch c.name {
	case callLag, callLead, callFirstValue, callLastValue, callNthValue, callNtile:
		return true
	}
	return false
}

func (c *windowCall) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if len(c.args) == 0 || !types.IsText(c.Type()) {
		return sql.Collation_binary, 5
	}
	return sql.GetCoercibility(ctx, c.args[0])
}

func (c *windowCall) Children() []sql.Expression {
	return append(c.window.ToExpressions(), c.args...)
}

func (c *windowCall) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	n := *c
	at := len(children) - len(c.args)
	if at != len(c.window.ToExpressions()) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.args))
	}
	var err error
	if n.window, err = c.window.FromExpressions(children[:at]); err != nil {
		return nil, err
	}
	n.args = children[at:]
	return &n, nil
}

func (c *windowCall) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, sql.ErrWindowUnsupported.New(c.name)
}

// NewWindowFunction implements sql.WindowAdaptableExpression: the builder carries calls out, never the engine.
func (c *windowCall) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, sql.ErrWindowUnsupported.New(c.name)
}

// constant is an argument that is an integer from least on.
func (c *windowCall) constant(ctx *sql.Context, arg int, least int64) (int64, error) {
	wrong := vtmysql.NewSQLError(1210, "HY000", "Incorrect arguments to %s", c.name)
	if !types.IsInteger(c.args[arg].Type()) {
		return 0, wrong
	}
	v, err := c.args[arg].Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	d, ok := asDecimal(v)
	if !ok || !d.BigInt().IsInt64() || d.IntPart() < least {
		return 0, wrong
	}
	return d.IntPart(), nil
}
