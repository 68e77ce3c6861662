package pushdown

import (
	"math"
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// exactNumber is a CASE, IF, IFNULL or COALESCE of exact numbers: a decimal with the digits of the branch
// that has the most, or an integer that holds all branches, as in MySQL. The engine gives each decimal with
// the digits of its own branch, and has the type of its first branch for some.
type exactNumber struct {
	inner sql.Expression
	typ   sql.Type // a DECIMAL, BIGINT or BIGINT UNSIGNED
}

var (
	_ sql.Expression         = (*exactNumber)(nil)
	_ sql.CollationCoercible = (*exactNumber)(nil)
)

// ExactNumber is e so corrected; nil when there is nothing to correct.
func ExactNumber(e sql.Expression) sql.Expression {
	values := branchesOf(e)
	if values == nil {
		return nil
	}
	whole, scale, decimals := 0, 0, false
	for _, v := range values {
		w, s, ok := digitsOf(v)
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
	return &exactNumber{e, t}
}

// ExactCoalesce is e, a COALESCE of exact numbers, as a decimal that holds all of its arguments; nil when there is nothing to
// correct. The engine has the type of the last one.
func ExactCoalesce(e sql.Expression) sql.Expression {
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
	return &exactNumber{e, t}
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
		return &exactNumber{e, types.MustCreateColumnDecimalType(20, 0)}
	}
	if same || e.Type() == want {
		return nil
	}
	return &exactNumber{e, want}
}

// smallLiteral says whether e is a whole number written down, which is a BIGINT in MySQL; the engine has the narrowest type for it.
func smallLiteral(e sql.Expression) bool {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	n, ok := uintOf(lit.Value())
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

// digitsOf an exact number, before and after the point; whole < 0: always NULL. false where they are not known.
func digitsOf(e sql.Expression) (whole, scale int, ok bool) {
	e = unalias(e)
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
	case *exactNumber, Checked:
	case *expression.Literal:
		d, ok := e.Value().(decimal.Decimal)
		if !ok {
			return 0, 0, false
		}
		return max(1, len(d.Coefficient().String())+int(d.Exponent())), max(0, -int(d.Exponent())), true
	case *expression.UnaryMinus:
		return digitsOf(e.Child)
	case *expression.GetField:
		if !fixedDigits(t) {
			return 0, 0, false
		}
	case sql.FunctionExpression:
		if e.FunctionName() == "abs" {
			return digitsOf(e.Children()[0])
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

// fixedDigits says whether decimals of type t are all spelled with the digits of the type; computed ones have
// their own.
func fixedDigits(t sql.Type) bool {
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

func (x *exactNumber) Resolved() bool             { return x.inner.Resolved() }
func (x *exactNumber) String() string             { return x.inner.String() }
func (x *exactNumber) Type() sql.Type             { return x.typ }
func (x *exactNumber) IsNullable() bool           { return true }
func (x *exactNumber) Children() []sql.Expression { return x.inner.Children() }

func (x *exactNumber) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *exactNumber) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	inner, err := x.inner.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return &exactNumber{inner, x.typ}, nil
}

func (x *exactNumber) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.value(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return numberOf(v, x.typ), nil
}

func (x *exactNumber) value(ctx *sql.Context, row sql.Row) (any, error) {
	c, ok := x.inner.(*function.Coalesce)
	if !ok {
		return x.inner.Eval(ctx, row)
	}
	// The engine rounds to the type that it has.
	for _, arg := range c.Children() {
		if v, err := arg.Eval(ctx, row); err != nil || v != nil {
			return v, err
		}
	}
	return nil, nil
}

// numberOf is v, an exact number, as one of type typ: a DECIMAL with all of its digits, or an integer. Others stay as they are.
func numberOf(v any, typ sql.Type) any {
	t, isDecimal := typ.(sql.DecimalType)
	if !isDecimal {
		if n, isInt := intOf(v); isInt {
			return n
		}
		if n, isUint := uintOf(v); isUint && typ == types.Int64 {
			return int64(n)
		} else if isUint {
			return n
		}
		return v
	}
	d, ok := v.(decimal.Decimal)
	if !ok {
		if n, isInt := intOf(v); isInt {
			d = decimal.NewFromInt(n)
		} else if n, isUint := uintOf(v); isUint {
			d = decimal.NewFromBigInt(new(big.Int).SetUint64(n), 0)
		} else {
			return v
		}
	}
	scale := int32(t.Scale())
	return decimal.NewFromBigInt(d.Round(scale).Shift(scale).BigInt(), -scale)
}

// exactNumber converts to a CASE whose branches have all digits.
func (p *planner) exactNumber(e *exactNumber, r *relation) (typed, string) {
	f, ok := formOf(e.typ)
	if !ok {
		return typed{}, notType
	}
	x, reason := p.native(e.inner, r, &f)
	if reason != "" {
		return typed{}, reason
	}
	if x.form.kind != f.kind || x.form.t.Scale != f.t.Scale {
		return typed{}, notType
	}
	return x, ""
}

// digitsOfMapped is the form of a decimal that the engine computes, where its digits are told by the expression; what
// else has decimals with digits of their own cannot be shown by vectors.
func (p *planner) digitsOfMapped(e sql.Expression, f form) (form, bool) {
	switch x := e.(type) {
	case *expression.Div, *exactNumber:
		return f, true
	case sql.FunctionExpression:
		switch x.FunctionName() {
		case "unix_timestamp":
			return f, true
		case "floor", "ceil", "ceiling":
			f.t = decimalType(maxDecimal128+1, 0)
			return f, true
		case "abs":
			_, s, ok := digitsOf(x.Children()[0])
			f.t = decimalType(max(int(f.sql.(sql.DecimalType).Precision()), maxDecimal128+1), s)
			return f, ok
		}
	}
	if c, ok := e.(*expression.Convert); ok && fixedDigits(c.Type()) {
		return f, true
	}
	return f, false
}
