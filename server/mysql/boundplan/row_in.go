package boundplan

import (
	"fmt"
	"sync"

	"millrace/pushdown/compare"
	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// rowInSubquery is (a, b) IN (SELECT …), or = (SELECT …): true for an equal row, else NULL if some row may be equal whose NULLs or the
// left ones hide it. The engine's knows equal hashes only.
type rowInSubquery struct {
	left expression.Tuple
	sub  *plan.Subquery
	rows *rowInRows // shared by copies
	one  bool       // (a, b) = (SELECT …): NULL without a row, an error with several
}

// rowInRows are the subquery's rows, where they are the same for every row.
type rowInRows struct {
	once  sync.Once
	err   error
	all   [][]any
	byKey map[string][]int // of those without NULLs, by all parts
	nulls []int            // those with NULLs
}

var (
	_ sql.Expression         = (*rowInSubquery)(nil)
	_ sql.CollationCoercible = (*rowInSubquery)(nil)
	_ meaning.Membership     = (*rowInSubquery)(nil)
)

// fixRowIn replaces the engine's IN (SELECT …) and = (SELECT …) of rows.
func fixRowIn(_ *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *plan.InSubquery:
		return newRowIn(e.LeftChild, e.RightChild, false)
	case *expression.Equals:
		if x := newRowIn(e.Left(), e.Right(), true); x != nil {
			return x
		}
		return newRowIn(e.Right(), e.Left(), true)
	}
	return nil
}

// newRowIn is nil where left is no row or right no subquery of as many columns.
func newRowIn(left, right sql.Expression, one bool) sql.Expression {
	sub, ok := right.(*plan.Subquery)
	row, isRow := left.(expression.Tuple)
	if !ok || !isRow || len(row) < 2 || len(sub.Query.Schema()) != len(row) {
		return nil
	}
	return &rowInSubquery{left: row, sub: sub, rows: &rowInRows{}, one: one}
}

func (in *rowInSubquery) Resolved() bool   { return in.left.Resolved() && in.sub.Resolved() }
func (in *rowInSubquery) IsNullable() bool { return true }
func (in *rowInSubquery) Type() sql.Type   { return types.Boolean }
func (in *rowInSubquery) String() string {
	if in.one {
		return fmt.Sprintf("(%s = %s)", in.left, in.sub)
	}
	return fmt.Sprintf("(%s IN %s)", in.left, in.sub)
}

// Children is the engine's own expression: a subquery of several columns may be nowhere else.
func (in *rowInSubquery) Children() []sql.Expression {
	return []sql.Expression{plan.NewInSubquery(in.left, in.sub)}
}

func (in *rowInSubquery) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (in *rowInSubquery) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(children), 1)
	}
	if c, ok := children[0].(*plan.InSubquery); ok {
		if out := newRowIn(c.LeftChild, c.RightChild, in.one); out != nil {
			return out, nil
		}
	}
	if same, ok := children[0].(*rowInSubquery); ok {
		return same, nil
	}
	return nil, fmt.Errorf("IN: %T in place of a subquery", children[0])
}

func (in *rowInSubquery) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	rows := in.rows
	var err error
	if in.sub.CanCacheResults() {
		rows.once.Do(func() { rows.err = in.fill(ctx, row, rows) })
		err = rows.err
	} else {
		rows = &rowInRows{}
		err = in.fill(ctx, row, rows)
	}
	switch {
	case err != nil:
		return nil, err
	case in.one && len(rows.all) == 0:
		return nil, nil
	case in.one && len(rows.all) > 1:
		return nil, sql.ErrExpectedSingleRow.New()
	case len(rows.all) == 0:
		return false, nil
	}
	left := make([]any, len(in.left))
	null := false
	for i, e := range in.left {
		if left[i], err = e.Eval(ctx, row); err != nil {
			return nil, err
		}
		null = null || left[i] == nil
	}
	maybe := false
	check := func(at int) (bool, error) {
		same, err := in.compare(ctx, left, rows.all[at])
		maybe = maybe || same == nil
		return same == true, err
	}
	if null {
		for i := range rows.all {
			if _, err := check(i); err != nil {
				return nil, err
			}
			if maybe {
				return nil, nil
			}
		}
		return false, nil
	}
	key, err := in.key(ctx, left)
	if err != nil {
		return nil, err
	}
	for _, list := range [...][]int{rows.byKey[key], rows.nulls} {
		for _, i := range list {
			if same, err := check(i); same || err != nil {
				return same, err
			}
		}
	}
	if maybe {
		return nil, nil
	}
	return false, nil
}

// compare is l = r in three values.
func (in *rowInSubquery) compare(ctx *sql.Context, l, r []any) (any, error) {
	var out any = true
	for i := range l {
		if l[i] == nil || r[i] == nil {
			out = nil
			continue
		}
		lt, rt := in.left[i].Type(), in.right(i)
		if types.IsTextOnly(lt) && types.IsTextOnly(rt) { // a constant's collation is not that of where it comes from
			lc, lp := sql.GetCoercibility(ctx, in.left[i])
			rc, rp := coercibilityOf(ctx, in.sub.Query, i)
			coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp)
			lt, rt = types.CreateLongText(coll), types.CreateLongText(coll)
		}
		if same, err := equal(ctx, l[i], lt, r[i], rt); !same || err != nil {
			return false, err
		}
	}
	return out, nil
}

func (in *rowInSubquery) right(i int) sql.Type { return in.sub.Query.Schema()[i].Type }

// key is the same for rows that are equal.
func (in *rowInSubquery) key(ctx *sql.Context, row []any) (string, error) {
	var key []byte
	var err error
	for i, v := range row {
		if key, err = compare.KeyClassOf(in.left[i].Type(), in.right(i)).Append(ctx, key, v); err != nil {
			return "", err
		}
	}
	return string(key), nil
}

// fill reads the subquery.
func (in *rowInSubquery) fill(ctx *sql.Context, row sql.Row, rows *rowInRows) error {
	values, err := rowsOfSubquery(ctx, in.sub, row)
	if err != nil {
		return err
	}
	rows.byKey = make(map[string][]int, len(values))
	for _, v := range values {
		r, ok := rowOf(v)
		if !ok || len(r) != len(in.left) {
			return fmt.Errorf("IN: %T in place of a row", v)
		}
		at, null := len(rows.all), false
		rows.all = append(rows.all, r)
		for _, x := range r {
			null = null || x == nil
		}
		if null {
			rows.nulls = append(rows.nulls, at)
			continue
		}
		key, err := in.key(ctx, r)
		if err != nil {
			return err
		}
		rows.byKey[key] = append(rows.byKey[key], at)
	}
	return nil
}

// Member implements meaning.Membership.
func (in *rowInSubquery) Member(ctx *sql.Context) (meaning.Member, bool) {
	out := meaning.Member{Row: in.left, Query: in.sub.Query}
	if in.one || !in.sub.CanCacheResults() {
		return out, false
	}
	for i, c := range in.sub.Query.Schema() {
		out.Equal = append(out.Equal, equality(ctx, i, in.left[i], len(in.left)+i, c))
	}
	return out, true
}
