package rowscan

import (
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"millrace/catalog/sqltable"
	"millrace/pushdown/compare"
	"millrace/pushdown/exact"
	"millrace/pushdown/number"
	"millrace/pushdown/why"
	"millrace/scan"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// converter turns SQL filters into the scan's. It accepts what means the same in
// both, by list; everything else has a reason why not.
type converter struct {
	ctx  *sql.Context
	acc  *Access
	zone *sqltable.Zone
}

// result of a conjunct: expr alone means that the scan evaluates it; with a reason,
// that the engine does, and expr (if any) only follows from it.
type result struct {
	expr   scan.Expr
	reason string
}

// conjunct converts a topmost conjunct.
func (c *converter) conjunct(e sql.Expression) result {
	x, reason := c.convert(e)
	if reason == why.NearChange {
		return result{x, reason}
	}
	if reason != "" {
		return result{nil, reason}
	}
	return result{x, ""}
}

// convert returns the scan's form of e, or the reason why there is none; with
// NearChange it returns what follows from e.
func (c *converter) convert(e sql.Expression) (scan.Expr, string) {
	switch e := e.(type) {
	case *expression.Literal:
		if v, ok := e.Value().(bool); ok {
			if v {
				return scan.Const{Value: scan.True}, ""
			}
			return scan.Const{Value: scan.False}, ""
		}
	case *expression.GetField:
		return c.truth(e)
	case *expression.And:
		args, reason := c.all(e.LeftChild, e.RightChild)
		return scan.And{Args: args}, reason
	case *expression.Or:
		args, reason := c.all(e.LeftChild, e.RightChild)
		return scan.Or{Args: args}, reason
	case *expression.Not:
		args, reason := c.all(e.Child)
		if reason != "" {
			return nil, reason
		}
		return scan.Not{Arg: args[0]}, ""
	case *expression.IsNull:
		col, _, ok := c.acc.Column(e.Child)
		if !ok {
			return nil, why.OtherTable
		}
		return scan.IsNull{Column: col}, ""
	case *expression.Like:
		return c.like(e)
	case *expression.InTuple:
		return c.in(e.Left(), e.Right())
	case *expression.HashInTuple:
		return c.in(e.Left(), e.Right())
	case *expression.NullSafeEquals:
		return c.nullSafe(e)
	case *expression.Equals:
		return c.comparison(e, scan.EQ)
	case *expression.LessThan:
		return c.comparison(e, scan.LT)
	case *expression.LessThanOrEqual:
		return c.comparison(e, scan.LE)
	case *expression.GreaterThan:
		return c.comparison(e, scan.GT)
	case *expression.GreaterThanOrEqual:
		return c.comparison(e, scan.GE)
	}
	return nil, why.NotSimple
}

// truth converts a number that stands as a condition.
func (c *converter) truth(e sql.Expression) (scan.Expr, string) {
	col, column, ok := c.acc.Column(e)
	if !ok {
		return nil, why.OtherTable
	}
	switch scan.DomainOf(c.acc.Table.Bound(), col) {
	case scan.Ints, scan.Uints:
		if types.IsInteger(column.Type) {
			return scan.Compare{Column: col, Op: scan.NE}, ""
		}
	}
	return nil, why.NotSimple
}

func (c *converter) all(es ...sql.Expression) ([]scan.Expr, string) {
	out := make([]scan.Expr, len(es))
	for i, e := range es {
		x, reason := c.convert(e)
		if reason != "" {
			if reason == why.NearChange {
				// Inside And, Or and Not what follows from a part does not follow from
				// the whole.
				reason = "the session time zone's offset changes nearby"
			}
			return nil, reason
		}
		out[i] = x
	}
	return out, ""
}

func (c *converter) comparison(e expression.Comparer, op scan.Op) (scan.Expr, string) {
	if x := c.always(e, op); x != nil {
		return x, ""
	}
	col, column, lit, flipped, reason := c.sides(e)
	if reason != "" {
		return nil, reason
	}
	if flipped {
		op = [...]scan.Op{scan.EQ, scan.NE, scan.GT, scan.GE, scan.LT, scan.LE}[op]
	}
	if lit.Value() == nil {
		return scan.Const{Value: scan.Null}, ""
	}
	if types.IsTextOnly(column.Type) {
		lc, lp := sql.GetCoercibility(c.ctx, e.Left())
		rc, rp := sql.GetCoercibility(c.ctx, e.Right())
		if coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp); coll != sql.Collation_utf8mb4_0900_bin {
			return nil, why.ByCollation
		}
	}
	return c.compare(col, column, op, lit)
}

