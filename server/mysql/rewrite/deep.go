package rewrite

import (
	"maps"
	"slices"
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The planner asks nodes for their columns again and again, and a projection asks what is below it once for every column
// that it lets pass: what is three derived tables or set operations deep costs the number of columns to the third power. Where
// that would be felt, columns are wrapped in an expression that the planner takes for a computed one, and that gives
// members of a union the types that they have together, so that the planner puts no projections between them. Package
// boundplan takes the wrappers off again.

const (
	// wideUnion is from how many members on the columns of a set operation are wrapped.
	wideUnion = 3
	// longUnion is from how many members on a union is made as low as it can be.
	longUnion = 8
	// mostPlain is how many queries may read one another before columns are wrapped.
	mostPlain = 2
)

// wrapDeep wraps columns in stmt. The error says that a query's columns do not fit the names that it gives them.
func wrapDeep(stmt sqlparser.Statement) error {
	d := &deepQueries{seen: map[sqlparser.SelectStatement]*deepQuery{}, ctes: map[string]*deepQuery{}}
	d.statement(stmt)
	return d.err
}

type deepQueries struct {
	seen map[sqlparser.SelectStatement]*deepQuery
	ctes map[string]*deepQuery // in scope, by lower-case name
	err  error
}

// deepQuery is a query that others may read.
type deepQuery struct {
	height int      // how many queries, itself included, read one another there
	names  []string // of its columns; nil: not known, or not different
}

// statement wraps what is in stmt, a SELECT or anything that has SELECTs in it.
func (d *deepQueries) statement(stmt sqlparser.Statement) {
	if sel, ok := stmt.(sqlparser.SelectStatement); ok {
		d.query(sel)
		return
	}
	w := Walk{Node: func(n any) bool {
		if sel, ok := n.(sqlparser.SelectStatement); ok {
			d.query(sel)
			return false
		}
		return true
	}}
	w.Statement(stmt)
}

// query wraps what is in sel, innermost first.
func (d *deepQueries) query(sel sqlparser.SelectStatement) *deepQuery {
	if q := d.seen[sel]; q != nil {
		return q
	}
	if with := withOf(sel); with != nil && *with != nil {
		defer func(outer map[string]*deepQuery) { d.ctes = outer }(d.ctes)
		d.ctes = d.define(*with)
	}
	q := &deepQuery{}
	switch s := sel.(type) {
	case *sqlparser.ParenSelect:
		q = d.query(s.Select)
	case *sqlparser.SetOp:
		s.Left, s.Right = separate(s.Left), separate(s.Right)
		balance(s)
		leaves := members(s, nil)
		for i, l := range leaves {
			m := d.query(l)
			q.height = max(q.height, m.height)
			if i == 0 {
				q.names = m.names
			}
		}
		if len(leaves) >= wideUnion {
			d.union(leaves)
		}
	case *sqlparser.Select:
		q.height = d.plain(s)
		q.names = d.names(s)
	}
	d.seen[sel] = q
	return q
}

// define is what is in scope within a statement with these common table expressions.
func (d *deepQueries) define(with *sqlparser.With) map[string]*deepQuery {
	outer := d.ctes
	defer func() { d.ctes = outer }()
	d.ctes = maps.Clone(outer)
	for _, c := range with.Ctes {
		name := strings.ToLower(c.As.String())
		sub, ok := c.Expr.(*sqlparser.Subquery)
		if !ok || with.Recursive {
			d.ctes[name] = &deepQuery{height: 1} // the types of a recursive one are those of its first part
			if ok && len(c.Columns) > 0 {
				d.checkFirst(members(sub.Select, nil), len(c.Columns))
			}
			continue
		}
		columns := c.Columns
		if len(columns) == 0 {
			columns = sub.Columns
		}
		d.ctes[name] = d.query(sub.Select).named(columns)
	}
	return d.ctes
}

// checkFirst sees that the first part of a recursive query has as many columns as there are names: the planner goes by that.
func (d *deepQueries) checkFirst(parts []*sqlparser.Select, names int) {
	if len(parts) == 0 {
		return
	}
	if exprs, ok := d.withoutStars(parts[0]); ok && len(exprs) != names && d.err == nil {
		d.err = sql.ErrColumnCountMismatch.New()
	}
}

// named is q with the list of columns behind its alias, if there is one.
func (q *deepQuery) named(columns sqlparser.Columns) *deepQuery {
	if len(columns) == 0 {
		return q
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.String()
	}
	return &deepQuery{q.height, different(names)}
}

// plain wraps what is in one SELECT, and its columns if it lies deep. It returns its height.
func (d *deepQueries) plain(sel *sqlparser.Select) int {
	below := 0
	for _, t := range sel.From {
		for _, s := range d.sources(t, nil) {
			below = max(below, s.height)
		}
	}
	// Subqueries in expressions are deep by themselves.
	within := Walk{Node: func(n any) bool {
		if sub, ok := n.(*sqlparser.Subquery); ok {
			d.query(sub.Select)
			return false
		}
		_, with := n.(*sqlparser.With)
		return !with
	}}
	within.Statement(sel)
	if below+1 > mostPlain {
		d.expandStars(sel)
		for _, e := range sel.SelectExprs {
			if a, ok := e.(*sqlparser.AliasedExpr); ok {
				if _, column := a.Expr.(*sqlparser.ColName); column {
					wrapColumn(a, &sqlfn.UnionColumn{})
				}
			}
		}
	}
	return below + 1
}

// union wraps the columns of members, the i-th of all to have one type.
func (d *deepQueries) union(leaves []*sqlparser.Select) {
	for _, l := range leaves {
		d.expandStars(l)
	}
	columns := make([]*sqlfn.UnionColumn, len(leaves[0].SelectExprs))
	for i := range columns {
		columns[i] = &sqlfn.UnionColumn{}
	}
	for _, l := range leaves {
		if len(l.SelectExprs) != len(columns) {
			continue // there is a star whose columns are not known, or an error
		}
		for i, e := range l.SelectExprs {
			if a, ok := e.(*sqlparser.AliasedExpr); ok {
				wrapColumn(a, columns[i])
			}
		}
	}
}

// wrapColumn lets a be seen through column, under the name that it has.
func wrapColumn(a *sqlparser.AliasedExpr, column *sqlfn.UnionColumn) {
	if c, ok := a.Expr.(*sqlparser.ColName); ok && a.As.IsEmpty() {
		if strings.Contains(c.Name.String(), ".") {
			return // ORDER BY looks for an alias up to its first dot
		}
		a.As = c.Name
	}
	a.Expr = sqlparser.InjectedExpr{
		Expression: sqlfn.UnionMember{Column: column, Text: sqlparser.String(a.Expr)}, Children: sqlparser.Exprs{a.Expr},
		Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore},
	}
}

