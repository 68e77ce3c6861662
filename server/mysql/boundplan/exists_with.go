package boundplan

import (
	"millrace/pushdown/meaning"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// existsWith is EXISTS (SELECT … FROM b WHERE b.k = a.k AND b.x > a.x): the rows of b are found by key, and tried one by one.
type existsWith struct {
	byKey
	// rest is over the values of byKey's row, then the subquery's columns. The planner does not see it: it has no
	// names of tables any more.
	rest sql.Expression
}

var (
	_ sql.Expression         = (*existsWith)(nil)
	_ sql.CollationCoercible = (*existsWith)(nil)
	_ meaning.Membership     = (*existsWith)(nil)
)

// newExistsWith is nil where a condition of k cannot be taken apart into what is of the row around it, columns outer, and what is of
// the subquery.
func newExistsWith(k *keyed, outer sql.ColSet, text string) sql.Expression {
	s := rowSplit{outer: outer, row: k.outer, columns: k.inner}
	cond := expression.JoinAnd(k.rest...)
	if _, err := s.split(cond); err != nil { // what there is of both; then where it lies is known
		return nil
	}
	keyed := newByKey(s.row, s.columns, len(k.inner), func(columns []sql.Expression) sql.Node { return plan.NewProject(columns, k.from) }, text)
	s.width = len(keyed.row)
	rest, err := s.split(cond)
	if err != nil {
		return nil
	}
	return &existsWith{byKey: keyed, rest: rest}
}

// rowSplit takes conditions on two rows apart.
type rowSplit struct {
	outer        sql.ColSet
	row, columns []sql.Expression // what is read of the row around, and of the subquery
	width        int              // where columns begin in the row that the result is over
}

// split is e over row's values and columns; what it needs is added to both.
func (s *rowSplit) split(e sql.Expression) (sql.Expression, error) {
	ids := columnIDs(e)
	if !ids.Empty() && ids.SubsetOf(s.outer) {
		at := place(&s.row, e)
		return expression.NewGetField(at, e.Type(), e.String(), true), nil
	}
	if f, ok := e.(*expression.GetField); ok {
		at := place(&s.columns, e)
		return expression.NewGetField(s.width+at, f.Type(), f.String(), true), nil
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	with := make([]sql.Expression, len(children))
	for i, c := range children {
		var err error
		if with[i], err = s.split(c); err != nil {
			return nil, err
		}
	}
	return e.WithChildren(with...)
}

// place is where e is in list, to which it is added if need be.
func place(list *[]sql.Expression, e sql.Expression) int {
	for i, x := range *list {
		f, ok1 := e.(*expression.GetField)
		g, ok2 := x.(*expression.GetField)
		if x == e || ok1 && ok2 && f.Id() == g.Id() {
			return i
		}
	}
	*list = append((*list)[:len(*list):len(*list)], e)
	return len(*list) - 1
}

func (x *existsWith) Type() sql.Type   { return types.Boolean }
func (x *existsWith) IsNullable() bool { return false }
func (x *existsWith) String() string {
	return "EXISTS " + x.byKey.String() + " with " + x.rest.String()
}

func (x *existsWith) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (x *existsWith) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	keyed, err := x.withChildren(x, children)
	if err != nil {
		return nil, err
	}
	return &existsWith{byKey: keyed, rest: x.rest}, nil
}

func (x *existsWith) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	exists := false
	var both sql.Row
	err := x.find(ctx, row, func(values, found []any) (bool, error) {
		both = append(append(both[:0], values...), found...)
		is, err := sql.EvaluateCondition(ctx, x.rest, both)
		exists = sql.IsTrue(is)
		return exists, err
	})
	return exists, err
}

// Member implements meaning.Membership.
func (x *existsWith) Member(ctx *sql.Context) (meaning.Member, bool) {
	return meaning.Member{Row: x.row, Query: x.sub.Query, On: append(x.equalities(ctx), x.rest)}, true
}
