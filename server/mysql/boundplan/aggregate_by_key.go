package boundplan

import (
	"fmt"
	"strings"
	"sync"

	"millrace/pushdown"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// keyedAggregate is (SELECT MAX(b.x) FROM b WHERE b.k = a.k): the aggregates of all keys are computed once, and found by key.
type keyedAggregate struct {
	keys   expression.Tuple // and NULL in place of the aggregate
	sub    *plan.Subquery   // SELECT b.k, MAX(b.x) … GROUP BY b.k
	absent any              // the aggregate of no rows
	typ    sql.Type
	values *keyedValues // shared by copies
}

type keyedValues struct {
	once  sync.Once
	err   error
	types []sql.Type          // of the subquery's keys
	class []pushdown.KeyClass // of both sides' keys
	byKey map[string][]keyedValue
}

type keyedValue struct {
	keys  []any
	value any
}

var (
	_ sql.Expression         = (*keyedAggregate)(nil)
	_ sql.CollationCoercible = (*keyedAggregate)(nil)
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
		case *aggregation.Max, *aggregation.Min, pushdown.SumAggregate:
		default:
			return nil
		}
		found = true
	}
	if !found {
		return nil
	}
	k := splitCorrelation(g.Child, outer)
	if k == nil {
		return nil
	}
	columns := append([]sql.Expression{}, k.inner...)
	groups := plan.NewGroupBy(append(columns, g.SelectedExprs...), k.inner, k.from)
	query := plan.NewProject(append(append([]sql.Expression{}, k.inner...), p.Projections[0]), groups)
	return &keyedAggregate{
		keys: append(append(expression.Tuple{}, k.outer...), expression.NewLiteral(nil, ref.Type())), typ: sub.Type(),
		sub: plan.NewSubquery(query, sub.QueryString), absent: absent, values: &keyedValues{},
	}
}

func (k *keyedAggregate) Resolved() bool   { return k.keys.Resolved() && k.sub.Resolved() }
func (k *keyedAggregate) IsNullable() bool { return true }
func (k *keyedAggregate) Type() sql.Type   { return k.typ }

func (k *keyedAggregate) String() string {
	names := make([]string, len(k.keys)-1)
	for i := range names {
		names[i] = k.keys[i].String()
	}
	return fmt.Sprintf("(%s by %s)", k.sub, strings.Join(names, ", "))
}

// Children is an IN of the engine's: a subquery of several columns may be nowhere else.
func (k *keyedAggregate) Children() []sql.Expression {
	return []sql.Expression{plan.NewInSubquery(k.keys, k.sub)}
}

func (k *keyedAggregate) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.sub)
}

func (k *keyedAggregate) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(k, len(children), 1)
	}
	var left, right sql.Expression
	switch c := children[0].(type) {
	case *plan.InSubquery:
		left, right = c.LeftChild, c.RightChild
	case *rowInSubquery:
		left, right = c.left, c.sub
	}
	keys, ok1 := left.(expression.Tuple)
	sub, ok2 := right.(*plan.Subquery)
	if !ok1 || !ok2 || len(keys) != len(k.keys) {
		return nil, fmt.Errorf("an aggregate by key: %T in place of its subquery", children[0])
	}
	return &keyedAggregate{keys: keys, sub: sub, absent: k.absent, typ: k.typ, values: &keyedValues{}}, nil
}

func (k *keyedAggregate) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	k.values.once.Do(func() { k.values.err = k.fill(ctx, row) })
	if k.values.err != nil {
		return nil, k.values.err
	}
	keys := make([]any, len(k.keys)-1)
	for i := range keys {
		v, err := k.keys[i].Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return k.absent, nil // NULL equals nothing
		}
		keys[i] = v
	}
	key, err := k.key(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, c := range k.values.byKey[key] {
		same, err := k.same(ctx, keys, c.keys)
		if err != nil {
			return nil, err
		}
		if same {
			return c.value, nil
		}
	}
	return k.absent, nil
}

// same says whether both have the same keys; what has the same bytes need not.
func (k *keyedAggregate) same(ctx *sql.Context, l, r []any) (bool, error) {
	for i := range l {
		if k.values.class[i].Exact() {
			continue
		}
		var x sql.Expression = expression.NewEquals(expression.NewLiteral(l[i], k.keys[i].Type()), expression.NewLiteral(r[i], k.values.types[i]))
		if fixed := fixComparison(ctx, x); fixed != nil {
			x = fixed
		}
		same, err := sql.EvaluateCondition(ctx, x, nil)
		if err != nil || !sql.IsTrue(same) {
			return false, err
		}
	}
	return true, nil
}

func (k *keyedAggregate) key(ctx *sql.Context, keys []any) (string, error) {
	var out []byte
	for i, v := range keys {
		var err error
		if out, err = k.values.class[i].Append(ctx, out, v); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// fill computes the aggregates of all keys.
func (k *keyedAggregate) fill(ctx *sql.Context, row sql.Row) error {
	rows, err := k.sub.EvalMultiple(ctx, row)
	if err != nil {
		return err
	}
	for i, c := range k.sub.Query.Schema()[:len(k.keys)-1] {
		k.values.types = append(k.values.types, c.Type)
		k.values.class = append(k.values.class, pushdown.KeyClassOf(k.keys[i].Type(), c.Type))
	}
	k.values.byKey = make(map[string][]keyedValue, len(rows))
next:
	for _, v := range rows {
		r, ok := rowOf(v)
		if !ok || len(r) != len(k.keys) {
			return fmt.Errorf("an aggregate by key: %T in place of a row", v)
		}
		keys := r[:len(r)-1]
		for _, x := range keys {
			if x == nil {
				continue next
			}
		}
		key, err := k.key(ctx, keys)
		if err != nil {
			return err
		}
		k.values.byKey[key] = append(k.values.byKey[key], keyedValue{keys, r[len(r)-1]})
	}
	return nil
}