// separate is s, a member of a set operation, as a derived table if it is one itself with an order and a limit of its own: the
// planner takes those for the outer one's.
func separate(s sqlparser.SelectStatement) sqlparser.SelectStatement {
	inner := s
	for {
		p, ok := inner.(*sqlparser.ParenSelect)
		if !ok {
			break
		}
		inner = p.Select
	}
	set, ok := inner.(*sqlparser.SetOp)
	if !ok {
		return s
	}
	if set.Limit == nil && len(set.OrderBy) == 0 {
		set.Left, set.Right = separate(set.Left), separate(set.Right)
		return s
	}
	return &sqlparser.Select{
		SelectExprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}},
		From:        sqlparser.TableExprs{&sqlparser.AliasedTableExpr{Expr: &sqlparser.Subquery{Select: set}, As: sqlparser.NewTableIdent("millrace member"), Auth: nothingToCheck}},
	}
}

// balance makes of a long chain of unions of one kind, each within the next, a tree whose height is the logarithm of that: the planner
// takes time for every member at every height. The members keep their order.
func balance(s *sqlparser.SetOp) {
	switch s.Type {
	case sqlparser.UnionStr, sqlparser.UnionAllStr, sqlparser.UnionDistinctStr:
	default:
		return
	}
	parts := []sqlparser.SelectStatement{s.Right}
	left := s.Left
	for {
		l, ok := left.(*sqlparser.SetOp)
		if !ok || l.Type != s.Type || l.With != nil || l.Into != nil || l.Limit != nil || len(l.OrderBy) > 0 {
			break
		}
		parts, left = append(parts, l.Right), l.Left
	}
	parts = append(parts, left)
	if len(parts) < longUnion {
		return
	}
	slices.Reverse(parts)
	var tree func(parts []sqlparser.SelectStatement) sqlparser.SelectStatement
	tree = func(parts []sqlparser.SelectStatement) sqlparser.SelectStatement {
		if len(parts) == 1 {
			return parts[0]
		}
		half := len(parts) / 2
		return &sqlparser.SetOp{Type: s.Type, Left: tree(parts[:half]), Right: tree(parts[half:])}
	}
	half := len(parts) / 2
	s.Left, s.Right = tree(parts[:half]), tree(parts[half:])
}

