package sqlfn

import (
	"math"
	"math/big"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// The planner knows aggregates by name, and types every reference to SUM and AVG as DOUBLE. Two
// of the names it knows, FIRST and LAST, are no functions of MySQL: ours are registered under
// them, and keep their own types.
const (
	NameSum = "first"
	NameAvg = "last"
)

func aggregateFunctions() []sql.Function {
	out := []sql.Function{
		sql.Function1{Name: NameSum, Fn: func(e sql.Expression) sql.Expression { return newSum(e, false) }},
		sql.Function1{Name: NameAvg, Fn: func(e sql.Expression) sql.Expression { return newSum(e, true) }},
	}
	for name, kind := range varianceKinds {
		out = append(out, sql.Function1{Name: name, Fn: func(e sql.Expression) sql.Expression { return newVariance(name, kind, e) }})
	}
	return out
}

// sumType is MySQL's: DECIMAL for exact arguments, DOUBLE for the rest.
func sumType(arg sql.Type, avg bool) sql.Type {
	precision, scale, exact := exactDigits(arg)
	if !exact {
		return types.Float64
	}
	if avg {
		// div_precision_increment more digits after the point.
		precision, scale = precision+4, scale+4
	} else {
		precision += 22
	}
	scale = min(scale, types.DecimalTypeMaxScale)
	precision = max(min(precision, types.DecimalTypeMaxPrecision), scale)
	t, err := types.CreateDecimalType(uint8(precision), uint8(scale))
	if err != nil {
		return types.Float64
	}
	return t
}

// exactDigits are the digits of a number type, in all and after the point.
func exactDigits(t sql.Type) (precision, scale int, exact bool) {
	switch {
	case types.IsDecimal(t):
		d := t.(sql.DecimalType)
		return int(d.Precision()), int(d.Scale()), true
	case types.IsBoolean(t), types.IsInteger(t), types.IsYear(t):
		return 20, 0, true
	case types.IsBit(t):
		return 20, 0, true
	default:
		return 0, 0, false
	}
}

// sum is SUM or AVG, exact where its argument is.
type sum struct {
	aggregate
	avg bool
}

var (
	_ sql.Aggregation        = (*sum)(nil)
	_ sql.FunctionExpression = (*sum)(nil)
)

func newSum(e sql.Expression, avg bool) *sum {
	s := &sum{avg: avg}
	s.child = asNumber(e)
	s.name = "sum"
	if avg {
		s.name = "avg"
	}
	return s
}

func (s *sum) Type() sql.Type { return sumType(s.child.Type(), s.avg) }

func (s *sum) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	base, err := s.aggregate.withChildren(children)
	if err != nil {
		return nil, err
	}
	return &sum{base, s.avg}, nil
}

//nolint:staticcheck // the engine's name
func (s *sum) WithId(id sql.ColumnId) sql.IdExpression {
	n := *s
	n.id = id
	return &n
}

func (s *sum) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *s
	n.window = w
	return &n
}

func (s *sum) NewBuffer() (sql.AggregationBuffer, error) {
	child, err := cloneExpr(s.child)
	if err != nil {
		return nil, err
	}
	return &buffer{child: child, acc: newSumAccumulator(s.child.Type(), s.avg)}, nil
}

func (s *sum) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, errWindowed(s.name)
}

// sumAccumulator adds exactly: integers in 64 bits until they overflow, then as decimals.
type sumAccumulator struct {
	avg   bool
	exact bool
	scale int32 // of the result
	typ   sql.Type
	count int64
	small int64           // part of the sum
	large decimal.Decimal // the rest of it
	float float64
}

func newSumAccumulator(arg sql.Type, avg bool) *sumAccumulator {
	a := &sumAccumulator{avg: avg, typ: arg}
	if d, ok := sumType(arg, avg).(sql.DecimalType); ok {
		a.exact, a.scale = true, int32(d.Scale())
	}
	return a
}

func (a *sumAccumulator) add(ctx *sql.Context, v any) error { return a.change(ctx, v, false) }

// remove takes a value out again; false when that would not be exact.
func (a *sumAccumulator) remove(ctx *sql.Context, v any) (bool, error) {
	if !a.exact {
		return false, nil
	}
	return true, a.change(ctx, v, true)
}

func (a *sumAccumulator) change(ctx *sql.Context, v any, negative bool) error {
	if !a.exact {
		f, err := toFloat(ctx, v)
		if err != nil {
			return err
		}
		a.float += f
		a.count++
		return nil
	}
	if negative {
		a.count--
	} else {
		a.count++
	}
	switch x := v.(type) {
	case int64:
		a.integer(x, negative)
	case int32:
		a.integer(int64(x), negative)
	case int16:
		a.integer(int64(x), negative)
	case int8:
		a.integer(int64(x), negative)
	case int:
		a.integer(int64(x), negative)
	case uint64:
		if x <= math.MaxInt64 {
			a.integer(int64(x), negative)
		} else {
			a.decimal(decimal.NewFromBigInt(new(big.Int).SetUint64(x), 0), negative)
		}
	case uint32:
		a.integer(int64(x), negative)
	case uint16:
		a.integer(int64(x), negative)
	case uint8:
		a.integer(int64(x), negative)
	case bool:
		a.integer(int64(flag(x)), negative)
	case decimal.Decimal:
		a.decimal(x, negative)
	default:
		s, err := ToText(ctx, v, a.typ)
		if err != nil {
			return err
		}
		d, err := decimal.NewFromString(strings.TrimSpace(s))
		if err != nil {
			return sqlerr.New(1366, "HY000", "Incorrect DECIMAL value: '%s'", s)
		}
		a.decimal(d, negative)
	}
	return nil
}

func (a *sumAccumulator) integer(x int64, negative bool) {
	if negative {
		if x == math.MinInt64 {
			a.decimal(decimal.NewFromInt(x), true)
			return
		}
		x = -x
	}
	s := a.small + x
	if (s > a.small) != (x > 0) && x != 0 { // overflow
		a.large = a.large.Add(decimal.NewFromInt(a.small))
		a.small = x
		return
	}
	a.small = s
}

func (a *sumAccumulator) decimal(x decimal.Decimal, negative bool) {
	if negative {
		x = x.Neg()
	}
	a.large = a.large.Add(x)
}

func (a *sumAccumulator) result() any {
	if a.count == 0 {
		return nil
	}
	if !a.exact {
		if a.avg {
			return a.float / float64(a.count)
		}
		return a.float
	}
	total := a.large.Add(decimal.NewFromInt(a.small))
	if a.avg {
		return total.DivRound(decimal.NewFromInt(a.count), a.scale)
	}
	if -total.Exponent() > a.scale { // of quotients, which show less than they have
		return total.Round(a.scale)
	}
	return total
}

// toFloat reads a number out of anything that is not exact; text that is none counts as 0,
// as in MySQL.
func toFloat(ctx *sql.Context, v any) (float64, error) {
	if j, ok := v.(sql.JSONWrapper); ok {
		x, err := j.ToInterface()
		if err != nil {
			return 0, err
		}
		v = x
	}
	switch x := v.(type) {
	case float64:
		return x, nil
	case float32:
		return float64(x), nil
	case nil, map[string]any, []any:
		return 0, nil
	}
	f, _, err := types.Float64.Convert(ctx, v)
	if err != nil {
		ctx.Warn(1292, "Truncated incorrect DOUBLE value: '%v'", v)
	}
	if x, ok := f.(float64); ok {
		return x, nil
	}
	return 0, nil
}
