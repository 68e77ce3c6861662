package sqlfn

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"millrace/pushdown/meaning"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"
)

// Arithmetic is the parsed form of a checked operation.
type Arithmetic struct {
	Op   string
	Text string
}

var _ sqlparser.Injectable = Arithmetic{}

func (a Arithmetic) String() string { return "(" + a.Text + ")" }

func (a Arithmetic) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 2 {
		return nil, fmt.Errorf("arithmetic: %d operands", len(children))
	}
	left, ok1 := children[0].(sql.Expression)
	right, ok2 := children[1].(sql.Expression)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("arithmetic: operands %T and %T", children[0], children[1])
	}
	left, right = asNumber(signed(left)), asNumber(signed(right))
	if a.Op == sqlparser.IntDivStr {
		return &checked{op: a.Op, left: left, right: right}, nil
	}
	// The engine's own rules stay for the rest: how many digits a division inside has depends on
	// what it finds around it, and intervals may hide behind parentheses.
	if wraps(left.Type(), right.Type()) || a.Op != sqlparser.ModStr && decimals(left, right) {
		return &checked{op: a.Op, left: left, right: right}, nil
	}
	return engineArithmetic(a.Op, left, right), nil
}

// decimals says whether arithmetic of these is exact and of decimals: the engine's has the type of one operand, which
// results do not fit.
func decimals(l, r sql.Expression) bool {
	if !types.IsDecimal(l.Type()) && !types.IsDecimal(r.Type()) {
		return false
	}
	for _, e := range []sql.Expression{l, r} {
		if t := e.Type(); !types.IsDecimal(t) && !types.IsInteger(t) || meaning.HasDivision(e) {
			return false
		}
	}
	return true
}

// wraps says whether arithmetic of these types can leave its range unnoticed: of integers, and of
// doubles with any number.
func wraps(l, r sql.Type) bool {
	if types.IsInteger(l) && types.IsInteger(r) {
		return true
	}
	return types.IsNumber(l) && types.IsNumber(r) && (types.IsFloat(l) || types.IsFloat(r))
}

func engineArithmetic(op string, left, right sql.Expression) sql.Expression {
	switch op {
	case sqlparser.MinusStr:
		return expression.NewMinus(left, right)
	case sqlparser.MultStr:
		return expression.NewMult(left, right)
	case sqlparser.ModStr:
		return expression.NewMod(left, right)
	default:
		return expression.NewPlus(left, right)
	}
}

// checked is +, - or * whose integers do not wrap around and whose doubles do not become infinite; DIV,
// and %, which are exact.
type checked struct {
	op          string
	left, right sql.Expression
}

var (
	_ sql.Expression         = (*checked)(nil)
	_ sql.CollationCoercible = (*checked)(nil)
)

func (c *checked) Resolved() bool             { return c.left.Resolved() && c.right.Resolved() }
func (c *checked) IsNullable() bool           { return c.left.IsNullable() || c.right.IsNullable() }
func (c *checked) Children() []sql.Expression { return []sql.Expression{c.left, c.right} }
func (c *checked) String() string             { return fmt.Sprintf("(%s %s %s)", c.left, c.op, c.right) }

// Type is MySQL's for integers, the engine's for the rest.
func (c *checked) Type() sql.Type {
	l, r := c.left.Type(), c.right.Type()
	if c.op == sqlparser.IntDivStr || types.IsInteger(l) && types.IsInteger(r) {
		// The sign of a remainder is the dividend's.
		if types.IsUnsigned(l) || types.IsUnsigned(r) && c.op != sqlparser.ModStr {
			return types.Uint64
		}
		return types.Int64
	}
	if decimals(c.left, c.right) {
		return decimalResult(c.op, l, r)
	}
	return engineArithmetic(c.op, c.left, c.right).Type()
}

// decimalResult is MySQL's type of +, - and * of exact numbers.
func decimalResult(op string, l, r sql.Type) sql.Type {
	lp, ls, _ := exactDigits(l)
	rp, rs, _ := exactDigits(r)
	precision, scale := lp+rp, ls+rs
	if op != sqlparser.MultStr {
		scale = max(ls, rs)
		precision = max(lp-ls, rp-rs) + 1 + scale
	}
	scale = min(scale, types.DecimalTypeMaxScale)
	return types.MustCreateDecimalType(uint8(min(precision, types.DecimalTypeMaxPrecision)), uint8(scale))
}

