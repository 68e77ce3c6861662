package sqlfn

import (
	"fmt"
	"math"

	"millrace/pushdown/exact"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"
)

// branchFunctions pass one of their arguments on, and have the type that holds all of them: the engine's have that
// of the first. FLOOR and CEIL have the range of their argument.
func branchFunctions() []sql.Function {
	exact := func(e sql.Expression) sql.Expression {
		if x := exact.Branches(e); x != nil {
			return x
		}
		return e
	}
	out := []sql.Function{
		sql.Function3{Name: "if", Fn: func(a, b, c sql.Expression) sql.Expression { return exact(branchIf(a, b, c)) }},
		sql.Function2{Name: "ifnull", Fn: func(a, b sql.Expression) sql.Expression { return exact(branchIfNull(a, b)) }},
		sql.FunctionN{Name: "coalesce", Fn: func(args ...sql.Expression) (sql.Expression, error) {
			e, err := branchCoalesce(args...)
			if err != nil {
				return nil, err
			}
			return exact(e), nil
		}},
	}
	for name, up := range map[string]bool{"floor": false, "ceil": true, "ceiling": true} {
		out = append(out, scalarFunction(scalar{name: name, strict: true, typeOf: wholeType, eval: wholeNumber(up)}, 1, 1))
	}
	return out
}

// wholeType of FLOOR and CEIL.
func wholeType(args []sql.Expression) sql.Type {
	t := args[0].Type()
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t):
		return types.Int64
	case types.IsDecimal(t):
		d := t.(sql.DecimalType)
		return types.MustCreateColumnDecimalType(max(1, min(65, d.Precision()-d.Scale()+1)), 0)
	}
	return types.Float64
}

func wholeNumber(up bool) func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		if w, ok := integerOf(args[0]); ok {
			switch {
			case w.negative:
				return -int64(w.abs-1) - 1, nil
			case types.IsUnsigned(wholeType(exprs)):
				return w.abs, nil
			}
			return int64(w.abs), nil
		}
		if d, ok := args[0].(decimal.Decimal); ok {
			if up {
				return d.Ceil(), nil
			}
			return d.Floor(), nil
		}
		f, err := toFloat(ctx, args[0])
		if up {
			return math.Ceil(f), err
		}
		return math.Floor(f), err
	}
}

// Case is the parsed form of a CASE: its children are the value compared (if any), each condition with its result,
// and what ELSE gives (if any).
type Case struct {
	HasValue, HasElse bool
	Text              string
}

var _ sqlparser.Injectable = Case{}

func (c Case) String() string { return c.Text }

func (c Case) WithResolvedChildren(children []any) (any, error) {
	exprs := make([]sql.Expression, len(children))
	for i, x := range children {
		e, ok := x.(sql.Expression)
		if !ok {
			return nil, fmt.Errorf("case: operand %T", x)
		}
		exprs[i] = e
	}
	var value, otherwise sql.Expression
	if c.HasValue {
		value, exprs = exprs[0], exprs[1:]
	}
	if c.HasElse {
		otherwise, exprs = exprs[len(exprs)-1], exprs[:len(exprs)-1]
	}
	var branches []expression.CaseBranch
	for i := 0; i+1 < len(exprs); i += 2 {
		branches = append(branches, expression.CaseBranch{Cond: exprs[i], Value: exprs[i+1]})
	}
	e := expression.NewCase(value, branches, otherwise)
	if x := exact.Branches(e); x != nil {
		return x, nil
	}
	return e, nil
}
