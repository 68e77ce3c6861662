package sqlfn

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// varianceKind says which of the family: of the population or a sample, and its root or not.
type varianceKind struct{ sample, root bool }

// varianceKinds: the engine types them as their argument, which cuts a standard deviation of
// integers to one.
var varianceKinds = map[string]varianceKind{
	"std": {false, true}, "stddev": {false, true}, "stddev_pop": {false, true}, "stddev_samp": {true, true},
	"variance": {false, false}, "var_pop": {false, false}, "var_samp": {true, false},
}

type variance struct {
	aggregate
	kind varianceKind
}

var (
	_ sql.Aggregation        = (*variance)(nil)
	_ sql.FunctionExpression = (*variance)(nil)
)

func newVariance(name string, kind varianceKind, e sql.Expression) *variance {
	return &variance{aggregate: aggregate{name: name, child: asNumber(e)}, kind: kind}
}

func (v *variance) Type() sql.Type { return types.Float64 }

func (v *variance) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	base, err := v.aggregate.withChildren(children)
	if err != nil {
		return nil, err
	}
	return &variance{base, v.kind}, nil
}

//nolint:staticcheck // the engine's name
func (v *variance) WithId(id sql.ColumnId) sql.IdExpression {
	n := *v
	n.id = id
	return &n
}

func (v *variance) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *v
	n.window = w
	return &n
}

func (v *variance) NewBuffer() (sql.AggregationBuffer, error) {
	child, err := cloneExpr(v.child)
	if err != nil {
		return nil, err
	}
	return &buffer{child: child, acc: &varianceAccumulator{kind: v.kind}}, nil
}

func (v *variance) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, errWindowed(v.name)
}

// varianceAccumulator is Welford's: one pass, without the cancellation of sums of squares.
type varianceAccumulator struct {
	kind varianceKind
	n    float64
	mean float64
	m2   float64
}

func (a *varianceAccumulator) add(ctx *sql.Context, v any) error {
	x, err := toFloat(ctx, v)
	if err != nil {
		return err
	}
	a.n++
	d := x - a.mean
	a.mean += d / a.n
	a.m2 += d * (x - a.mean)
	return nil
}

func (a *varianceAccumulator) remove(*sql.Context, any) (bool, error) { return false, nil }

func (a *varianceAccumulator) result() any {
	n := a.n
	if a.kind.sample {
		n--
	}
	if n <= 0 {
		return nil
	}
	r := a.m2 / n
	if a.kind.root {
		r = math.Sqrt(r)
	}
	return r
}
