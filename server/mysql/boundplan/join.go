package boundplan

import (
	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The planner reorders joins by the parts of their conditions, and loses a part of an inner join's that names
// the optional side of an outer join beneath: it joins the rest first, and takes the outer join's condition alone
// for the other. So outer joins whose optional rows the inner join does not let through become inner ones, and
// where others remain, the condition is kept in one piece.

// fixJoin is n, an inner join, so changed; nil when there is nothing to change.
func fixJoin(n *plan.JoinNode) sql.Node {
	if !n.Op.IsInner() || n.Filter == nil {
		return nil
	}
	var needed sql.ColSet
	conjuncts := expression.SplitConjunction(n.Filter)
	for _, c := range conjuncts {
		needed = needed.Union(notNull(c))
	}
	left, changedLeft := withoutOptional(n.Left(), needed)
	right, changedRight := withoutOptional(n.Right(), needed)
	optional := optionalColumns(left).Union(optionalColumns(right))
	together := false
	if len(conjuncts) > 1 {
		for _, c := range conjuncts {
			together = together || columnIDs(c).Intersects(optional)
		}
	}
	if !changedLeft && !changedRight && !together {
		return nil
	}
	children, err := n.WithChildren(left, right)
	if err != nil {
		return nil
	}
	out := *children.(*plan.JoinNode)
	if together {
		out.Filter = &onePiece{expression.UnaryExpression{Child: n.Filter}}
	}
	return &out
}

// withoutOptional makes inner joins of the outer joins in n whose optional side has columns that are not NULL.
func withoutOptional(n sql.Node, needed sql.ColSet) (sql.Node, bool) {
	j, ok := n.(*plan.JoinNode)
	if !ok || !j.Op.IsInner() && !j.Op.IsLeftOuter() && !j.Op.IsCross() {
		return n, false
	}
	out := *j
	inner := j.Op.IsInner()
	if j.Op == plan.JoinTypeLeftOuter && sqlplan.Columns(j.Right()).Intersects(needed) {
		out.Op, inner = plan.JoinTypeInner, true
	}
	if inner && j.Filter != nil {
		for _, c := range expression.SplitConjunction(j.Filter) {
			needed = needed.Union(notNull(c))
		}
	}
	left, changedLeft := withoutOptional(j.Left(), needed)
	right, changedRight := j.Right(), false
	if inner || j.Op.IsCross() {
		right, changedRight = withoutOptional(right, needed)
	}
	if out.Op == j.Op && !changedLeft && !changedRight {
		return n, false
	}
	x, err := out.WithChildren(left, right)
	if err != nil {
		return n, false
	}
	return x, true
}

// notNull are the columns that are not NULL where e, a condition, is true.
func notNull(e sql.Expression) sql.ColSet {
	var out sql.ColSet
	switch e := e.(type) {
	case *expression.Equals, *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.Like:
		for _, x := range e.Children() {
			if f, ok := x.(*expression.GetField); ok {
				out.Add(f.Id())
			}
		}
	case *expression.Not:
		if null, ok := e.Child.(*expression.IsNull); ok {
			if f, ok := null.Child.(*expression.GetField); ok {
				out.Add(f.Id())
			}
		}
	}
	return out
}

func columnIDs(e sql.Expression) sql.ColSet {
	var out sql.ColSet
	sql.Inspect(e, func(e sql.Expression) bool {
		if f, ok := e.(*expression.GetField); ok {
			out.Add(f.Id())
		}
		return true
	})
	return out
}

// optionalColumns are those that the outer joins of n may make NULL.
func optionalColumns(n sql.Node) sql.ColSet {
	var out sql.ColSet
	j, ok := n.(*plan.JoinNode)
	if !ok {
		return out
	}
	switch {
	case j.Op.IsLeftOuter():
		out = sqlplan.Columns(j.Right())
	case j.Op.IsRightOuter():
		out = sqlplan.Columns(j.Left())
	case j.Op.IsFullOuter():
		out = sqlplan.Columns(j)
	}
	return out.Union(optionalColumns(j.Left())).Union(optionalColumns(j.Right()))
}

// onePiece is a condition that the planner does not part.
type onePiece struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*onePiece)(nil)
	_ sql.CollationCoercible = (*onePiece)(nil)
)

func (o *onePiece) String() string   { return o.Child.String() }
func (o *onePiece) Type() sql.Type   { return types.Boolean }
func (o *onePiece) IsNullable() bool { return o.Child.IsNullable() }

func (o *onePiece) Eval(ctx *sql.Context, row sql.Row) (any, error) { return o.Child.Eval(ctx, row) }

func (*onePiece) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (o *onePiece) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(o, len(children), 1)
	}
	return &onePiece{expression.UnaryExpression{Child: children[0]}}, nil
}
