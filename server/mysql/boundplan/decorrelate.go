package boundplan

import (
	"millrace/pushdown/compare"
	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// A subquery that depends on the row around it only by conditions on its rows (WHERE b.k = a.k AND b.x > a.x) is read once, without
// these, and looked up by the columns that equal something of the row; the engine would read it again for every row.

// keyed is a correlated subquery without its correlation.
type keyed struct {
	inner []sql.Expression // columns of the subquery
	outer []sql.Expression // what each equals, of the row around it
	rest  []sql.Expression // other conditions that refer to both
	from  sql.Node         // what is read, with the conditions that are left
}

// splitCorrelation parts the conditions of node, a filter that lies in a subquery that refers to the
// columns outer of the queries around it. nil: it depends on them in another way too, or not at all.
func splitCorrelation(node sql.Node, outer sql.ColSet) *keyed {
	f, ok := node.(*plan.Filter)
	if !ok || refers(f.Child, outer) {
		return nil
	}
	k := &keyed{from: f.Child}
	var local []sql.Expression
	for _, c := range expression.SplitConjunction(f.Expression) {
		if !refersTo(c, outer) {
			local = append(local, c)
			continue
		}
		if hasSubquery(c) {
			return nil
		}
		if inner, other, ok := equalColumn(c, outer); ok {
			k.inner, k.outer = append(k.inner, inner), append(k.outer, other)
		} else {
			k.rest = append(k.rest, c)
		}
	}
	if len(local) > 0 {
		k.from = plan.NewFilter(expression.JoinAnd(local...), f.Child)
	}
	return k
}

// equalColumn is a column of a subquery that c says to equal something of the row around it, which is of the columns outer.
func equalColumn(c sql.Expression, outer sql.ColSet) (inner, other sql.Expression, ok bool) {
	eq, ok := c.(*expression.Equals)
	if !ok {
		return nil, nil, false
	}
	inner, other = eq.Left(), eq.Right()
	if refersTo(inner, outer) {
		inner, other = other, inner
	}
	column, ok := inner.(*expression.GetField)
	if !ok || outer.Contains(column.Id()) || !columnIDs(other).SubsetOf(outer) ||
		!compare.KeyClassOf(other.Type(), column.Type()).TellsApart() || !alike(other.Type(), column.Type()) {
		return nil, nil, false
	}
	return inner, other, true
}

// refersTo says whether e, or a subquery in it, refers to a column of outer.
func refersTo(e sql.Expression, outer sql.ColSet) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			found = found || outer.Contains(e.Id())
		case *plan.Subquery:
			found = found || e.Correlated().Intersects(outer)
		}
		return !found
	})
	return found
}

// refers is refersTo for all expressions of n and below.
func refers(n sql.Node, outer sql.ColSet) bool {
	if x, ok := n.(sql.Expressioner); ok {
		for _, e := range x.Expressions() {
			if refersTo(e, outer) {
				return true
			}
		}
	}
	if a, ok := n.(*plan.SubqueryAlias); ok && a.Correlated.Intersects(outer) {
		return true
	}
	for _, c := range n.Children() {
		if refers(c, outer) {
			return true
		}
	}
	return false
}

func hasSubquery(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		_, sub := e.(*plan.Subquery)
		found = found || sub
		return !found
	})
	return found
}

// fixCorrelated replaces EXISTS and aggregates of subqueries that can be looked up by key.
func fixCorrelated(_ *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *plan.ExistsSubquery:
		return existsByKey(e.Query)
	case *plan.InSubquery, *inSubquery, *rowInSubquery, *oneValue:
		return nil
	}
	changed := aggregatesByKey(e.Children())
	if changed == nil {
		return nil
	}
	out, err := e.WithChildren(changed...)
	if err != nil {
		return nil
	}
	return out
}

// fixProjected is fixCorrelated for subqueries that are columns; nil: there is none.
func fixProjected(n *plan.Project) sql.Node {
	changed := aggregatesByKey(n.Projections)
	if changed == nil {
		return nil
	}
	out, err := n.WithExpressions(changed...)
	if err != nil {
		return nil
	}
	return out
}

// aggregatesByKey is exprs with those of them that are subqueries replaced; nil: none is.
func aggregatesByKey(exprs []sql.Expression) []sql.Expression {
	var changed []sql.Expression
	for i, e := range exprs {
		sub, ok := e.(*plan.Subquery)
		if !ok {
			continue
		}
		if x := aggregateByKey(sub); x != nil {
			if changed == nil {
				changed = append(changed, exprs...)
			}
			changed[i] = x
		}
	}
	return changed
}

// existsByKey is EXISTS (SELECT … WHERE b.k = a.k) as a.k IN (SELECT b.k …), where NULL is no; with other conditions on both it
// looks at all rows with the key.
func existsByKey(sub *plan.Subquery) sql.Expression {
	outer := sub.Correlated()
	if outer.Empty() || sub.Volatile() {
		return nil
	}
	node := sub.Query
	for {
		switch n := node.(type) {
		case *plan.Project:
			node = n.Child
			continue
		case *plan.Distinct:
			node = n.Child
			continue
		case *plan.Sort:
			node = n.Child
			continue
		case *plan.Limit:
			if lit, ok := n.Limit.(*expression.Literal); !ok || lit.Value() == nil || lit.String() == "0" {
				return nil
			}
			node = n.Child
			continue
		}
		break
	}
	k := splitCorrelation(node, outer)
	if k == nil {
		return nil
	}
	if len(k.rest) > 0 {
		return newExistsWith(k, outer, sub.QueryString)
	}
	rows := plan.NewSubquery(plan.NewProject(k.inner, k.from), sub.QueryString)
	if len(k.outer) == 1 {
		return &exists{expression.UnaryExpression{Child: &inSubquery{left: k.outer[0], sub: rows, rows: &inRows{}}}}
	}
	in := newRowIn(expression.NewTuple(k.outer...), rows, false)
	if in == nil {
		return nil
	}
	return &exists{expression.UnaryExpression{Child: in}}
}

// exists is whether an IN is true; where it is NULL, there is no such row.
type exists struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*exists)(nil)
	_ sql.CollationCoercible = (*exists)(nil)
	_ meaning.Membership     = (*exists)(nil)
)

func (x *exists) Type() sql.Type   { return x.Child.Type() }
func (x *exists) IsNullable() bool { return false }
func (x *exists) String() string   { return x.Child.String() + " IS TRUE" }

func (x *exists) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *exists) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &exists{expression.UnaryExpression{Child: children[0]}}, nil
}

func (x *exists) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	return err == nil && v == true, err
}

// Member implements meaning.Membership.
func (x *exists) Member(ctx *sql.Context) (meaning.Member, bool) {
	in, ok := x.Child.(meaning.Membership)
	if !ok {
		return meaning.Member{}, false
	}
	m, ok := in.Member(ctx)
	m.On, m.Equal = append(m.On, m.Equal...), nil
	return m, ok
}