func (c *checked) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (c *checked) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 2)
	}
	return &checked{c.op, children[0], children[1]}, nil
}

func (c *checked) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := c.left.Eval(ctx, row)
	if err != nil || l == nil {
		return nil, err
	}
	r, err := c.right.Eval(ctx, row)
	if err != nil || r == nil {
		return nil, err
	}
	if a, ok := integerOf(l); ok {
		if b, ok := integerOf(r); ok {
			return c.integers(ctx, a, b)
		}
	}
	if c.op == sqlparser.IntDivStr {
		return c.quotient(ctx, l, r)
	}
	if c.Type() == types.Float64 && c.op != sqlparser.ModStr {
		if a, ok := floatOf(l); ok {
			if b, ok := floatOf(r); ok {
				return c.finite(floats(c.op, a, b))
			}
		}
	}
	if a, ok := l.(decimal.Decimal); ok && c.op != sqlparser.ModStr {
		if b, ok := exactOf(r); ok {
			return decimalArithmetic(c.op, a, b), nil
		}
	} else if b, ok := r.(decimal.Decimal); ok && c.op != sqlparser.ModStr {
		if a, ok := exactOf(l); ok {
			return decimalArithmetic(c.op, a, b), nil
		}
	}
	// Text, dates: the engine's own rules, on the values at hand.
	v, err := engineArithmetic(c.op, expression.NewLiteral(l, c.left.Type()), expression.NewLiteral(r, c.right.Type())).Eval(ctx, nil)
	if f, ok := v.(float64); ok && err == nil {
		return c.finite(f)
	}
	return v, err
}

// floatOf is a number as a DOUBLE.
func floatOf(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case decimal.Decimal:
		f, _ := v.Float64()
		return f, true
	}
	w, ok := integerOf(v)
	if w.negative {
		return -float64(w.abs), ok
	}
	return float64(w.abs), ok
}

// exactOf is an exact number as a decimal.
func exactOf(v any) (decimal.Decimal, bool) {
	if d, ok := v.(decimal.Decimal); ok {
		return d, true
	}
	w, ok := integerOf(v)
	if !ok {
		return decimal.Decimal{}, false
	}
	d := decimal.NewFromBigInt(new(big.Int).SetUint64(w.abs), 0)
	if w.negative {
		d = d.Neg()
	}
	return d, true
}

func decimalArithmetic(op string, a, b decimal.Decimal) decimal.Decimal {
	switch op {
	case sqlparser.MinusStr:
		return a.Sub(b)
	case sqlparser.MultStr:
		return a.Mul(b)
	default:
		return a.Add(b)
	}
}

func floats(op string, a, b float64) float64 {
	switch op {
	case sqlparser.MinusStr:
		return a - b
	case sqlparser.MultStr:
		return a * b
	default:
		return a + b
	}
}

func (c *checked) finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, sqlerr.New(1690, "22003", "DOUBLE value is out of range in '%s'", c)
	}
	return f + 0, nil // no -0, which groups would tell from 0
}

// wide is an integer of 65 bits: a sign and a magnitude.
type wide struct {
	negative bool
	abs      uint64
	unsigned bool // came from an unsigned type
}

func integerOf(v any) (wide, bool) {
	signed := func(n int64) (wide, bool) {
		if n < 0 {
			return wide{negative: true, abs: uint64(-(n + 1)) + 1}, true
		}
		return wide{abs: uint64(n)}, true
	}
	switch v := v.(type) {
	case int64:
		return signed(v)
	case int32:
		return signed(int64(v))
	case int16:
		return signed(int64(v))
	case int8:
		return signed(int64(v))
	case int:
		return signed(int64(v))
	case bool:
		return signed(int64(flag(v)))
	case uint64:
		return wide{abs: v, unsigned: true}, true
	case uint32:
		return wide{abs: uint64(v), unsigned: true}, true
	case uint16:
		return wide{abs: uint64(v), unsigned: true}, true
	case uint8:
		return wide{abs: uint64(v), unsigned: true}, true
	default:
		return wide{}, false
	}
}

