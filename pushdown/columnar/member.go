package columnar

import (
	"errors"
	"slices"

	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/number"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/shopspring/decimal"
)

// memberOf finds what e asks for where it stands as a condition: whether m is true, or with negated false.
func memberOf(ctx *sql.Context, e sql.Expression) (m meaning.Member, negated, ok bool) {
	switch e := e.(type) {
	case meaning.Membership:
		m, ok = e.Member(ctx)
		return m, false, ok
	case *expression.Not:
		m, negated, ok = memberOf(ctx, e.Child)
		return m, !negated, ok
	case *expression.Equals:
		x, lit := e.Left(), e.Right()
		if _, is := x.(*expression.Literal); is {
			x, lit = lit, x
		}
		l, is := lit.(*expression.Literal)
		if !is {
			return meaning.Member{}, false, false
		}
		n, is := number.Of(l)
		if !is || !n.IsZero() && !n.Equal(decimal.NewFromInt(1)) {
			return meaning.Member{}, false, false
		}
		m, negated, ok = memberOf(ctx, x)
		return m, negated != n.IsZero(), ok
	}
	return meaning.Member{}, false, false
}

// matched keeps the rows of r for which m is true, or with negated false.
func (p *planner) matched(r *relation, m meaning.Member, negated bool) (*relation, string) {
	on, kind := m.On, exec.Semi
	switch {
	case !negated:
		on = slices.Concat(on, m.Equal)
	case len(m.Equal) > 0 && len(on) == 0:
		on, kind = m.Equal, exec.AntiNull
	default:
		kind = exec.Anti
		for _, e := range m.Equal {
			on = append(on[:len(on):len(on)], expression.NewOr(e, expression.NewIsNull(e)))
		}
	}
	_, j, reason := p.matches(kind, r, m, on)
	if reason != "" {
		return nil, reason
	}
	return r.over(j), ""
}

// matches joins r with the query of m on conditions over both, and says what both are.
func (p *planner) matches(kind exec.JoinKind, r *relation, m meaning.Member, on []sql.Expression) (*relation, *exec.Join, string) {
	// The engine puts the row at hand in front of all rows of a subquery.
	query, err := fieldsBelow(m.Query, lessFields(r.width))
	if err != nil {
		return nil, nil, err.Error()
	}
	q, reason := p.beside(0, query)
	if reason != "" {
		return nil, nil, reason
	}
	conds := make([]sql.Expression, len(on))
	for i, c := range on {
		conds[i], err = withFields(c, func(f *expression.GetField) (sql.Expression, error) {
			if f.Index() < len(m.Row) {
				return m.Row[f.Index()], nil
			}
			return f.WithIndex(f.Index() - len(m.Row) + r.width), nil
		})
		if err != nil {
			return nil, nil, err.Error()
		}
	}
	return p.joined(kind, r, q.plain(), conds)
}

// withSubqueries adds what subqueries in exprs are for each row of r as columns, which computed finds.
func (p *planner) withSubqueries(r *relation, exprs ...sql.Expression) (*relation, string) {
	reason := ""
	for _, e := range exprs {
		sql.Inspect(e, func(e sql.Expression) bool {
			if reason != "" {
				return false
			}
			if _, there := r.computed(e); there {
				return false // it is grouped by
			}
			switch x := e.(type) {
			case meaning.LookedUp:
				r, reason = p.withValue(r, x)
			case meaning.Membership:
				if m, ok := x.Member(p.ctx); ok {
					r, reason = p.withMark(r, x, m)
				}
			default:
				return true
			}
			if reason != "" {
				p.note(e, reason)
			}
			return false
		})
	}
	return r, reason
}

// withValue adds the value of x.
func (p *planner) withValue(r *relation, x meaning.LookedUp) (*relation, string) {
	l := x.Looked(p.ctx)
	both, j, reason := p.matches(exec.LeftOuter, r, l.Member, l.On)
	if reason != "" {
		return nil, reason
	}
	v := both.cols[r.width+l.Column]
	if v.reason != "" {
		return nil, v.reason
	}
	value := v.typed().expr
	if l.Absent != nil {
		absent, ok := v.form.Constant(p.ctx, l.Absent)
		if !ok {
			return nil, why.NotType
		}
		value = exec.Case{When: []exec.When{{Cond: exec.IsNull{Arg: value}, Then: absent}}, Else: value, T: v.form.T}
	}
	out := &exec.Project{Child: j}
	for i, t := range r.node.Schema() {
		out.Exprs = append(out.Exprs, exec.Col{Index: i, T: t})
	}
	out.Exprs = append(out.Exprs, value)
	return r.with(out, relColumn{at: len(out.Exprs) - 1, form: v.form, of: x}), ""
}

// withMark adds whether x is true.
func (p *planner) withMark(r *relation, x meaning.Membership, m meaning.Member) (*relation, string) {
	on, kind := m.On, exec.Mark
	if len(m.Equal) > 0 {
		on, kind = m.Equal, exec.MarkNull
		if len(m.On) > 0 {
			return nil, "an IN that depends on its row"
		}
	}
	_, j, reason := p.matches(kind, r, m, on)
	if reason != "" {
		return nil, reason
	}
	return r.with(j, relColumn{at: len(r.node.Schema()), form: form.OfBool, of: x}), ""
}

// with is r with one more column, which node has behind those of r's.
func (r *relation) with(node exec.Node, c relColumn) *relation {
	return &relation{node: node, cols: append(r.cols[:len(r.cols):len(r.cols)], c), width: r.width}
}

// fieldsBelow is a subquery's plan with other expressions in place of the fields of its rows, and without what takes the row at hand off.
func fieldsBelow(n sql.Node, f func(*expression.GetField) (sql.Expression, error)) (sql.Node, error) {
	switch n := n.(type) {
	case *plan.StripRowNode:
		return fieldsBelow(n.Child, f)
	case *plan.SubqueryAlias:
		if !n.OuterScopeVisibility && !n.IsLateral {
			return n, nil // what is in it does not see the row at hand
		}
	}
	if children := n.Children(); len(children) > 0 {
		with := make([]sql.Node, len(children))
		for i, c := range children {
			var err error
			if with[i], err = fieldsBelow(c, f); err != nil {
				return nil, err
			}
		}
		var err error
		if n, err = n.WithChildren(with...); err != nil {
			return nil, err
		}
	}
	x, ok := n.(sql.Expressioner)
	if !ok {
		return n, nil
	}
	exprs := x.Expressions()
	with := make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		var err error
		if with[i], err = withFields(e, f); err != nil {
			return nil, err
		}
	}
	return x.WithExpressions(with...)
}

var errOuterColumn = errors.New("a column of an outer query")

// withFields is e with other expressions in place of its fields, in its subqueries, too.
func withFields(e sql.Expression, f func(*expression.GetField) (sql.Expression, error)) (sql.Expression, error) {
	out, _, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			x, err := f(e)
			return x, transform.NewTree, err
		case *plan.Subquery:
			query, err := fieldsBelow(e.Query, f)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return e.WithQuery(query), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, err
}
