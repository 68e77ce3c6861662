package boundplan

import (
	"millrace/pushdown/exact"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// fixRows spells comparisons of rows, (a, b) = (c, d) and (a, b) IN ((c, d), …), as comparisons of their parts: the engine's
// are false, not NULL, where a part is NULL that decides. nil: nothing to do.
func fixRows(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *expression.InTuple:
		left, ok := e.Left().(expression.Tuple)
		list, isList := e.Right().(expression.Tuple)
		if !ok || !isList || len(left) < 2 {
			return nil
		}
		any := make([]sql.Expression, len(list))
		for i, x := range list {
			right, ok := x.(expression.Tuple)
			if !ok || len(right) != len(left) {
				return nil // the engine says what is wrong
			}
			if any[i] = equalRows(ctx, left, right); any[i] == nil {
				return nil
			}
		}
		return balanced(any, expression.NewOr)
	case *expression.Equals, *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.GreaterThan, *expression.GreaterThanOrEqual:
		c := e.(expression.Comparer)
		left, ok := c.Left().(expression.Tuple)
		right, both := c.Right().(expression.Tuple)
		if !ok || !both || len(left) != len(right) || len(left) < 2 {
			return nil
		}
		switch e.(type) {
		case *expression.Equals:
			return equalRows(ctx, left, right)
		case *expression.NullSafeEquals:
			all := make([]sql.Expression, len(left))
			for i := range left {
				all[i] = compared(ctx, expression.NewNullSafeEquals(left[i], right[i]))
			}
			return balanced(all, expression.NewAnd)
		}
		return orderedRows(ctx, e, left, right)
	}
	return nil
}

// equalRows is l = r part by part; nil where they do not fit together.
func equalRows(ctx *sql.Context, l, r expression.Tuple) sql.Expression {
	all := make([]sql.Expression, len(l))
	for i := range l {
		x, lok := l[i].(expression.Tuple)
		y, rok := r[i].(expression.Tuple)
		switch {
		case lok != rok || lok && len(x) != len(y):
			return nil
		case lok:
			if all[i] = equalRows(ctx, x, y); all[i] == nil {
				return nil
			}
		default:
			all[i] = compared(ctx, expression.NewEquals(l[i], r[i]))
		}
	}
	return balanced(all, expression.NewAnd)
}

// orderedRows is an inequality of rows: of their first parts, or of the rest where these are equal.
func orderedRows(ctx *sql.Context, e sql.Expression, l, r expression.Tuple) sql.Expression {
	last := len(l) - 1
	part := func(i int, strict bool) sql.Expression {
		var c expression.Comparer
		switch e.(type) {
		case *expression.LessThan:
			c = expression.NewLessThan(l[i], r[i])
		case *expression.LessThanOrEqual:
			if c = expression.NewLessThanOrEqual(l[i], r[i]); strict {
				c = expression.NewLessThan(l[i], r[i])
			}
		case *expression.GreaterThan:
			c = expression.NewGreaterThan(l[i], r[i])
		default:
			if c = expression.NewGreaterThanOrEqual(l[i], r[i]); strict {
				c = expression.NewGreaterThan(l[i], r[i])
			}
		}
		return compared(ctx, c)
	}
	out := part(last, false)
	for i := last - 1; i >= 0; i-- {
		out = expression.NewOr(part(i, true), expression.NewAnd(compared(ctx, expression.NewEquals(l[i], r[i])), out))
	}
	return out
}

// compared is a comparison as it is compared where it was written so.
func compared(ctx *sql.Context, e sql.Expression) sql.Expression {
	if x := fixComparison(ctx, e); x != nil {
		e = x
	}
	if x := exact.Comparison(ctx, e); x != nil {
		e = x
	}
	return e
}

// balanced joins expressions by a tree that is not deep.
func balanced(list []sql.Expression, join func(a, b sql.Expression) sql.Expression) sql.Expression {
	if len(list) == 1 {
		return list[0]
	}
	half := len(list) / 2
	return join(balanced(list[:half], join), balanced(list[half:], join))
}
