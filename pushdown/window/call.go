package window

import (
	"fmt"
	"strings"

	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	vtmysql "github.com/dolthub/vitess/go/mysql"
)

// Names of the window functions. The planner takes those that it knows for such; the other two are told apart
// by their number of arguments (no statement can be written so).
const (
	RowNumber   = "row_number"
	Rank        = "rank"
	DenseRank   = "dense_rank"
	PercentRank = "percent_rank"
	CumeDist    = "cume_dist" // percent_rank of any argument
	Ntile       = "ntile"
	Lag         = "lag"
	Lead        = "lead"
	FirstValue  = "first_value"
	LastValue   = "last_value"
	NthValue    = "nth_value" // first_value of two arguments
)

// Call is a function of a window that is no aggregate. The engine's own hide their arguments, and give
// some results types that are not MySQL's.
type Call struct {
	Name   string
	Args   []sql.Expression
	common func(a, b sql.Type) sql.Type
	window *sql.WindowDefinition
	id     sql.ColumnId
}

var (
	_ sql.WindowAggregation  = (*Call)(nil)
	_ sql.FunctionExpression = (*Call)(nil)
	_ sql.CollationCoercible = (*Call)(nil)
)

// Functions are the functions for the engine's registry that windows are made of here. common is the type that
// holds values of two types, for LAG and LEAD; nil: the first.
func Functions(common func(a, b sql.Type) sql.Type) []sql.Function {
	if common == nil {
		common = func(a, _ sql.Type) sql.Type { return a }
	}
	named := func(name string, least, most int, kind func(args []sql.Expression) string) sql.Function {
		return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
			if len(args) < least || len(args) > most {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), fmt.Sprintf("%d to %d", least, most), len(args))
			}
			c := &Call{Name: name, Args: args, common: common}
			if kind != nil {
				c.Name = kind(args)
			}
			return c, nil
		}}
	}
	return []sql.Function{
		named(RowNumber, 0, 0, nil),
		named(Rank, 0, 0, nil),
		named(DenseRank, 0, 0, nil),
		named(PercentRank, 0, 1, func(args []sql.Expression) string {
			if len(args) == 1 {
				return CumeDist
			}
			return PercentRank
		}),
		named(Ntile, 1, 1, nil),
		named(Lag, 1, 3, nil),
		named(Lead, 1, 3, nil),
		named(FirstValue, 1, 2, func(args []sql.Expression) string {
			if len(args) == 2 {
				return NthValue
			}
			return FirstValue
		}),
		named(LastValue, 1, 1, nil),
	}
}

func (c *Call) FunctionName() string { return c.Name }
func (c *Call) Description() string  { return strings.ToUpper(c.Name) }

//nolint:staticcheck // the engine's name
func (c *Call) Id() sql.ColumnId              { return c.id }
func (c *Call) Window() *sql.WindowDefinition { return c.window }

//nolint:staticcheck // the engine's name
func (c *Call) WithId(id sql.ColumnId) sql.IdExpression {
	n := *c
	n.id = id
	return &n
}

func (c *Call) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *c
	n.window = w
	return &n
}

func (c *Call) Resolved() bool {
	return expression.ExpressionsResolved(c.Args...) && expression.ExpressionsResolved(c.window.ToExpressions()...)
}

// String names a call: the planner takes two of the same name for the same one.
func (c *Call) String() string {
	parts := make([]string, len(c.Args))
	for i, a := range c.Args {
		parts[i] = a.String()
	}
	return strings.TrimSpace(fmt.Sprintf("%s(%s) %s", c.Name, strings.Join(parts, ", "), c.window.String()))
}

func (c *Call) Type() sql.Type {
	switch c.Name {
	case PercentRank, CumeDist:
		return types.Float64
	case Lag, Lead:
		if len(c.Args) == 3 && c.Args[2].Type() != types.Null {
			return c.common(c.Args[0].Type(), c.Args[2].Type())
		}
		return c.Args[0].Type()
	case FirstValue, LastValue, NthValue:
		return c.Args[0].Type()
	}
	return types.Uint64
}

func (c *Call) IsNullable() bool {
	switch c.Name {
	case Lag, Lead, FirstValue, LastValue, NthValue, Ntile:
		return true
	}
	return false
}

func (c *Call) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if len(c.Args) == 0 || !types.IsText(c.Type()) {
		return sql.Collation_binary, 5
	}
	return sql.GetCoercibility(ctx, c.Args[0])
}

func (c *Call) Children() []sql.Expression {
	return append(c.window.ToExpressions(), c.Args...)
}

func (c *Call) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	n := *c
	at := len(children) - len(c.Args)
	if at != len(c.window.ToExpressions()) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.Args))
	}
	var err error
	if n.window, err = c.window.FromExpressions(children[:at]); err != nil {
		return nil, err
	}
	n.Args = children[at:]
	return &n, nil
}

func (c *Call) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, sql.ErrWindowUnsupported.New(c.Name)
}

// NewWindowFunction implements sql.WindowAdaptableExpression: the builder carries calls out, never the engine.
func (c *Call) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, sql.ErrWindowUnsupported.New(c.Name)
}

// Constant is an argument that is an integer from least on.
func (c *Call) Constant(ctx *sql.Context, arg int, least int64) (int64, error) {
	wrong := vtmysql.NewSQLError(1210, "HY000", "Incorrect arguments to %s", c.Name)
	if !types.IsInteger(c.Args[arg].Type()) {
		return 0, wrong
	}
	v, err := c.Args[arg].Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	d, ok := number.Decimal(v)
	if !ok || !d.BigInt().IsInt64() || d.IntPart() < least {
		return 0, wrong
	}
	return d.IntPart(), nil
}