// members are the SELECTs that set operations put together, in order.
func members(s sqlparser.SelectStatement, out []*sqlparser.Select) []*sqlparser.Select {
	switch s := s.(type) {
	case *sqlparser.SetOp:
		return members(s.Right, members(s.Left, out))
	case *sqlparser.ParenSelect:
		return members(s.Select, out)
	case *sqlparser.Select:
		return append(out, s)
	}
	return out
}

// tableSource is a table reference of a FROM clause.
type tableSource struct {
	name string
	deepQuery
}

// sources are the tables that t stands for, in order; subqueries among them are wrapped.
func (d *deepQueries) sources(t sqlparser.TableExpr, out []tableSource) []tableSource {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		switch x := t.Expr.(type) {
		case *sqlparser.Subquery:
			return append(out, tableSource{t.As.String(), *d.query(x.Select).named(x.Columns)})
		case sqlparser.TableName:
			name := t.As
			if name.IsEmpty() {
				name = x.Name
			}
			if q := d.ctes[strings.ToLower(x.Name.String())]; q != nil && x.DbQualifier.IsEmpty() {
				return append(out, tableSource{name.String(), *q})
			}
			return append(out, tableSource{name: name.String()})
		}
	case *sqlparser.ParenTableExpr:
		for _, x := range t.Exprs {
			out = d.sources(x, out)
		}
		return out
	case *sqlparser.JoinTableExpr:
		from := len(out)
		out = d.sources(t.RightExpr, d.sources(t.LeftExpr, out))
		if len(t.Condition.Using) > 0 || isNatural(t.Join) {
			for i := range out[from:] {
				out[from+i].names = nil
			}
		}
		return out
	}
	return append(out, tableSource{})
}

// names are those of a SELECT's columns, if all are known and different.
func (d *deepQueries) names(sel *sqlparser.Select) []string {
	exprs, ok := d.withoutStars(sel)
	if !ok {
		return nil
	}
	out := make([]string, len(exprs))
	for i, e := range exprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil
		}
		out[i] = a.As.String()
		if c, column := a.Expr.(*sqlparser.ColName); column && out[i] == "" {
			out[i] = c.Name.String()
		}
	}
	return different(out)
}

// different is names if each is something else.
func different(names []string) []string {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		lower := strings.ToLower(n)
		if n == "" || seen[lower] {
			return nil
		}
		seen[lower] = true
	}
	return names
}

// expandStars replaces stars over derived tables whose columns are known.
func (d *deepQueries) expandStars(sel *sqlparser.Select) {
	if exprs, ok := d.withoutStars(sel); ok {
		sel.SelectExprs = exprs
	}
}

// withoutStars is what sel selects, with columns for stars; false where those are not known.
func (d *deepQueries) withoutStars(sel *sqlparser.Select) (sqlparser.SelectExprs, bool) {
	var sources []tableSource
	var out sqlparser.SelectExprs
	for _, e := range sel.SelectExprs {
		star, ok := e.(*sqlparser.StarExpr)
		if !ok {
			out = append(out, e)
			continue
		}
		if sources == nil {
			for _, t := range sel.From {
				sources = d.sources(t, sources)
			}
		}
		found := false
		for _, s := range sources {
			if !star.TableName.IsEmpty() && !strings.EqualFold(star.TableName.Name.String(), s.name) {
				continue
			}
			if s.names == nil || !star.TableName.DbQualifier.IsEmpty() {
				return nil, false
			}
			found = true
			for _, n := range s.names {
				out = append(out, &sqlparser.AliasedExpr{Expr: &sqlparser.ColName{
					Name: sqlparser.NewColIdent(n), Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(s.name)},
				}})
			}
		}
		if !found {
			return nil, false
		}
	}
	return out, true
}
