package infoschema

import (
	"slices"
	"strings"

	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Narrowable is a table whose rows are made place by place; a place is the values of some of its columns, of which a
// condition may tell that none of its rows are wanted.
type Narrowable interface {
	sql.Table
	// PlaceColumns are the names of those columns.
	PlaceColumns() []string
	// Narrowed returns the table without the rows of places that some filter does not allow.
	Narrowed(wanted []PlaceFilter) sql.Table
}

// Narrow tells the tables of an analysed plan (information_schema's of names of schemas and tables) what the plan asks of
// their places, so that others need not be looked at. All conditions stay where they are: this may only save work.
//
// A condition is used as it is, by evaluating it for a place, whatever it is made of: equality, IN, LIKE, LOWER, OR.
// Of joined tables it holds for the names that are equal to the one it is about.
func Narrow(n sql.Node) (sql.Node, error) { return narrow(n, nil) }

// narrow is told conditions: rows that n makes of columns that do not fulfil them are not wanted.
func narrow(n sql.Node, conditions []sql.Expression) (sql.Node, error) {
	n, err := narrowSubqueries(n)
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return narrowTable(n, n.Columns(), conditions)
	case *plan.TableAlias:
		if t, ok := n.Child.(*plan.ResolvedTable); ok {
			child, err := narrowTable(t, n.Columns(), conditions)
			if err != nil || child == sql.Node(t) {
				return n, err
			}
			return n.WithChildren(child)
		}
	case *plan.Filter:
		return narrowChildren(n, with(conditions, n.Expression))
	case *plan.JoinNode:
		left, right := joined(n, conditions)
		return narrowChildren(n, left, right)
	case *plan.Project, *plan.Sort, *plan.Distinct, *plan.HashLookup, *plan.CachedResults:
		return narrowChildren(n, conditions)
	}
	// Below a limit, a group or a derived table rows count that do not fulfil what is asked above it.
	return narrowChildren(n)
}

// narrowChildren narrows the children of n, each by its conditions; those that are missing are none.
func narrowChildren(n sql.Node, conditions ...[]sql.Expression) (sql.Node, error) {
	children := n.Children()
	changed := false
	out := make([]sql.Node, len(children))
	for i, c := range children {
		var known []sql.Expression
		if i < len(conditions) {
			known = conditions[i]
		}
		child, err := narrow(c, known)
		if err != nil {
			return nil, err
		}
		out[i], changed = child, changed || child != c
	}
	if !changed {
		return n, nil
	}
	return n.WithChildren(out...)
}

// narrowSubqueries narrows the queries within n's expressions.
func narrowSubqueries(n sql.Node) (sql.Node, error) {
	if e, ok := n.(sql.Expressioner); !ok || len(e.Expressions()) == 0 {
		return n, nil
	}
	out, same, err := transform.OneNodeExpressions(n, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		s, ok := e.(*plan.Subquery)
		if !ok {
			return e, transform.SameTree, nil
		}
		q, err := narrow(s.Query, nil)
		if err != nil || q == s.Query {
			return e, transform.SameTree, err
		}
		return s.WithQuery(q), transform.NewTree, nil
	})
	if err != nil || same {
		return n, err
	}
	return out, nil
}

// joined are the conditions for the two sides of a join under the given ones.
func joined(j *plan.JoinNode, conditions []sql.Expression) (left, right []sql.Expression) {
	op := j.Op
	switch {
	case op.IsInner(), op.IsCross(), op.IsSemi(), op == plan.JoinTypeHash, op == plan.JoinTypeMerge:
		left = append(with(conditions, j.Filter), fulfilled(j.Right())...)
		right = append(with(conditions, j.Filter), fulfilled(j.Left())...)
	case op.IsLeftOuter() && !op.IsExcludeNulls():
		// A row on the left stays without a partner, too. On the right only partners of rows that are wanted count;
		// what is asked above the join of the right side may be true of a missing one, so it is not used.
		left = conditions
		right = append(with(nil, j.Filter), fulfilled(j.Left())...)
		columns := sqlplan.Columns(j.Left())
		for _, c := range conditions {
			if within(c, columns) {
				right = append(right, c)
			}
		}
	case op.IsAnti():
		left = conditions
	}
	return left, right
}

// with adds the parts of e that must all hold.
func with(conditions []sql.Expression, e sql.Expression) []sql.Expression {
	if e == nil {
		return conditions[:len(conditions):len(conditions)]
	}
	return append(conditions[:len(conditions):len(conditions)], expression.SplitConjunction(e)...)
}

// fulfilled is what all rows of n are known to fulfil.
func fulfilled(n sql.Node) []sql.Expression {
	switch n := n.(type) {
	case *plan.Filter:
		return with(fulfilled(n.Child), n.Expression)
	case *plan.JoinNode:
		switch op := n.Op; {
		case op.IsInner(), op.IsCross(), op == plan.JoinTypeHash, op == plan.JoinTypeMerge:
			return with(append(fulfilled(n.Left()), fulfilled(n.Right())...), n.Filter)
		case op.IsLeftOuter(), op.IsSemi(), op.IsAnti():
			return fulfilled(n.Left())
		}
	case *plan.TableAlias, *plan.Project, *plan.Sort, *plan.Distinct, *plan.Limit, *plan.TopN, *plan.HashLookup, *plan.CachedResults:
		return fulfilled(n.Children()[0])
	}
	return nil
}

