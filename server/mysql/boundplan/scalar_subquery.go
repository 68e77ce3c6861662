package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// oneValue is a subquery that stands for one value, the same for every row. The planner would make a join
// of a comparison with it, which finds equality with any of several rows where MySQL says that
// there may be only one (error 1242).
type oneValue struct {
	expression.UnaryExpression
	typ sql.Type // asking the subquery takes longer than computing it
}

var (
	_ sql.Expression         = (*oneValue)(nil)
	_ sql.CollationCoercible = (*oneValue)(nil)
)

// fixScalar hides subqueries in comparisons from the planner, unless they depend on the row.
func fixScalar(_ *sql.Context, e sql.Expression) sql.Expression {
	c, ok := e.(expression.Comparer)
	if !ok {
		return nil
	}
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan, *expression.LessThanOrEqual:
	default:
		return nil
	}
	left, changed1 := hidden(c.Left())
	right, changed2 := hidden(c.Right())
	if !changed1 && !changed2 {
		return nil
	}
	out, err := e.WithChildren(left, right)
	if err != nil {
		return nil
	}
	return out
}

func hidden(e sql.Expression) (sql.Expression, bool) {
	sub, ok := e.(*plan.Subquery)
	if !ok || !sub.Correlated().Empty() || len(sub.Query.Schema()) != 1 {
		return e, false
	}
	return &oneValue{expression.UnaryExpression{Child: sub}, sub.Type()}, true
}

func (s *oneValue) Type() sql.Type { return s.typ }
func (s *oneValue) String() string { return s.Child.String() }

func (s *oneValue) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.Child)
}

func (s *oneValue) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 1)
	}
	return &oneValue{expression.UnaryExpression{Child: children[0]}, children[0].Type()}, nil
}

func (s *oneValue) Eval(ctx *sql.Context, row sql.Row) (any, error) { return s.Child.Eval(ctx, row) }
