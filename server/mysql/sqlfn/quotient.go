package sqlfn

import (
	"fmt"
	"math/big"

	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"
)

const (
	// divPrecisionIncrement is how many more digits behind the point a quotient shows than its dividend.
	divPrecisionIncrement = 4
	// wordDigits is how many digits MySQL keeps in one word of a decimal. It computes quotients in whole words.
	wordDigits = 9
	// maxWords of a decimal; digits behind the point give way to those before it.
	maxWords = 9
)

// quotient is / of exact numbers with all the digits that MySQL computes. It shows fewer, those of its type, but
// functions and aggregates around it work with all of them. The engine's / rounds first.
type quotient struct{ left, right sql.Expression }

var (
	_ sql.Expression         = (*quotient)(nil)
	_ sql.CollationCoercible = (*quotient)(nil)
	_ meaning.Quotient       = (*quotient)(nil)
)

// Unrounded is e with the digits of the quotients in it that e's own value is rounded to; nil when there are none.
func Unrounded(e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *expression.Div:
		left, right := asNumber(whole(x.LeftChild)), asNumber(whole(x.RightChild))
		if !types.IsDecimal(x.Type()) || !isExact(left.Type()) || !isExact(right.Type()) {
			return nil
		}
		return &quotient{left, right}
	case *expression.Arithmetic:
		switch x.Op {
		case sqlparser.PlusStr, sqlparser.MinusStr, sqlparser.MultStr:
		default:
			return nil
		}
		left, right := Unrounded(x.LeftChild), Unrounded(x.RightChild)
		if left == nil && right == nil {
			return nil
		}
		left, right = firstOf(left, x.LeftChild), firstOf(right, x.RightChild)
		if !decimals(left, right) {
			return nil
		}
		return &checked{op: x.Op, left: left, right: right}
	case *expression.UnaryMinus, *negative, *function.If, *function.IfNull, *function.Coalesce, *expression.Case:
		// They convert to the type that they have.
		if !types.IsDecimal(e.Type()) {
			return nil
		}
		children := e.Children()
		out, changed := make([]sql.Expression, len(children)), false
		for i, c := range children {
			out[i] = c
			if c == nil {
				continue
			}
			if u := Unrounded(c); u != nil {
				out[i], changed = &as{expression.UnaryExpression{Child: u}, widest}, true
			}
		}
		if !changed {
			return nil
		}
		if u, err := e.WithChildren(out...); err == nil {
			return &as{expression.UnaryExpression{Child: u}, e.Type()}
		}
	}
	return nil
}

func firstOf(a, b sql.Expression) sql.Expression {
	if a != nil {
		return a
	}
	return b
}

// whole is e, or e with all of its digits.
func whole(e sql.Expression) sql.Expression { return firstOf(Unrounded(e), e) }

// WithUnrounded is e, a function or aggregate that works with all digits of a quotient, over such ones; nil: nothing to
// do.
func WithUnrounded(e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *sum, *variance:
	case *scalar:
		switch x.name {
		case "round", "truncate", "floor", "ceil", "ceiling", NameCastDecimal:
		default:
			return nil
		}
	case *expression.Arithmetic:
		// Its quotients have all digits; those in the branches of its operands have not.
		if u := Unrounded(e); u != nil && branches(e) {
			return &rounded{expression.UnaryExpression{Child: u}}
		}
		return nil
	default:
		return nil
	}
	children := e.Children()
	if len(children) == 0 {
		return nil
	}
	arg := Unrounded(children[0])
	if arg == nil {
		return nil
	}
	out, err := e.WithChildren(append([]sql.Expression{arg}, children[1:]...)...)
	if err != nil {
		return nil
	}
	return out
}

// branches says whether there are such in e.
func branches(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		switch e.(type) {
		case *function.If, *function.IfNull, *function.Coalesce, *expression.Case:
			found = true
		}
		return !found
	})
	return found
}

func isExact(t sql.Type) bool {
	_, _, exact := exactDigits(t)
	return exact
}

func (q *quotient) Resolved() bool             { return q.left.Resolved() && q.right.Resolved() }
func (q *quotient) IsNullable() bool           { return true }
func (q *quotient) Children() []sql.Expression { return []sql.Expression{q.left, q.right} }
func (q *quotient) String() string             { return fmt.Sprintf("(%s / %s)", q.left, q.right) }

