package joinorder

import (
	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// builder builds a tree of joins anew.
type builder struct {
	ctx    *sql.Context
	tables int
	// outer: there are joins that are not inner ones; loose: inner ones that are connected by something, but by no
	// equality; hinted: the statement says how to join.
	outer, loose, hinted bool
}

// betterSearched says that the engine's search may find something better, in time.
func (b *builder) betterSearched() bool {
	return b.tables <= mostSearched && (b.outer || b.loose || b.hinted)
}

// build is n, a join or what is joined, with what it joins in order.
func (b *builder) build(n sql.Node) (sql.Node, error) {
	if !isJoin(n) {
		b.tables++
		return n, nil
	}
	if f, ok := n.(*plan.Filter); ok && !clustered(f) {
		child, err := b.build(f.Child)
		if err != nil {
			return nil, err
		}
		return f.WithChildren(child)
	}
	if clustered(n) {
		return b.cluster(n)
	}
	j := n.(*plan.JoinNode)
	b.outer, b.hinted = true, b.hinted || j.Comment() != ""
	left, err := b.build(j.Left())
	if err != nil {
		return nil, err
	}
	right, err := b.build(j.Right())
	if err != nil {
		return nil, err
	}
	switch j.Op {
	case plan.JoinTypeLeftOuter, plan.JoinTypeLeftOuterExcludeNulls, plan.JoinTypeSemi:
		return joined(j.Op, left, right, sqlplan.Columns(left), sqlplan.Columns(right), conjuncts(j.Filter)), nil
	}
	return j.WithChildren(left, right)
}

// clustered says that n is an inner join, maybe beneath conditions: its order is ours to choose.
func clustered(n sql.Node) bool {
	for {
		switch x := n.(type) {
		case *plan.Filter:
			n = x.Child
		case *plan.JoinNode:
			return x.Op.IsInner()
		default:
			return false
		}
	}
}

// joined is the join of two sides, with these columns: by hash, if something of the one equals something of the other.
func joined(op plan.JoinType, left, right sql.Node, lc, rc sql.ColSet, conditions []sql.Expression) sql.Node {
	if len(conditions) == 0 && op.IsInner() {
		return plan.NewCrossJoin(left, right)
	}
	var lk, rk []sql.Expression
	for _, c := range conditions {
		eq, ok := c.(*expression.Equals)
		if !ok {
			continue
		}
		l, r := eq.Left(), eq.Right()
		if named(l).SubsetOf(rc) {
			l, r = r, l
		}
		if isOf(l, lc) && isOf(r, rc) {
			lk, rk = append(lk, l), append(rk, r)
		}
	}
	filter := expression.JoinAnd(conditions...)
	if len(conditions) == 0 {
		filter = always
	}
	// A hash table outlives the rounds of a recursion, its table does not.
	if len(lk) == 0 || recursive(right) {
		return plan.NewJoin(left, right, op, filter)
	}
	op = op.AsHash()
	return plan.NewJoin(left, plan.NewHashLookup(right, expression.Tuple(rk), expression.Tuple(lk), op), op, filter)
}

// isOf says that e is computed of these columns, and of one at least.
func isOf(e sql.Expression, of sql.ColSet) bool {
	names := named(e)
	return !names.Empty() && names.SubsetOf(of) && !restsOnQuery(e)
}

// named are the columns in e, those that its subqueries ask the rows around them for included.
func named(e sql.Expression) sql.ColSet {
	var out sql.ColSet
	sql.Inspect(e, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			out.Add(e.Id())
		case *plan.Subquery:
			out = out.Union(e.Correlated())
		}
		return true
	})
	return out
}

// restsOnQuery says that e has a subquery in it, or another value each time.
func restsOnQuery(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		_, sub := e.(*plan.Subquery)
		random, ok := e.(sql.NonDeterministicExpression)
		found = found || sub || ok && random.IsNonDeterministic()
		return !found
	})
	return found
}

// recursive says that n reads what the last round of a recursive query gave.
func recursive(n sql.Node) bool { return roundName(n) != "" }

// roundName is the name of the table in n that holds what the last round of a recursive query gave, if there is one.
func roundName(n sql.Node) string {
	if t, ok := n.(*plan.RecursiveTable); ok {
		return t.Name()
	}
	for _, c := range n.Children() {
		if name := roundName(c); name != "" {
			if a, ok := n.(*plan.TableAlias); ok {
				return a.Name()
			}
			return name
		}
	}
	return ""
}