// always converts x = x and x < x of one column, which package exact makes; else nil.
func (c *converter) always(e expression.Comparer, op scan.Op) scan.Expr {
	l, _, ok := c.acc.Column(e.Left())
	if !ok || op != scan.EQ && op != scan.LT {
		return nil
	}
	if r, _, ok := c.acc.Column(e.Right()); !ok || r != l {
		return nil
	}
	lowest := scan.Literal{Int: math.MinInt64, Decimal: lowestDecimal}
	switch scan.DomainOf(c.acc.Table.Bound(), l) {
	case scan.Ints, scan.Uints, scan.Decimals:
		if op == scan.EQ {
			op = scan.GE
		}
		return scan.Compare{Column: l, Op: op, Value: lowest}
	}
	return nil
}

// sides finds the column and the constant of a comparison.
func (c *converter) sides(e expression.Comparer) (col scan.Column, column *sql.Column, lit *expression.Literal, flipped bool, reason string) {
	l, r := e.Left(), e.Right()
	if _, ok := l.(*expression.Literal); ok {
		l, r, flipped = r, l, true
	}
	if _, ok := l.(*expression.GetField); !ok {
		return col, nil, nil, false, why.NotSimple
	}
	col, column, ok := c.acc.Column(l)
	if !ok {
		return col, nil, nil, false, why.OtherTable
	}
	lit, ok = r.(*expression.Literal)
	if !ok {
		return col, nil, nil, false, why.NotConstant
	}
	return col, column, lit, flipped, ""
}

func (c *converter) nullSafe(e *expression.NullSafeEquals) (scan.Expr, string) {
	col, _, lit, _, reason := c.sides(e)
	if reason != "" {
		return nil, reason
	}
	if lit.Value() == nil {
		return scan.IsNull{Column: col}, ""
	}
	eq, reason := c.comparison(e, scan.EQ)
	if reason != "" {
		if reason == why.NearChange {
			reason = "the session time zone's offset changes nearby"
		}
		return nil, reason
	}
	// NULL <=> 1 is false, not NULL.
	return scan.And{Args: []scan.Expr{scan.Not{Arg: scan.IsNull{Column: col}}, eq}}, ""
}

// in converts a list whose constants all have their place in the column's domain, or
// none anywhere.
func (c *converter) in(left, right sql.Expression) (scan.Expr, string) {
	if _, ok := left.(*expression.GetField); !ok {
		return nil, why.NotSimple
	}
	col, column, ok := c.acc.Column(left)
	if !ok {
		return nil, why.OtherTable
	}
	list, ok := right.(expression.Tuple)
	if !ok {
		return nil, why.NotConstant
	}
	if types.IsTime(column.Type) {
		return nil, why.NotComparable
	}
	if types.IsTextOnly(column.Type) && !compare.ByBytes(column.Type) {
		return nil, why.ByCollation
	}
	out := scan.In{Column: col}
	for _, el := range list {
		lit, ok := el.(*expression.Literal)
		if !ok {
			return nil, why.NotConstant
		}
		if lit.Value() == nil {
			out.Null = true
			continue
		}
		x, reason := c.compare(col, column, scan.EQ, lit)
		if reason != "" {
			return nil, reason
		}
		cmp := x.(scan.Compare)
		if cmp.Op == scan.EQ { // otherwise no value of the column can be equal
			out.Values = append(out.Values, cmp.Value)
		}
	}
	return out, ""
}

