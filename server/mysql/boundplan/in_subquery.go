package boundplan

import (
	"fmt"
	"sync"

	"millrace/pushdown/compare"
	"millrace/pushdown/meaning"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// inSubquery is x IN (SELECT …) of one column. The engine's converts x to the subquery's type first:
// 1.5 becomes 2, and text too long for that type is found to be in no list, whatever NULLs the list has.
type inSubquery struct {
	left sql.Expression
	sub  *plan.Subquery
	rows *inRows // shared by copies
	// folds is the collation by which text compares, if it finds different text equal; else 0.
	folds sql.CollationID
}

// inRows are the subquery's values, where they are the same for every row.
type inRows struct {
	once  sync.Once
	err   error
	byKey map[string][]any
	null  bool
	count int
	class compare.KeyClass
	typ   sql.Type // of the values
}

var (
	_ sql.Expression         = (*inSubquery)(nil)
	_ sql.CollationCoercible = (*inSubquery)(nil)
	_ meaning.Membership     = (*inSubquery)(nil)
)

// fixIn replaces the engine's IN (SELECT …) unless it is of tuples.
func fixIn(ctx *sql.Context, e sql.Expression) sql.Expression {
	in, ok := e.(*plan.InSubquery)
	if !ok {
		return nil
	}
	sub, ok := in.RightChild.(*plan.Subquery)
	if !ok || types.NumColumns(in.LeftChild.Type()) != 1 || len(sub.Query.Schema()) != 1 {
		return nil
	}
	out := &inSubquery{left: in.LeftChild, sub: sub, rows: &inRows{}}
	if sqlfn.IsText(in.LeftChild) && types.IsText(out.right()) {
		lc, lp := sql.GetCoercibility(ctx, in.LeftChild)
		rc, rp := coercibilityOf(ctx, sub.Query, 0)
		if coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp); sqlfn.FoldsText(coll) {
			out.folds = coll
		}
	}
	return out
}

// coercibilityOf is that of a query's i-th column.
func coercibilityOf(ctx *sql.Context, query sql.Node, i int) (sql.CollationID, byte) {
	switch n := query.(type) {
	case *plan.Project:
		return sql.GetCoercibility(ctx, n.Projections[i])
	case *plan.Distinct, *plan.Sort, *plan.Limit, *plan.Offset:
		return coercibilityOf(ctx, n.Children()[0], i)
	}
	if t, ok := query.Schema()[i].Type.(sql.StringType); ok {
		return t.Collation(), 2 // as of a column
	}
	return sql.Collation_binary, 5
}

// joinable gives the engine its own expression back where a filter asks for nothing but it, so that
// the planner makes a semi join of it, which compares alike for values of one kind.
func joinable(filter sql.Expression) (sql.Expression, bool) {
	changed := false
	conjuncts := expression.SplitConjunction(filter)
	for i, c := range conjuncts {
		if x, ok := c.(*exists); ok {
			c = x.Child // for a filter, NULL is no
		}
		if in, ok := c.(*inSubquery); ok && in.folds == 0 && alike(in.left.Type(), in.right()) {
			conjuncts[i], changed = plan.NewInSubquery(in.left, in.sub), true
		}
	}
	if !changed {
		return filter, false
	}
	return expression.JoinAnd(conjuncts...), true
}

// alike says whether values of two types are of one kind.
func alike(l, r sql.Type) bool {
	ls, ok1 := l.(sql.StringType)
	rs, ok2 := r.(sql.StringType)
	if ok1 && ok2 {
		return ls.Collation() == rs.Collation()
	}
	return l.Equals(r) || types.IsInteger(l) && types.IsInteger(r) && types.IsUnsigned(l) == types.IsUnsigned(r)
}

func (in *inSubquery) right() sql.Type { return in.sub.Query.Schema()[0].Type }

func (in *inSubquery) Resolved() bool             { return in.left.Resolved() && in.sub.Resolved() }
func (in *inSubquery) IsNullable() bool           { return true }
func (in *inSubquery) Type() sql.Type             { return types.Boolean }
func (in *inSubquery) Children() []sql.Expression { return []sql.Expression{in.left, in.sub} }
func (in *inSubquery) String() string             { return fmt.Sprintf("(%s IN %s)", in.left, in.sub) }

func (in *inSubquery) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (in *inSubquery) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(children), 2)
	}
	sub, ok := children[1].(*plan.Subquery)
	if !ok {
		return nil, fmt.Errorf("IN: %T in place of a subquery", children[1])
	}
	return &inSubquery{left: children[0], sub: sub, rows: &inRows{}, folds: in.folds}, nil
}

func (in *inSubquery) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	left, err := in.left.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	rows := in.rows
	if in.sub.CanCacheResults() {
		rows.once.Do(func() { rows.err = in.fill(ctx, row, rows) })
		err = rows.err
	} else {
		rows = &inRows{}
		err = in.fill(ctx, row, rows)
	}
	if err != nil || rows.count == 0 {
		return false, err
	}
	if left == nil {
		return nil, nil
	}
	key, err := in.appendKey(ctx, nil, left, in.left.Type(), rows)
	if err != nil {
		return nil, err
	}
	if in.folds != 0 && len(rows.byKey[string(key)]) > 0 {
		return true, nil
	}
	for _, v := range rows.byKey[string(key)] {
		if v == nil {
			continue
		}
		if same, err := equal(ctx, left, in.left.Type(), v, rows.typ); same || err != nil {
			return same, err
		}
	}
	if rows.null {
		return nil, nil
	}
	return false, nil
}

// appendKey adds what equal values have in common.
func (in *inSubquery) appendKey(ctx *sql.Context, key []byte, v any, t sql.Type, rows *inRows) ([]byte, error) {
	if in.folds == 0 {
		return rows.class.Append(ctx, key, v)
	}
	s, err := foldedKey(ctx, v, t, in.folds)
	return append(key, s...), err
}

func (in *inSubquery) class() compare.KeyClass {
	return compare.KeyClassOf(in.left.Type(), in.right())
}

// fill reads the subquery.
func (in *inSubquery) fill(ctx *sql.Context, row sql.Row, rows *inRows) error {
	values, err := rowsOfSubquery(ctx, in.sub, row)
	if err != nil {
		return err
	}
	rows.byKey = make(map[string][]any, len(values))
	class := in.class()
	rows.class, rows.typ = class, in.right()
	var key []byte
	for _, v := range values {
		rows.count++
		if v == nil {
			rows.null = true
			continue
		}
		if key, err = in.appendKey(ctx, key[:0], v, rows.typ, rows); err != nil {
			return err
		}
		// Text with the same key is the same; numbers need not be.
		if same := rows.byKey[string(key)]; len(same) == 0 || !class.Exact() {
			rows.byKey[string(key)] = append(same, v)
		}
	}
	return nil
}

// Member implements meaning.Membership.
func (in *inSubquery) Member(ctx *sql.Context) (meaning.Member, bool) {
	if in.folds != 0 || !in.sub.CanCacheResults() {
		return meaning.Member{}, false
	}
	row := []sql.Expression{in.left}
	return meaning.Member{Row: row, Query: in.sub.Query, Equal: []sql.Expression{equality(ctx, 0, in.left, 1, in.sub.Query.Schema()[0])}}, true
}
