package sqlfn

import (
	"strings"

	"millrace/pushdown"

	"github.com/dolthub/go-mysql-server/sql"
)

var (
	_ pushdown.SumAggregate      = (*sum)(nil)
	_ pushdown.VarianceAggregate = (*variance)(nil)
	_ pushdown.ConcatAggregate   = (*groupConcat)(nil)
	_ pushdown.Checked           = (*checked)(nil)
)

// SumArgument implements pushdown.SumAggregate.
func (s *sum) SumArgument() (arg sql.Expression, avg, ok bool) {
	return s.child, s.avg, true
}

// VarianceArgument implements pushdown.VarianceAggregate.
func (v *variance) VarianceArgument() (arg sql.Expression, sample, root, ok bool) {
	return v.child, v.kind.sample, v.kind.root, v.window == nil
}

// Concat implements pushdown.ConcatAggregate. What DISTINCT compares several expressions by stays
// with the engine.
func (g *groupConcat) Concat(ctx *sql.Context) (pushdown.Concat, bool) {
	if g.key != nil || g.window != nil {
		return pushdown.Concat{}, false
	}
	b := concatBuffer{g: g}
	if err := b.readLimit(ctx); err != nil {
		return pushdown.Concat{}, false
	}
	return pushdown.Concat{
		Text: g.child, Distinct: g.distinct, Order: g.orders, Descends: g.descends,
		Separator: g.separator, MaxBytes: b.max,
	}, true
}

// Arithmetic implements pushdown.Checked.
func (c *checked) Arithmetic() (op string, left, right sql.Expression) {
	return strings.ToLower(c.op), c.left, c.right
}