// Quotient implements meaning.Quotient.
func (q *quotient) Quotient() (left, right sql.Expression) { return q.left, q.right }

func (q *quotient) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (q *quotient) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(q, len(children), 2)
	}
	return &quotient{children[0], children[1]}, nil
}

// Type is MySQL's.
func (q *quotient) Type() sql.Type {
	lp, ls, _ := exactDigits(q.left.Type())
	_, rs, _ := exactDigits(q.right.Type())
	scale := min(ls+divPrecisionIncrement, types.DecimalTypeMaxScale)
	precision := max(scale, min(lp+rs+divPrecisionIncrement, types.DecimalTypeMaxPrecision))
	return types.MustCreateDecimalType(uint8(precision), uint8(scale))
}

func (q *quotient) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := q.left.Eval(ctx, row)
	if err != nil || l == nil {
		return nil, err
	}
	r, err := q.right.Eval(ctx, row)
	if err != nil || r == nil {
		return nil, err
	}
	a, ok1 := exactOf(l)
	b, ok2 := exactOf(r)
	if !ok1 || !ok2 {
		// What the engine holds for a number of that type otherwise: its own rules.
		return expression.NewDiv(expression.NewLiteral(l, q.left.Type()), expression.NewLiteral(r, q.right.Type())).Eval(ctx, nil)
	}
	if b.IsZero() {
		ctx.Warn(1365, "Division by 0")
		return nil, nil
	}
	return divide(a, decimalPlaces(a, q.left.Type()), b, decimalPlaces(b, q.right.Type())), nil
}

// divide cuts a/b off where MySQL does, whose operands have so many places behind the point: whole words of digits for each
// of them, and what is left of the increment.
func divide(a decimal.Decimal, aPlaces int32, b decimal.Decimal, bPlaces int32) decimal.Decimal {
	words := func(digits int32) int32 { return (max(0, digits) + wordDigits - 1) / wordDigits }
	inWords := (words(aPlaces) + words(bPlaces)) * wordDigits
	more := max(0, divPrecisionIncrement-(inWords-aPlaces-bPlaces))
	fraction := words(inWords + more)
	before := int32(a.NumDigits()) + a.Exponent() - int32(b.NumDigits()) - b.Exponent() + 1
	scale := min(fraction, maxWords-min(maxWords, words(before))) * wordDigits

	num, den := new(big.Int).Set(a.Coefficient()), new(big.Int).Set(b.Coefficient())
	ten := func(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	if shift := scale + a.Exponent() - b.Exponent(); shift >= 0 {
		num.Mul(num, ten(shift))
	} else {
		den.Mul(den, ten(-shift))
	}
	return decimal.NewFromBigInt(num.Quo(num, den), -scale)
}

// widest has all digits of any quotient.
var widest = types.MustCreateDecimalType(types.DecimalTypeMaxPrecision, types.DecimalTypeMaxScale)

// as says of its child that it has a type, whose values have fewer digits than it has.
type as struct {
	expression.UnaryExpression
	typ sql.Type
}

var (
	_ sql.Expression         = (*as)(nil)
	_ sql.CollationCoercible = (*as)(nil)
)

func (x *as) String() string { return x.Child.String() }
func (x *as) Type() sql.Type { return x.typ }

func (x *as) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *as) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &as{expression.UnaryExpression{Child: children[0]}, x.typ}, nil
}

func (x *as) Eval(ctx *sql.Context, row sql.Row) (any, error) { return x.Child.Eval(ctx, row) }

// rounded is a decimal with the digits of its type.
type rounded struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*rounded)(nil)
	_ sql.CollationCoercible = (*rounded)(nil)
)

func (x *rounded) String() string { return x.Child.String() }
func (x *rounded) Type() sql.Type { return x.Child.Type() }

func (x *rounded) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *rounded) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &rounded{expression.UnaryExpression{Child: children[0]}}, nil
}

func (x *rounded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if d, ok := v.(decimal.Decimal); ok && err == nil {
		if t, ok := x.Type().(sql.DecimalType); ok {
			return d.Round(int32(t.Scale())), nil
		}
	}
	return v, err
}