// compare converts column op constant; the result is a scan.Compare unless reason is
// NearChange.
func (c *converter) compare(col scan.Column, column *sql.Column, op scan.Op, lit *expression.Literal) (scan.Expr, string) {
	t := column.Type
	switch scan.DomainOf(c.acc.Table.Bound(), col) {
	case scan.Ints:
		switch {
		case types.IsTime(t):
			return c.compareTime(col, t, op, lit)
		case types.IsInteger(t) && !types.IsYear(t):
			n, ok := number.Of(lit)
			if !ok {
				return nil, why.OtherFamily
			}
			if n.LessThan(number.MinInt64) || n.GreaterThan(number.MaxInt64) {
				return nil, why.NotInDomain
			}
			op, bound := grid(op, n, 0)
			return scan.Compare{Column: col, Op: op, Value: scan.Literal{Int: clampInt(op, bound)}}, ""
		}
	case scan.Uints:
		n, ok := number.Of(lit)
		if !ok {
			return nil, why.OtherFamily
		}
		if n.Sign() < 0 || n.GreaterThan(number.MaxUint64) {
			return nil, why.NotInDomain
		}
		op, bound := grid(op, n, 0)
		v := uint64(0)
		if bound != nil {
			v = bound.Uint64()
		}
		return scan.Compare{Column: col, Op: op, Value: scan.Literal{Uint: v}}, ""
	case scan.Decimals:
		d, ok := t.(sql.DecimalType)
		if !ok {
			return nil, why.NotComparable
		}
		n, ok := number.Of(lit)
		if !ok || number.IsFloat(lit) {
			return nil, why.OtherFamily
		}
		if !n.Abs().LessThan(decimal.New(1, int32(d.Precision())-int32(d.Scale()))) {
			return nil, why.NotInDomain
		}
		op, bound := grid(op, n, int32(d.Scale()))
		v := lowestDecimal
		if bound != nil {
			v = decimal256.FromBigInt(bound)
		}
		return scan.Compare{Column: col, Op: op, Value: scan.Literal{Decimal: v}}, ""
	case scan.Floats:
		f, ok := lit.Value().(float64)
		if !ok || t != types.Float64 {
			return nil, why.OtherFamily
		}
		return scan.Compare{Column: col, Op: op, Value: scan.Literal{Float: f}}, ""
	case scan.Strings:
		s, ok := lit.Value().(string)
		if !ok || !types.IsTextOnly(lit.Type()) {
			return nil, why.OtherFamily
		}
		if !compare.ByBytes(t) {
			return nil, why.ByCollation
		}
		if !utf8.ValidString(s) {
			return nil, why.NotText
		}
		return scan.Compare{Column: col, Op: op, Value: scan.Literal{String: s}}, ""
	}
	return nil, why.NotComparable
}

// grid moves a constant onto the multiples of 10^-scale that the column's values
// are: x < 1.5 is x <= 1 for integers. bound nil: op is GE (always true) or LT
// (always false), NULL aside, against the lowest value.
func grid(op scan.Op, n decimal.Decimal, scale int32) (scan.Op, *big.Int) {
	shifted := n.Shift(scale)
	floor := shifted.Floor()
	if floor.Equal(shifted) {
		return op, floor.BigInt()
	}
	switch op {
	case scan.EQ:
		return scan.LT, nil
	case scan.NE:
		return scan.GE, nil
	case scan.LT, scan.LE:
		return scan.LE, floor.BigInt()
	}
	return scan.GT, floor.BigInt()
}

// lowestDecimal is below every DECIMAL(65).
var lowestDecimal = decimal256.FromBigInt(new(big.Int).Neg(new(big.Int).Exp(big.NewInt(10), big.NewInt(70), nil)))

func clampInt(_ scan.Op, bound *big.Int) int64 {
	if bound == nil {
		return -1 << 63
	}
	return bound.Int64()
}

// compareTime converts the comparison of a DATE, DATETIME or TIMESTAMP column. Rows show
// a TIMESTAMP in the session's wall time and the scan has instants, so the constant
// goes the other way, where the offset is the same all around it.
func (c *converter) compareTime(col scan.Column, t sql.Type, op scan.Op, lit *expression.Literal) (scan.Expr, string) {
	switch lit.Value().(type) {
	case string:
		if !types.IsText(lit.Type()) {
			return nil, why.OtherFamily
		}
	case time.Time:
	default:
		return nil, why.OtherFamily
	}
	at, ok := exact.Datetime(c.ctx, lit.Value())
	if !ok {
		return nil, why.OtherFamily
	}
	if !types.IsTimestampType(t) {
		unit := int64(1)
		if types.IsDateType(t) {
			unit = 24 * 3600 * 1e6
		}
		return compareMicros(col, op, at.UnixMicro(), unit), ""
	}
	if c.zone == nil {
		zone, err := sqltable.SessionZone(c.ctx)
		if err != nil {
			return nil, err.Error()
		}
		c.zone = zone
	}
	unit := int64(1)
	if col.Kind == scan.Timestamp {
		unit = 1000
	}
	earliest, latest, exact := c.zone.Instant(at)
	if exact {
		return compareMicros(col, op, earliest, unit), ""
	}
	switch op {
	case scan.LT, scan.LE:
		return compareMicros(col, scan.LE, latest, unit), why.NearChange
	case scan.GT, scan.GE:
		return compareMicros(col, scan.GE, earliest, unit), why.NearChange
	case scan.EQ:
		return scan.And{Args: []scan.Expr{
			compareMicros(col, scan.GE, earliest, unit), compareMicros(col, scan.LE, latest, unit),
		}}, why.NearChange
	}
	return nil, why.NearChange
}

// compareMicros compares a column that counts unit microseconds.
func compareMicros(col scan.Column, op scan.Op, micros, unit int64) scan.Compare {
	op, bound := grid(op, decimal.New(micros, 0).DivRound(decimal.New(unit, 0), 12), 0)
	return scan.Compare{Column: col, Op: op, Value: scan.Literal{Int: clampInt(op, bound)}}
}
