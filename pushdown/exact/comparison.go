package exact

import (
	"math"
	"strconv"
	"time"

	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// Filter makes the comparisons in a filter exact; nil when that changes nothing. (Most
// are already, by the server's use of Comparison; the planner folds constants and makes new
// comparisons after it.)
func Filter(ctx *sql.Context, e sql.Expression) sql.Expression {
	out, same, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if x := Comparison(ctx, e); x != nil {
			return x, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil || same == transform.SameTree {
		return nil
	}
	return out
}

// Comparison is comparison e of a column with a constant so that both sides have the
// column's type, where that loses nothing; nil when e is something else or exact
// already. The engine compares a BIGINT with an unsigned constant, and a DOUBLE with a
// decimal one, through conversions that round or overflow; MySQL does not.
func Comparison(ctx *sql.Context, e sql.Expression) sql.Expression {
	cmp, ok := e.(expression.Comparer)
	if !ok {
		return nil
	}
	left, right := cmp.Left(), cmp.Right()
	if list, ok := right.(expression.Tuple); ok {
		field, ok := left.(*expression.GetField)
		if !ok {
			return nil
		}
		return exactIn(ctx, e, field, list)
	}
	field, isLeft := left.(*expression.GetField)
	constant := right
	if !isLeft {
		if field, ok = right.(*expression.GetField); !ok {
			return nil
		}
		constant = left
	}
	lit, ok := literalOf(constant)
	if !ok {
		return nil
	}
	if x := exactLiteral(ctx, field.Type(), lit); x != nil {
		if isLeft {
			return withOperands(e, left, x)
		}
		return withOperands(e, x, right)
	}
	return exactOffGrid(e, field, lit, isLeft)
}

func withOperands(e sql.Expression, left, right sql.Expression) sql.Expression {
	switch e.(type) {
	case *expression.Equals:
		return expression.NewEquals(left, right)
	case *expression.NullSafeEquals:
		return expression.NewNullSafeEquals(left, right)
	case *expression.LessThan:
		return expression.NewLessThan(left, right)
	case *expression.LessThanOrEqual:
		return expression.NewLessThanOrEqual(left, right)
	case *expression.GreaterThan:
		return expression.NewGreaterThan(left, right)
	case *expression.GreaterThanOrEqual:
		return expression.NewGreaterThanOrEqual(left, right)
	}
	return nil
}

// exactOffGrid rewrites the comparison of an integer or decimal column with a number
// that is no value of its type, between two of them or beyond all: x < 1.5 is
// x <= 1. What is always true or false, NULL aside, becomes x = x or x < x.
func exactOffGrid(e sql.Expression, field *expression.GetField, lit *expression.Literal, isLeft bool) sql.Expression {
	t := field.Type()
	n, ok := number.Of(lit)
	if !ok || lit.Value() == nil || types.IsYear(t) {
		return nil
	}
	var lowest, highest decimal.Decimal
	scale := int32(0)
	switch {
	case types.IsSigned(t):
		lowest, highest = number.MinInt64, number.MaxInt64
	case types.IsUnsigned(t):
		highest = number.MaxUint64
	case types.IsDecimal(t) && !number.IsFloat(lit):
		d := t.(sql.DecimalType)
		scale = int32(d.Scale())
		unit := decimal.New(1, -scale)
		highest = decimal.New(1, int32(d.Precision())-scale).Sub(unit)
		lowest = highest.Neg()
	default:
		return nil
	}
	floor := n.Shift(scale).Floor().Shift(-scale)
	if floor.Equal(n) && n.GreaterThanOrEqual(lowest) && n.LessThanOrEqual(highest) {
		return nil // on the grid: exactLiteral's
	}
	var above bool // x > n is asked, or x >= n, which is the same
	switch e.(type) {
	case *expression.NullSafeEquals:
		return expression.NewLiteral(false, types.Boolean)
	case *expression.Equals:
		return expression.NewLessThan(field, field)
	case *expression.LessThan, *expression.LessThanOrEqual:
		above = !isLeft
	case *expression.GreaterThan, *expression.GreaterThanOrEqual:
		above = isLeft
	default:
		return nil
	}
	if n.LessThan(lowest) || n.GreaterThan(highest) {
		if above == n.LessThan(lowest) {
			return expression.NewEquals(field, field)
		}
		return expression.NewLessThan(field, field)
	}
	var bound sql.Expression
	switch {
	case types.IsSigned(t):
		bound = expression.NewLiteral(floor.IntPart(), types.Int64)
	case types.IsUnsigned(t):
		bound = expression.NewLiteral(floor.BigInt().Uint64(), types.Uint64)
	default:
		bound = expression.NewLiteral(floor, t)
	}
	if above {
		return expression.NewGreaterThan(field, bound)
	}
	return expression.NewLessThanOrEqual(field, bound)
}

func exactIn(ctx *sql.Context, e sql.Expression, field *expression.GetField, list expression.Tuple) sql.Expression {
	changed := false
	out := make(expression.Tuple, 0, len(list))
	for _, el := range list {
		if x := exactLiteral(ctx, field.Type(), el); x != nil {
			out, changed = append(out, x), true
			continue
		}
		if lit, ok := literalOf(el); ok && exactOffGrid(expression.NewEquals(field, lit), field, lit, true) != nil {
			changed = true // no value of the column equals it
			continue
		}
		out = append(out, el)
	}
	switch {
	case !changed:
		return nil
	case len(out) == 0:
		return expression.NewLessThan(field, field) // never true; NULL for NULL
	}
	if _, hashed := e.(*expression.HashInTuple); hashed {
		h, err := expression.NewHashInTuple(ctx, field, out)
		if err != nil {
			return nil
		}
		return h
	}
	return expression.NewInTuple(field, out)
}

// exactLiteral is constant e as a literal of type t, or of the type that compares with
// t exactly; nil when e is not a constant, has that type already, or does not
// convert without loss.
func exactLiteral(ctx *sql.Context, t sql.Type, e sql.Expression) sql.Expression {
	lit, ok := literalOf(e)
	if !ok || lit.Value() == nil {
		return nil
	}
	switch {
	case types.IsYear(t) || t == types.Float32:
		return nil
	case types.IsSigned(t):
		if _, done := lit.Value().(int64); done && lit.Type() == types.Int64 {
			return nil
		}
		if n, ok := number.Of(lit); ok && n.IsInteger() && n.GreaterThanOrEqual(number.MinInt64) && n.LessThanOrEqual(number.MaxInt64) {
			return expression.NewLiteral(n.IntPart(), types.Int64)
		}
	case types.IsUnsigned(t):
		if _, done := lit.Value().(uint64); done && lit.Type() == types.Uint64 {
			return nil
		}
		if n, ok := number.Of(lit); ok && n.IsInteger() && n.Sign() >= 0 && n.LessThanOrEqual(number.MaxUint64) {
			return expression.NewLiteral(n.BigInt().Uint64(), types.Uint64)
		}
	case types.IsDecimal(t):
		if lit.Type() == t {
			return nil
		}
		if number.IsFloat(lit) {
			return nil // MySQL compares as doubles
		}
		d := t.(sql.DecimalType)
		if n, ok := number.Of(lit); ok && n.Equal(n.Truncate(int32(d.Scale()))) &&
			n.Abs().LessThan(decimal.New(1, int32(d.Precision())-int32(d.Scale()))) {
			return expression.NewLiteral(n, t)
		}
	case t == types.Float64:
		if lit.Type() == types.Float64 {
			return nil
		}
		n, ok := number.Of(lit)
		if !ok {
			return nil
		}
		if f, err := strconv.ParseFloat(n.String(), 64); err == nil {
			if types.IsInteger(lit.Type()) && math.Abs(f) > 1<<53 {
				return nil
			}
			return expression.NewLiteral(f, types.Float64)
		}
	case types.IsTime(t):
		if s, ok := lit.Value().(string); ok && types.IsText(lit.Type()) {
			if at, ok := Datetime(ctx, s); ok {
				return expression.NewLiteral(at, types.DatetimeMaxPrecision)
			}
		}
	}
	return nil
}

// literalOf is a constant as a literal, also one with a minus before it, which the planner
// folds only in some places.
func literalOf(e sql.Expression) (*expression.Literal, bool) {
	minus, ok := e.(*expression.UnaryMinus)
	if !ok {
		lit, ok := e.(*expression.Literal)
		return lit, ok
	}
	lit, ok := minus.Child.(*expression.Literal)
	if !ok {
		return nil, false
	}
	switch v := lit.Value().(type) {
	case float64:
		return expression.NewLiteral(-v, types.Float64), true
	case bool, nil:
		return nil, false
	}
	n, ok := number.Of(lit)
	if !ok {
		return nil, false
	}
	n = n.Neg()
	if n.IsInteger() && n.GreaterThanOrEqual(number.MinInt64) && n.LessThanOrEqual(number.MaxInt64) {
		return expression.NewLiteral(n.IntPart(), types.Int64), true
	}
	return expression.NewLiteral(n, types.InternalDecimalType), true
}

// Datetime reads a constant as the engine does when it compares it with a time.
func Datetime(ctx *sql.Context, v any) (time.Time, bool) {
	x, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
	if err != nil {
		return time.Time{}, false
	}
	t, ok := x.(time.Time)
	return t, ok
}
