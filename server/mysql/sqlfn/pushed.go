package sqlfn

import (
	"strings"

	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
)

var (
	_ meaning.Sum         = (*sum)(nil)
	_ meaning.Variance    = (*variance)(nil)
	_ meaning.GroupConcat = (*groupConcat)(nil)
	_ meaning.Checked     = (*checked)(nil)
)

// SumArgument implements meaning.Sum.
func (s *sum) SumArgument() (arg sql.Expression, avg, ok bool) {
	return s.child, s.avg, true
}

// VarianceArgument implements meaning.Variance.
func (v *variance) VarianceArgument() (arg sql.Expression, sample, root, ok bool) {
	return v.child, v.kind.sample, v.kind.root, v.window == nil
}

// Concat implements meaning.GroupConcat. What DISTINCT compares several expressions by stays
// with the engine.
func (g *groupConcat) Concat(ctx *sql.Context) (meaning.Concat, bool) {
	if g.key != nil || g.window != nil {
		return meaning.Concat{}, false
	}
	b := concatBuffer{g: g}
	if err := b.readLimit(ctx); err != nil {
		return meaning.Concat{}, false
	}
	return meaning.Concat{
		Text: g.child, Distinct: g.distinct, Order: g.orders, Descends: g.descends,
		Separator: g.separator, MaxBytes: b.max,
	}, true
}

// Arithmetic implements meaning.Checked.
func (c *checked) Arithmetic() (op string, left, right sql.Expression) {
	return strings.ToLower(c.op), c.left, c.right
}