// within says that e is about these columns only.
func within(e sql.Expression, columns sql.ColSet) bool {
	return !transform.InspectExpr(e, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			return !columns.Contains(e.Id())
		case *plan.Subquery:
			return true
		}
		return false
	})
}

// narrowTable gives a table those conditions that are about its places.
func narrowTable(r *plan.ResolvedTable, columns sql.ColSet, conditions []sql.Expression) (sql.Node, error) {
	if len(conditions) == 0 {
		return r, nil
	}
	t, ok := r.UnderlyingTable().(Narrowable) // the engine may have wrapped it
	if !ok {
		return r, nil
	}
	places := placeColumns{own: columns, names: t.PlaceColumns(), equal: equalities(conditions)}
	var wanted []PlaceFilter
	for _, c := range conditions {
		if f, ok := places.filter(c); ok {
			wanted = append(wanted, f)
		}
	}
	if len(wanted) == 0 {
		return r, nil
	}
	return r.WithTable(t.Narrowed(wanted))
}

// equalities are the columns that conditions say are equal, by one of them.
func equalities(conditions []sql.Expression) map[sql.ColumnId][]*expression.GetField {
	out := make(map[sql.ColumnId][]*expression.GetField)
	for _, c := range conditions {
		eq, ok := c.(expression.Equality)
		if !ok || !eq.RepresentsEquality() {
			continue
		}
		a, isField := eq.Left().(*expression.GetField)
		b, areFields := eq.Right().(*expression.GetField)
		if isField && areFields {
			out[a.Id()] = append(out[a.Id()], b)
			out[b.Id()] = append(out[b.Id()], a)
		}
	}
	return out
}

// placeColumns finds which column of a table's places an expression means.
type placeColumns struct {
	own   sql.ColSet
	names []string
	equal map[sql.ColumnId][]*expression.GetField
}

// of is where the value of f stands in a place; ok: in it.
func (p placeColumns) of(f *expression.GetField) (at int, ok bool) {
	seen := map[sql.ColumnId]bool{f.Id(): true}
	for next := []*expression.GetField{f}; len(next) > 0; next = next[1:] {
		f := next[0]
		if p.own.Contains(f.Id()) {
			at := slices.IndexFunc(p.names, func(name string) bool { return strings.EqualFold(name, f.Name()) })
			if at >= 0 {
				return at, true
			}
		}
		for _, g := range p.equal[f.Id()] {
			if !seen[g.Id()] {
				seen[g.Id()] = true
				next = append(next, g)
			}
		}
	}
	return 0, false
}

// filter makes one of a condition that depends on nothing but the place.
func (p placeColumns) filter(condition sql.Expression) (PlaceFilter, bool) {
	usable, fields := true, 0
	out, _, err := transform.Expr(condition, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := e.(*expression.GetField); ok {
			fields++
			at, ok := p.of(f)
			usable = usable && ok
			return f.WithIndex(at), transform.NewTree, nil
		}
		usable = usable && repeatable(e)
		return e, transform.SameTree, nil
	})
	if err != nil || !usable || fields == 0 {
		return PlaceFilter{}, false
	}
	return PlaceFilter{out}, true
}

// repeatable says that evaluating e once more changes neither its value nor anything else. Of functions only those that
// tools write around names are known to be so.
func repeatable(e sql.Expression) bool {
	switch e := e.(type) {
	case *plan.Subquery, *expression.UserVar, *expression.SystemVar, *expression.SetField:
		return false
	case sql.FunctionExpression:
		switch strings.ToLower(e.FunctionName()) {
		case "lower", "lcase", "upper", "ucase", "concat", "trim", "ltrim", "rtrim", "left", "right", "substring", "substr", "mid", "replace",
			"ifnull", "coalesce", "if", "nullif", "database", "schema", "binary", "convert", "cast", "length", "char_length",
			"character_length", "locate", "instr", "position", "strcmp", "regexp_like", "like", "convert_using":
			return true
		}
		return false
	}
	return true
}

// PlaceFilter is a condition on a place.
type PlaceFilter struct{ e sql.Expression }

// Allows says whether rows of a place, given in the order of PlaceColumns, may be wanted. What cannot be told may.
func (f PlaceFilter) Allows(ctx *sql.Context, place ...any) bool {
	v, err := f.e.Eval(ctx, place)
	if err != nil {
		return true
	}
	if v == nil {
		return false
	}
	b, _, err := types.Boolean.Convert(ctx, v)
	if err != nil {
		return true
	}
	n, ok := b.(int8)
	return !ok || n != 0
}
