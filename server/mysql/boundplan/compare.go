package boundplan

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// fixComparison makes a number of text that is compared with a number, as MySQL reads it: the
// engine takes text that does not end with its number for 0. nil: nothing to do.
func fixComparison(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.GreaterThan, *expression.GreaterThanOrEqual:
		c := e.(expression.Comparer)
		left, right := c.Left(), c.Right()
		sides := asTimes(ctx, left, right)
		switch {
		case sides != nil:
			left, right = sides[0], sides[1]
		case types.IsDecimal(left.Type()) && types.IsDecimal(right.Type()):
			return fixDecimals(c)
		case isNumber(left) && sqlfn.IsText(right):
			right = asNumber(ctx, right, left.Type())
		case sqlfn.IsText(left) && isNumber(right):
			left = asNumber(ctx, left, right.Type())
		case sqlfn.IsText(left) && sqlfn.IsText(right):
			return fixText(ctx, c)
		default:
			return nil
		}
		out, err := e.WithChildren(left, right)
		if err != nil {
			return nil
		}
		return out
	case *expression.InTuple:
		list, ok := e.Right().(expression.Tuple)
		if !ok {
			return nil
		}
		left := e.Left()
		if sides := asTimes(ctx, append([]sql.Expression{left}, list...)...); sides != nil {
			return expression.NewInTuple(sides[0], expression.Tuple(sides[1:]))
		}
		out := make(expression.Tuple, len(list))
		numbers, changed := 0, false
		for i, x := range list {
			out[i] = x
			if isNumber(left) && sqlfn.IsText(x) {
				out[i], changed = asNumber(ctx, x, left.Type()), true
			}
			if isNumber(x) {
				numbers++
			}
		}
		if sqlfn.IsText(left) && len(list) > 0 && numbers == len(list) {
			left, changed = asNumber(ctx, left, types.Float64), true
		}
		if !changed {
			return nil
		}
		return expression.NewInTuple(left, out)
	case *expression.Between:
		val, lower, upper := e.Val, e.Lower, e.Upper
		if sides := asTimes(ctx, val, lower, upper); sides != nil {
			return expression.NewBetween(sides[0], sides[1], sides[2])
		}
		switch {
		case types.IsDecimal(val.Type()) && (otherDigits(lower, val) || otherDigits(upper, val)):
			// The engine cuts digits of one or the other.
			at := func(c expression.Comparer) sql.Expression {
				if x := fixDecimals(c); x != nil {
					return x
				}
				return c
			}
			return expression.NewAnd(at(expression.NewGreaterThanOrEqual(val, lower)), at(expression.NewLessThanOrEqual(val, upper)))
		case isNumber(val) && (sqlfn.IsText(lower) || sqlfn.IsText(upper)):
			if sqlfn.IsText(lower) {
				lower = asNumber(ctx, lower, val.Type())
			}
			if sqlfn.IsText(upper) {
				upper = asNumber(ctx, upper, val.Type())
			}
		case sqlfn.IsText(val) && isNumber(lower) && isNumber(upper):
			val = asNumber(ctx, val, types.Float64)
		default:
			return nil
		}
		return expression.NewBetween(val, lower, upper)
	case *expression.Convert:
		return fixCast(ctx, e)
	case *aggregation.CountDistinct:
		return fixDistinct(ctx, e)
	case *expression.And, *expression.Or, *expression.Xor, *expression.Not, *expression.UnaryMinus,
		*expression.Arithmetic, *expression.Div, *expression.Mod, *expression.IntDiv:
		// Text as an operand or as a condition.
		children := e.Children()
		for _, x := range children {
			if _, interval := x.(*expression.Interval); interval {
				return nil // text is a time
			}
		}
		changed := false
		out := make([]sql.Expression, len(children))
		for i, x := range children {
			out[i] = x
			if sqlfn.IsText(x) {
				out[i], changed = asNumber(ctx, x, types.Float64), true
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
	default:
		return nil
	}
}

// equals is l = r, as fixComparison has it.
func equals(ctx *sql.Context, l, r sql.Expression) sql.Expression {
	x := expression.NewEquals(l, r)
	if fixed := fixComparison(ctx, x); fixed != nil {
		return fixed
	}
	return x
}

// equal says whether l = r is true of values of these types.
func equal(ctx *sql.Context, l any, lt sql.Type, r any, rt sql.Type) (bool, error) {
	same, err := sql.EvaluateCondition(ctx, equals(ctx, expression.NewLiteral(l, lt), expression.NewLiteral(r, rt)), nil)
	return sql.IsTrue(same), err
}

// fixCast makes a number of a time by its digits, where the engine counts seconds, and of text by the number that it begins with,
// where the engine has 0 if it does not end with it.
func fixCast(ctx *sql.Context, e *expression.Convert) sql.Expression {
	to, from := e.Type(), e.Child.Type()
	var number sql.Expression
	switch {
	case types.IsFloat(to) && sqlfn.IsText(e.Child):
		number = asNumber(ctx, e.Child, types.Float64)
	case (types.IsFloat(to) || types.IsInteger(to)) && (types.IsTime(from) || types.IsTimespan(from)):
		number = sqlfn.TimeNumber(e.Child)
	default:
		return nil
	}
	x, err := e.WithChildren(number)
	if err != nil {
		return nil
	}
	return x
}

// fixText has text compared as its collation compares. nil: nothing to do.
func fixText(ctx *sql.Context, c expression.Comparer) sql.Expression {
	var out sql.Expression
	for _, fix := range [...]func(*sql.Context, expression.Comparer) sql.Expression{fixPadding, fixFoldedEquality, fixExpanded} {
		if x := fix(ctx, c); x != nil {
			out, c = x, x.(expression.Comparer)
		}
	}
	return out
}

// otherDigits says whether a is a decimal, and no constant, with more or fewer digits behind the point than decimal b.
func otherDigits(a, b sql.Expression) bool {
	_, constant := a.(*expression.Literal)
	x, ok := a.Type().(sql.DecimalType)
	return ok && !constant && x.Scale() != b.Type().(sql.DecimalType).Scale()
}

// fixDecimals has the decimal of more digits on the left: the engine rounds the right one to the left one's, if that is
// of a column's type.
func fixDecimals(c expression.Comparer) sql.Expression {
	l, ok1 := c.Left().Type().(sql.DecimalType)
	r, ok2 := c.Right().Type().(sql.DecimalType)
	if !ok1 || !ok2 {
		return nil
	}
	if l.Scale() >= r.Scale() {
		return nil
	}
	_, constant := c.Right().(*expression.Literal)
	if _, column := c.Left().(*expression.GetField); column && constant {
		return nil // exact.Comparison knows better
	}
	switch c.(type) {
	case *expression.Equals:
		return expression.NewEquals(c.Right(), c.Left())
	case *expression.NullSafeEquals:
		return expression.NewNullSafeEquals(c.Right(), c.Left())
	case *expression.LessThan:
		return expression.NewGreaterThan(c.Right(), c.Left())
	case *expression.LessThanOrEqual:
		return expression.NewGreaterThanOrEqual(c.Right(), c.Left())
	case *expression.GreaterThan:
		return expression.NewLessThan(c.Right(), c.Left())
	case *expression.GreaterThanOrEqual:
		return expression.NewLessThanOrEqual(c.Right(), c.Left())
	}
	return nil
}

func isNumber(e sql.Expression) bool {
	t := e.Type()
	return t != nil && types.IsNumber(t) && !types.IsYear(t)
}

// asNumber is text as a number to compare with a value of type t: a constant as exactly as t
// is, as MySQL converts it; anything else as a double.
func asNumber(ctx *sql.Context, e sql.Expression, t sql.Type) sql.Expression {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return &textNumber{e}
	}
	s, ok := lit.Value().(string)
	if !ok {
		return e
	}
	if d, err := decimal.NewFromString(strings.TrimSpace(s)); err == nil && !types.IsFloat(t) && len(s) <= 65 && !strings.ContainsAny(s, "eE") {
		if types.IsDecimal(t) {
			return expression.NewLiteral(d, types.MustCreateDecimalType(65, uint8(min(30, max(0, -d.Exponent())))))
		}
		if d.IsInteger() {
			if i := d.BigInt(); i.IsInt64() {
				return expression.NewLiteral(i.Int64(), types.Int64)
			} else if i.IsUint64() {
				return expression.NewLiteral(i.Uint64(), types.Uint64)
			}
		}
	}
	return expression.NewLiteral(sqlfn.NumericPrefix(ctx, s), types.Float64)
}

// textNumber is the number that text begins with.
type textNumber struct{ text sql.Expression }

var (
	_ sql.Expression         = (*textNumber)(nil)
	_ sql.CollationCoercible = (*textNumber)(nil)
)

func (n *textNumber) Resolved() bool             { return n.text.Resolved() }
func (n *textNumber) IsNullable() bool           { return n.text.IsNullable() }
func (n *textNumber) Children() []sql.Expression { return []sql.Expression{n.text} }
func (n *textNumber) String() string             { return n.text.String() }
func (n *textNumber) Type() sql.Type             { return types.Float64 }

func (n *textNumber) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (n *textNumber) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &textNumber{children[0]}, nil
}

func (n *textNumber) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := n.text.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	s, err := sqlfn.ToText(ctx, v, n.text.Type())
	if err != nil {
		return nil, err
	}
	return sqlfn.NumericPrefix(ctx, s), nil
}