// integers computes exactly and refuses what does not fit the result's type: BIGINT, or BIGINT
// UNSIGNED when one operand is unsigned.
func (c *checked) integers(ctx *sql.Context, a, b wide) (any, error) {
	var negative, overflow bool
	var abs uint64
	switch c.op {
	case sqlparser.MultStr:
		hi, lo := bits.Mul64(a.abs, b.abs)
		negative, abs, overflow = a.negative != b.negative && lo|hi != 0, lo, hi != 0
	case sqlparser.IntDivStr, sqlparser.ModStr:
		if b.abs == 0 {
			ctx.Warn(1365, "Division by 0")
			return nil, nil
		}
		if c.op == sqlparser.ModStr {
			abs, negative = a.abs%b.abs, a.negative
		} else {
			abs, negative = a.abs/b.abs, a.negative != b.negative
		}
		negative = negative && abs != 0
	default:
		if c.op == sqlparser.MinusStr {
			b.negative = !b.negative && b.abs != 0
		}
		switch {
		case a.negative == b.negative:
			var carry uint64
			abs, carry = bits.Add64(a.abs, b.abs, 0)
			negative, overflow = a.negative, carry != 0
		case a.abs >= b.abs:
			abs, negative = a.abs-b.abs, a.negative && a.abs != b.abs
		default:
			abs, negative = b.abs-a.abs, b.negative
		}
	}
	// The engine's type says what the client was told.
	if types.IsUnsigned(c.Type()) {
		if overflow || negative {
			return nil, sqlerr.New(1690, "22003", "BIGINT UNSIGNED value is out of range in '%s'", c)
		}
		return abs, nil
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if overflow || abs > limit {
		if (a.unsigned || b.unsigned) && !overflow && !negative {
			return abs, nil // the engine calls it signed; it converts when it is sent
		}
		return nil, sqlerr.New(1690, "22003", "BIGINT value is out of range in '%s'", c)
	}
	if negative {
		return -int64(abs-1) - 1, nil
	}
	return int64(abs), nil
}

// quotient is DIV where an operand is no integer: of decimals, cut off behind the point.
func (c *checked) quotient(ctx *sql.Context, l, r any) (any, error) {
	a, err := c.decimal(ctx, l, c.left.Type())
	if err != nil {
		return nil, err
	}
	b, err := c.decimal(ctx, r, c.right.Type())
	if err != nil {
		return nil, err
	}
	if b.IsZero() {
		ctx.Warn(1365, "Division by 0")
		return nil, nil
	}
	// Both as integers of one scale: shopspring's own quotients are rounded.
	scale := max(0, -a.Exponent(), -b.Exponent())
	q := new(big.Int).Quo(a.Shift(scale).BigInt(), b.Shift(scale).BigInt())
	w := wide{negative: q.Sign() < 0, abs: new(big.Int).Abs(q).Uint64()}
	if q.BitLen() > 64 {
		return nil, sqlerr.New(1690, "22003", "BIGINT value is out of range in '%s'", c)
	}
	return c.integers(ctx, w, wide{abs: 1})
}

// decimal is a value as a number, by the engine's rules for text and times.
func (c *checked) decimal(ctx *sql.Context, v any, t sql.Type) (decimal.Decimal, error) {
	if d, ok := exactOf(v); ok {
		return d, nil
	}
	switch v := v.(type) {
	case float64:
		return decimal.NewFromFloat(v), nil
	case float32:
		return decimal.NewFromFloat32(v), nil
	}
	n, err := expression.NewPlus(expression.NewLiteral(v, t), expression.NewLiteral(int8(0), types.Int8)).Eval(ctx, nil)
	if err != nil {
		return decimal.Decimal{}, err
	}
	switch n.(type) {
	case decimal.Decimal, float64, int64, uint64:
		return c.decimal(ctx, n, t)
	}
	return decimal.Decimal{}, sqlerr.New(1292, "22007", "Incorrect value for '%s': '%v'", c, v)
}
