package boundplan

import (
	"slices"

	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// keyedAggregate is (SELECT MAX(b.x) FROM b WHERE b.k = a.k): the aggregates of all keys are computed once, and found by key.
type keyedAggregate struct {
	byKey      // SELECT b.k, MAX(b.x) … GROUP BY b.k
	absent any // the aggregate of no rows
	typ    sql.Type
	name   string // of a column that is nothing else
}

var (
	_ sql.Expression         = (*keyedAggregate)(nil)
	_ sql.CollationCoercible = (*keyedAggregate)(nil)
	_ sql.Nameable           = (*keyedAggregate)(nil)
	_ meaning.LookedUp       = (*keyedAggregate)(nil)
)

// aggregateByKey is nil where sub is no such subquery.
func aggregateByKey(sub *plan.Subquery) sql.Expression {
	outer := sub.Correlated()
	if outer.Empty() || sub.Volatile() {
		return nil
	}
	p, ok := sub.Query.(*plan.Project)
	if !ok || len(p.Projections) != 1 || refersTo(p.Projections[0], outer) {
		return nil
	}
	g, ok := p.Child.(*plan.GroupBy)
	if !ok || len(g.GroupByExprs) != 0 {
		return nil
	}
	result := p.Projections[0]
	if a, ok := result.(*expression.Alias); ok {
		result = a.Child
	}
	ref, ok := result.(*expression.GetField)
	if !ok {
		return nil
	}
	var absent any
	found := false
	for _, e := range g.SelectedExprs {
		if refersTo(e, outer) {
			return nil
		}
		if id, ok := e.(sql.IdExpression); !ok || id.Id() != ref.Id() {
			continue
		}
		switch e.(type) {
		case *aggregation.Count, *aggregation.CountDistinct:
			absent = int64(0)
		case *aggregation.Max, *aggregation.Min, meaning.Sum:
		default:
			return nil
		}
		found = true
	}
	if !found {
		return nil
	}
	k := splitCorrelation(g.Child, outer)
	if k == nil || len(k.rest) > 0 {
		return nil
	}
	groups := plan.NewGroupBy(slices.Concat(k.inner, g.SelectedExprs), k.inner, k.from)
	columns := slices.Concat(k.inner, p.Projections)
	keyed := newByKey(slices.Clone(k.outer), columns, len(k.inner), func(columns []sql.Expression) sql.Node { return plan.NewProject(columns, groups) }, sub.QueryString)
	return &keyedAggregate{byKey: keyed, absent: absent, typ: sub.Type(), name: plan.AliasSubqueryString(sub)}
}

func (k *keyedAggregate) IsNullable() bool { return true }
func (k *keyedAggregate) Type() sql.Type   { return k.typ }
func (k *keyedAggregate) Name() string     { return k.name }

func (k *keyedAggregate) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.sub)
}

func (k *keyedAggregate) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	keyed, err := k.withChildren(k, children)
	if err != nil {
		return nil, err
	}
	return &keyedAggregate{byKey: keyed, absent: k.absent, typ: k.typ, name: k.name}, nil
}

func (k *keyedAggregate) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	out := k.absent
	err := k.find(ctx, row, func(_, found []any) (bool, error) {
		out = found[k.keys]
		return true, nil
	})
	return out, err
}

// Looked implements meaning.LookedUp.
func (k *keyedAggregate) Looked(ctx *sql.Context) meaning.Looked {
	return meaning.Looked{Member: meaning.Member{Row: k.row, Query: k.sub.Query, On: k.equalities(ctx)}, Column: k.keys, Absent: k.absent}
}
