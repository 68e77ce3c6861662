package exact

import (
	"math"

	"millrace/internal/sqlplan"
	"millrace/pushdown/meaning"
	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// Number is a CASE, IF, IFNULL or COALESCE of exact numbers: a decimal with the digits of the branch
// that has the most, or an integer that holds all branches, as in MySQL. The engine gives each decimal with
// the digits of its own branch, and has the type of its first branch for some.
type Number struct {
	Inner sql.Expression
	typ   sql.Type // a DECIMAL, BIGINT or BIGINT UNSIGNED
}

var (
	_ sql.Expression         = (*Number)(nil)
	_ sql.CollationCoercible = (*Number)(nil)
)

// Branches is e, a choice among exact numbers, as one that has the digits of all; nil when there is nothing to correct.
func Branches(e sql.Expression) sql.Expression {
	values := branchesOf(e)
	if values == nil {
		return nil
	}
	whole, scale, decimals := 0, 0, false
	for _, v := range values {
		w, s, ok := Digits(v)
		if !ok {
			return nil
		}
		if w < 0 {
			continue // NULL
		}
		decimals = decimals || types.IsDecimal(v.Type())
		whole, scale = max(whole, w), max(scale, s)
	}
	if !decimals {
		return exactInteger(e, values)
	}
	if whole+scale > types.DecimalTypeMaxPrecision {
		return nil
	}
	t, err := types.CreateColumnDecimalType(uint8(whole+scale), uint8(scale))
	if err != nil {
		return nil
	}
	return &Number{e, t}
}

// Coalesce is e, a COALESCE of exact numbers, as a decimal that holds all of its arguments; nil when there is nothing to
// correct. The engine has the type of the last one.
func Coalesce(e sql.Expression) sql.Expression {
	c, ok := e.(*function.Coalesce)
	if !ok || !types.IsDecimal(c.Type()) {
		return nil
	}
	whole, scale := 1, 0
	for _, v := range c.Children() {
		switch t := v.Type(); {
		case t == types.Null:
		case types.IsInteger(t) && !types.IsYear(t):
			whole = max(whole, 20)
		case types.IsDecimal(t):
			d := t.(sql.DecimalType)
			whole, scale = max(whole, int(d.Precision())-int(d.Scale())), max(scale, int(d.Scale()))
		default:
			return nil
		}
	}
	if int(c.Type().(sql.DecimalType).Scale()) == scale {
		return nil
	}
	t, err := types.CreateColumnDecimalType(uint8(min(whole+scale, types.DecimalTypeMaxPrecision)), uint8(scale))
	if err != nil {
		return nil
	}
	return &Number{e, t}
}

// exactInteger is e as an integer that holds all branches: a DECIMAL where BIGINT UNSIGNED meets what may be negative, as in MySQL. The
// engine has the type of its first branch for some, in which -1 beside an unsigned number is a large one.
func exactInteger(e sql.Expression, values []sql.Expression) sql.Expression {
	same, signed, unsigned, largest := true, false, false, false
	for _, v := range values {
		t := v.Type()
		if t == types.Null {
			continue
		}
		same = same && t == e.Type()
		if types.IsSigned(t) || smallLiteral(v) {
			signed = true
			continue
		}
		unsigned, largest = true, largest || t == types.Uint64
	}
	want := types.Int64
	switch {
	case unsigned && !signed:
		want = types.Uint64
	case largest:
		return &Number{e, types.MustCreateColumnDecimalType(20, 0)}
	}
	if same || e.Type() == want {
		return nil
	}
	return &Number{e, want}
}

// smallLiteral says whether e is a whole number written down, which is a BIGINT in MySQL; the engine has the narrowest type for it.
func smallLiteral(e sql.Expression) bool {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	n, ok := number.Uint(lit.Value())
	return ok && n <= math.MaxInt64
}

// branchesOf are the expressions whose values e passes on; nil for others.
func branchesOf(e sql.Expression) []sql.Expression {
	switch e := e.(type) {
	case *expression.Case:
		var out []sql.Expression
		for _, b := range e.Branches {
			out = append(out, b.Value)
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	case *function.If:
		return e.Children()[1:]
	case *function.IfNull:
		return e.Children()
	case *function.Coalesce:
		return e.Children()
	}
	return nil
}

// ownDigits are functions whose decimals have the digits of their type.
var ownDigits = map[string]bool{"floor": true, "ceil": true, "ceiling": true, "round": true, "greatest": true, "least": true, "millrace cast decimal": true}

// Digits of an exact number, before and after the point; whole < 0: always NULL. false where they are not known.
func Digits(e sql.Expression) (whole, scale int, ok bool) {
	e = sqlplan.Unalias(e)
	t := e.Type()
	if t == types.Null {
		return -1, 0, true
	}
	if types.IsInteger(t) && !types.IsYear(t) {
		return 20, 0, true
	}
	if !types.IsDecimal(t) {
		return 0, 0, false
	}
	switch e := e.(type) {
	case *Number, meaning.Checked:
	case *expression.Literal:
		d, ok := e.Value().(decimal.Decimal)
		if !ok {
			return 0, 0, false
		}
		return max(1, len(d.Coefficient().String())+int(d.Exponent())), max(0, -int(d.Exponent())), true
	case *expression.UnaryMinus:
		return Digits(e.Child)
	case *expression.GetField:
		if !FixedDigits(t) {
			return 0, 0, false
		}
	case sql.FunctionExpression:
		if e.FunctionName() == "abs" {
			return Digits(e.Children()[0])
		}
		if !ownDigits[e.FunctionName()] {
			return 0, 0, false
		}
	default:
		return 0, 0, false
	}
	d := t.(sql.DecimalType)
	return int(d.Precision()) - int(d.Scale()), int(d.Scale()), true
}

// FixedDigits says whether decimals of type t are all spelled with the digits of the type; computed ones have
// their own.
func FixedDigits(t sql.Type) bool {
	d, ok := t.(interface {
		Scale() uint8
		DecimalValueStringFixed(v decimal.Decimal) string
	})
	if !ok {
		return false
	}
	more := int32(d.Scale()) + 1
	return len(d.DecimalValueStringFixed(decimal.New(0, -more))) < int(more)+2
}

// SpelledWith says whether decimals with so many digits after the point are spelled with all of them in a
// column of type t.
func SpelledWith(t sql.Type, scale int32) bool {
	d, ok := t.(sql.DecimalType)
	return ok && (int32(d.Scale()) == scale || !FixedDigits(t))
}

func (x *Number) Resolved() bool             { return x.Inner.Resolved() }
func (x *Number) String() string             { return x.Inner.String() }
func (x *Number) Type() sql.Type             { return x.typ }
func (x *Number) IsNullable() bool           { return true }
func (x *Number) Children() []sql.Expression { return x.Inner.Children() }

func (x *Number) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *Number) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	inner, err := x.Inner.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return &Number{inner, x.typ}, nil
}

func (x *Number) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.value(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return number.InType(v, x.typ), nil
}

func (x *Number) value(ctx *sql.Context, row sql.Row) (any, error) {
	c, ok := x.Inner.(*function.Coalesce)
	if !ok {
		return x.Inner.Eval(ctx, row)
	}
	// The engine rounds to the type that it has.
	for _, arg := range c.Children() {
		if v, err := arg.Eval(ctx, row); err != nil || v != nil {
			return v, err
		}
	}
	return nil, nil
}
