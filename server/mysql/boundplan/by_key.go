package boundplan

import (
	"fmt"
	"strings"
	"sync"

	"millrace/pushdown/compare"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// byKey is a subquery that is read once, and whose rows are found by the values of their first columns.
type byKey struct {
	row  expression.Tuple // of the row at hand: the keys, then other values; as many as sub has columns
	keys int
	sub  *plan.Subquery // it depends on no row
	rows *keyedRows     // shared by copies
}

// keyedRows are a subquery's rows by key; those with NULL in it, which equals nothing, are left out.
type keyedRows struct {
	once  sync.Once
	err   error
	types []sql.Type         // of the keys
	class []compare.KeyClass // of the keys of both sides
	byKey map[string][]sql.Row
}

// newByKey fills the shorter one of both sides up: the planner takes them for an IN, which has two columns or more here.
func newByKey(row []sql.Expression, columns []sql.Expression, keys int, from func(columns []sql.Expression) sql.Node, text string) byKey {
	n := max(len(row), len(columns), 2)
	for len(row) < n {
		row = append(row, expression.NewLiteral(nil, types.Null))
	}
	for len(columns) < n {
		columns = append(columns, expression.NewLiteral(int8(1), types.Int8))
	}
	return byKey{row: row, keys: keys, sub: plan.NewSubquery(from(columns), text), rows: &keyedRows{}}
}

func (k *byKey) Resolved() bool { return k.row.Resolved() && k.sub.Resolved() }

func (k *byKey) String() string {
	names := make([]string, k.keys)
	for i := range names {
		names[i] = k.row[i].String()
	}
	return fmt.Sprintf("(%s by %s)", k.sub, strings.Join(names, ", "))
}

// Children is an IN of the engine's: a subquery of several columns may be nowhere else.
func (k *byKey) Children() []sql.Expression {
	return []sql.Expression{plan.NewInSubquery(k.row, k.sub)}
}

func (k *byKey) withChildren(of sql.Expression, children []sql.Expression) (byKey, error) {
	if len(children) != 1 {
		return byKey{}, sql.ErrInvalidChildrenNumber.New(of, len(children), 1)
	}
	var left, right sql.Expression
	switch c := children[0].(type) {
	case *plan.InSubquery:
		left, right = c.LeftChild, c.RightChild
	case *rowInSubquery:
		left, right = c.left, c.sub
	}
	row, ok1 := left.(expression.Tuple)
	sub, ok2 := right.(*plan.Subquery)
	if !ok1 || !ok2 || len(row) != len(k.row) {
		return byKey{}, fmt.Errorf("a subquery by key: %T in its place", children[0])
	}
	return byKey{row: row, keys: k.keys, sub: sub, rows: &keyedRows{}}, nil
}

// find calls visit with the values of the row at hand and each row of the subquery that has its keys, until it says that is enough.
func (k *byKey) find(ctx *sql.Context, row sql.Row, visit func(values, found []any) (enough bool, err error)) error {
	k.rows.once.Do(func() { k.rows.err = k.fill(ctx, row) })
	if k.rows.err != nil {
		return k.rows.err
	}
	values := make([]any, len(k.row))
	for i, e := range k.row {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return err
		}
		if v == nil && i < k.keys {
			return nil // NULL equals nothing
		}
		values[i] = v
	}
	key, err := k.key(ctx, values)
	if err != nil {
		return err
	}
	for _, found := range k.rows.byKey[key] {
		same, err := k.same(ctx, values, found)
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		if enough, err := visit(values, found); enough || err != nil {
			return err
		}
	}
	return nil
}

// same says whether both have the same keys; what has the same bytes need not.
func (k *byKey) same(ctx *sql.Context, l, r []any) (bool, error) {
	for i := range k.keys {
		if k.rows.class[i].Exact() {
			continue
		}
		if same, err := equal(ctx, l[i], k.row[i].Type(), r[i], k.rows.types[i]); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (k *byKey) key(ctx *sql.Context, row []any) (string, error) {
	var out []byte
	for i := range k.keys {
		var err error
		if out, err = k.rows.class[i].Append(ctx, out, row[i]); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// fill reads the subquery.
func (k *byKey) fill(ctx *sql.Context, row sql.Row) error {
	rows, err := rowsOfSubquery(ctx, k.sub, row)
	if err != nil {
		return err
	}
	for i, c := range k.sub.Query.Schema()[:k.keys] {
		k.rows.types = append(k.rows.types, c.Type)
		k.rows.class = append(k.rows.class, compare.KeyClassOf(k.row[i].Type(), c.Type))
	}
	k.rows.byKey = make(map[string][]sql.Row, len(rows))
next:
	for _, v := range rows {
		r, ok := rowOf(v)
		if !ok || len(r) != len(k.row) {
			return fmt.Errorf("a subquery by key: %T in place of a row", v)
		}
		for _, x := range r[:k.keys] {
			if x == nil {
				continue next
			}
		}
		key, err := k.key(ctx, r)
		if err != nil {
			return err
		}
		k.rows.byKey[key] = append(k.rows.byKey[key], r)
	}
	return nil
}

// equalities say, over the values of the row at hand and then a row of the subquery, that both have the same keys.
func (k *byKey) equalities(ctx *sql.Context) []sql.Expression {
	columns := k.sub.Query.Schema()
	out := make([]sql.Expression, k.keys)
	for i := range out {
		out[i] = equality(ctx, i, k.row[i], len(k.row)+i, columns[i])
	}
	return out
}

// equality says that field i, which is e, is equal to field j, a column.
func equality(ctx *sql.Context, i int, e sql.Expression, j int, c *sql.Column) sql.Expression {
	return equals(ctx, expression.NewGetField(i, e.Type(), e.String(), true), expression.NewGetField(j, c.Type, c.Name, true))
}
