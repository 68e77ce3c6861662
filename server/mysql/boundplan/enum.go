package boundplan

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// fixEnum makes text, or a number, of the values of an ENUM that a function gets, as MySQL does: the engine's functions
// take the number of the value for it. Comparisons, arithmetic and most aggregates know better.
func fixEnum(_ *sql.Context, e sql.Expression) sql.Expression {
	number := false
	switch e := e.(type) {
	case *expression.Case, *expression.Between, *expression.Like, *plan.InSubquery:
	case *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual:
		// With text, by text; the engine looks for the text among the values.
		c := e.(expression.Comparer)
		if !sqlfn.IsText(c.Left()) && !sqlfn.IsText(c.Right()) {
			return nil
		}
	case sql.FunctionExpression:
		name := strings.ToLower(e.FunctionName())
		if strings.HasPrefix(name, "millrace ") {
			return nil // casts of our own
		}
		if _, aggregates := e.(sql.WindowAdaptableExpression); aggregates && !textAggregates[name] {
			return nil
		}
		number = numberFunctions[name]
	default:
		return nil
	}
	children := e.Children()
	out, changed := make([]sql.Expression, len(children)), false
	for i, c := range children {
		out[i] = c
		if c == nil || !c.Resolved() || !types.IsEnum(c.Type()) {
			continue
		}
		changed = true
		if number {
			out[i] = expression.NewPlus(c, expression.NewLiteral(int8(0), types.Int8))
		} else {
			out[i] = sqlfn.EnumText(c)
		}
	}
	if !changed {
		return nil
	}
	x, err := e.WithChildren(out...)
	if err != nil {
		return nil
	}
	return x
}

var (
	textAggregates  = map[string]bool{"min": true, "max": true, "group_concat": true, "json_arrayagg": true, "json_array": true, "jsonarray": true, "json_objectagg": true}
	numberFunctions = map[string]bool{
		"abs": true, "ceil": true, "ceiling": true, "floor": true, "round": true, "truncate": true, "sign": true, "mod": true, "pow": true,
		"power": true, "sqrt": true, "exp": true, "ln": true, "log": true, "log2": true, "log10": true, "format": true, "sin": true, "cos": true, "tan": true,
	}
)
