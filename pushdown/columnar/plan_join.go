package columnar

import (
	"slices"

	"millrace/pushdown/exact"
	"millrace/pushdown/execplan"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// join converts cross, inner, left, semi and anti joins.
func (p *planner) join(n *plan.JoinNode) (*relation, string) {
	kind := exec.Inner
	switch {
	case n.JoinType().IsLateral(), n.JoinType().IsUsing(), n.JoinType().IsFullOuter(), n.JoinType().IsRightOuter():
		return nil, "a kind of join that only the engine knows"
	case n.JoinType().IsExcludeNulls():
		return nil, "a join that treats NULL in its own way"
	case n.JoinType().IsLeftOuter():
		kind = exec.LeftOuter
	case n.JoinType().IsSemi():
		kind = exec.Semi
	case n.JoinType().IsAnti():
		kind = exec.Anti
	case n.JoinType().IsInner(), n.JoinType().IsCross(), n.JoinType() == plan.JoinTypeHash, n.JoinType() == plan.JoinTypeMerge:
	default:
		return nil, "a kind of join that only the engine knows"
	}
	l, reason := p.relation(lookedUp(n.Left()))
	if reason != "" {
		return nil, reason
	}
	r, reason := p.beside(p.lateral+l.width, lookedUp(n.Right()))
	if reason != "" {
		return nil, reason
	}
	l, r = l.plain(), r.plain()
	var on []sql.Expression
	if n.Filter != nil {
		filter, err := withFields(n.Filter, lessFields(p.lateral))
		if err != nil {
			return nil, err.Error()
		}
		on = expression.SplitConjunction(filter)
	}
	both, out, reason := p.joined(kind, l, r, on)
	if reason != "" {
		return nil, reason
	}
	if kind == exec.Semi || kind == exec.Anti {
		return l.over(out), ""
	}
	both.node = out
	return both, ""
}

// beside is the relation of n where the engine puts so many fields in front of what conditions of joins see: those of what
// stands left of n in the joins around it.
func (p *planner) beside(lateral int, n sql.Node) (*relation, string) {
	defer func(outer int) { p.lateral = outer }(p.lateral)
	p.lateral = lateral
	return p.relation(n)
}

// lessFields counts fields from a later one on.
func lessFields(n int) func(*expression.GetField) (sql.Expression, error) {
	return func(f *expression.GetField) (sql.Expression, error) {
		if f.Index() < n {
			return nil, errOuterColumn
		}
		return f.WithIndex(f.Index() - n), nil
	}
}

// joined joins l and r, which is plain, on conditions over the fields of both. both are these fields.
func (p *planner) joined(kind exec.JoinKind, l, r *relation, on []sql.Expression) (both *relation, out *exec.Join, reason string) {
	left := len(l.node.Schema())
	both = &relation{width: l.width + r.width, cols: slices.Concat(l.cols[:l.width], r.cols)}
	for i := l.width; i < both.width; i++ {
		both.cols[i].at += left
	}
	out = &exec.Join{Kind: kind, Left: l.node, Right: r.node}
	var rest exec.Expr
	for _, c := range on {
		if x := exact.Filter(p.ctx, c); x != nil {
			c = x
		}
		lk, rk, ok := p.joinKeys(c, both, l, r)
		if ok {
			out.LeftKeys, out.RightKeys = append(out.LeftKeys, lk), append(out.RightKeys, rk)
			continue
		}
		x, reason := p.condition(c, both)
		if reason != "" {
			p.note(c, reason)
			return nil, nil, reason
		}
		// What looks at one side only leaves rows out before they are matched.
		switch {
		case exec.Fallible(x), kind == exec.AntiNull, kind == exec.MarkNull:
			rest = and(rest, x)
		case onSide(x, left, left+r.width):
			out.Right = filtered(out.Right, moved(x, -left))
		case onSide(x, 0, left) && (kind == exec.Inner || kind == exec.Semi):
			out.Left = filtered(out.Left, x)
		default:
			rest = and(rest, x)
		}
	}
	out.Residual = rest
	if (kind == exec.AntiNull || kind == exec.MarkNull) && rest != nil {
		return nil, nil, why.NotFamilies
	}
	return both, out, ""
}

// lookedUp is what a hash join reads beneath its own table.
func lookedUp(n sql.Node) sql.Node {
	for {
		switch x := n.(type) {
		case *plan.HashLookup:
			n = x.Child
		case *plan.CachedResults:
			n = x.Child
		default:
			return n
		}
	}
}

// joinKeys are both sides of an equality whose one side is the left's and whose other is the right's.
func (p *planner) joinKeys(e sql.Expression, both, l, r *relation) (left, right exec.Expr, ok bool) {
	eq, isEq := e.(*expression.Equals)
	if !isEq {
		return nil, nil, false
	}
	side := func(e sql.Expression) int {
		at := 0
		for _, f := range columnsIn(e) {
			of := 1
			if f.Index() >= l.width {
				of = 2
			}
			if at != 0 && at != of {
				return 3
			}
			at = of
		}
		return at
	}
	a, b := side(eq.Left()), side(eq.Right())
	if a+b != 3 || a == 0 || b == 0 {
		return nil, nil, false
	}
	// Over both sides at once, to bring them to one type; then each over its own.
	x, reason := p.compareSides(eq, exec.EQ, both)
	if reason != "" {
		return nil, nil, false
	}
	cmp, isCmp := x.expr.(exec.Compare)
	if !isCmp || cmp.Op != exec.EQ || cmp.L.Type() != cmp.R.Type() {
		return nil, nil, false
	}
	if a == 2 {
		cmp.L, cmp.R = cmp.R, cmp.L
	}
	at := len(l.node.Schema())
	if onSide(cmp.L, 0, at) && onSide(cmp.R, at, at+r.width) {
		return cmp.L, moved(cmp.R, -at), true
	}
	return nil, nil, false
}

// onSide says that e reads only columns [from, to).
func onSide(e exec.Expr, from, to int) bool {
	ok := true
	execplan.Walk(e, func(e exec.Expr) {
		if c, is := e.(exec.Col); is && (c.Index < from || c.Index >= to) {
			ok = false
		}
	})
	return ok
}

// moved is e with its columns counted from elsewhere.
func moved(e exec.Expr, by int) exec.Expr {
	return execplan.Rewritten(e, func(c exec.Col) exec.Expr {
		c.Index += by
		return c
	})
}
