package joinorder

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// What share of rows a condition is taken to leave: nothing is known of values. MySQL's shares without
// statistics are about these.
const (
	equalShare = 0.05
	nullShare  = 0.1
	rangeShare = 0.3
	otherShare = 0.5
)

// unknownRows is how many rows a table has that does not tell.
const unknownRows = 1000

// size is how many rows n gives, about, and how many it would without conditions.
func size(ctx *sql.Context, n sql.Node) (rows, all float64) {
	switch n := n.(type) {
	case *plan.Filter:
		rows, all = size(ctx, n.Child)
		return max(1, rows*share(n.Expression)), all
	case *plan.GroupBy:
		rows, _ = size(ctx, n.Child)
		if len(n.GroupByExprs) == 0 {
			rows = 1
		}
		rows = max(1, rows/10)
		return rows, rows
	case *plan.Limit:
		rows, all = size(ctx, n.Child)
		if lit, ok := n.Limit.(*expression.Literal); ok {
			if v, ok := lit.Value().(int64); ok {
				rows = min(rows, max(1, float64(v)))
			}
		}
		return rows, min(rows, all)
	case *plan.SetOp:
		l, _ := size(ctx, n.Left())
		r, _ := size(ctx, n.Right())
		return l + r, l + r
	case *plan.JoinNode:
		l, la := size(ctx, n.Left())
		r, ra := size(ctx, n.Right())
		switch {
		case n.Op.IsSemi(), n.Op.IsAnti():
			return max(1, l*otherShare), la
		case n.Op.IsCross():
			return l * r, la * ra
		}
		return max(l, r), max(la, ra)
	case sql.TableNode:
		return tableRows(ctx, n.UnderlyingTable())
	case *plan.Values:
		rows = float64(len(n.ExpressionTuples))
		return rows, rows
	}
	children := n.Children()
	if len(children) == 0 {
		return unknownRows, unknownRows
	}
	return size(ctx, children[0])
}

func tableRows(ctx *sql.Context, t sql.Table) (rows, all float64) {
	rows = unknownRows
	if s, ok := t.(sql.StatisticsTable); ok {
		if n, _, err := s.RowCount(ctx); err == nil {
			rows = max(1, float64(n))
		}
	}
	return rows, rows
}

// share is what share of rows a condition leaves.
func share(e sql.Expression) float64 {
	switch e := e.(type) {
	case *expression.And:
		return share(e.LeftChild) * share(e.RightChild)
	case *expression.Or:
		return min(1, share(e.LeftChild)+share(e.RightChild))
	case *expression.Not:
		return max(equalShare, 1-share(e.Child))
	case *expression.Equals, *expression.NullSafeEquals:
		return equalShare
	case *expression.IsNull:
		return nullShare
	case *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.Between, *expression.Like:
		return rangeShare
	case *expression.InTuple:
		return math.Min(otherShare, equalShare*float64(len(e.Right().Children())))
	}
	return otherShare
}
