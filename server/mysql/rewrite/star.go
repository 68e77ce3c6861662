package rewrite

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// starRewriter replaces * and t.* over topic tables by the tables' visible columns, since
// the engine knows no invisible ones. Where a FROM clause holds anything else than plain
// tables, * becomes a list of t.* first, so that each stands for its own.
type starRewriter struct {
	ctx    *sql.Context
	tables Tables
	ctes   map[string]bool // in scope
	err    error
}

// source is one table reference of a FROM clause, in order.
type source struct {
	qualifier sqlparser.TableName // how its columns are named
	columns   []string            // visible ones; nil: all of them
}

func (r *starRewriter) rewrite(stmt sqlparser.Statement) error {
	walkScoped(stmt, nil, func(n any, ctes map[string]bool) bool {
		if r.err != nil {
			return false
		}
		r.ctes = ctes
		switch n := n.(type) {
		case *sqlparser.Select:
			r.selectStatement(n)
			if r.err == nil {
				r.orderByAliases(n)
				r.sortByWindows(n)
				r.err = r.rollUp(n)
			}
		case *sqlparser.AliasedTableExpr:
			// The engine looks at the name alone and would take the expression for the table.
			if t, ok := n.Expr.(sqlparser.TableName); ok && !t.DbQualifier.IsEmpty() && ctes[strings.ToLower(t.Name.String())] {
				r.err = sqlerr.Unsupported("a table and a common table expression of the same name")
			}
		}
		return r.err == nil
	})
	return r.err
}

func (r *starRewriter) selectStatement(sel *sqlparser.Select) {
	has := false
	for _, e := range sel.SelectExprs {
		if _, ok := e.(*sqlparser.StarExpr); ok {
			has = true
		}
	}
	if !has {
		return
	}
	var sources []source
	hidden := false // some source has invisible columns
	for _, t := range sel.From {
		r.sources(t, &sources)
	}
	for _, s := range sources {
		hidden = hidden || s.columns != nil
	}
	if r.err != nil || !hidden {
		return
	}
	var out sqlparser.SelectExprs
	for _, e := range sel.SelectExprs {
		star, ok := e.(*sqlparser.StarExpr)
		if !ok {
			out = append(out, e)
			continue
		}
		if star.TableName.IsEmpty() {
			for _, t := range sel.From {
				columns, ok := r.star(t)
				if !ok {
					r.err = sqlerr.Unsupported("* over this join of topics: name the columns")
					return
				}
				out = append(out, columns...)
			}
			continue
		}
		expanded := false
		for _, s := range sources {
			if s.matches(star.TableName) {
				out = append(out, s.expand()...)
				expanded = true
				break
			}
		}
		if !expanded {
			out = append(out, e)
		}
	}
	sel.SelectExprs = out
}

func (s source) matches(t sqlparser.TableName) bool {
	if !strings.EqualFold(s.qualifier.Name.String(), t.Name.String()) { // as the engine finds aliases
		return false
	}
	return t.DbQualifier.IsEmpty() || s.qualifier.DbQualifier.IsEmpty() || s.qualifier.DbQualifier.String() == t.DbQualifier.String()
}

func (s source) expand() sqlparser.SelectExprs {
	if s.columns == nil {
		return sqlparser.SelectExprs{&sqlparser.StarExpr{TableName: s.qualifier}}
	}
	out := make(sqlparser.SelectExprs, len(s.columns))
	for i, c := range s.columns {
		// Without the text that it came from: the engine would take a text other than the
		// column's full name for an alias, and looks for what an alias in ORDER BY stands for
		// by name, cut at the first dot. With a dot in the topic's name that is another column.
		out[i] = &sqlparser.AliasedExpr{Expr: &sqlparser.ColName{Name: sqlparser.NewColIdent(c), Qualifier: s.qualifier}}
	}
	return out
}

// star is what * stands for over t; false when that cannot be written as a list.
func (r *starRewriter) star(t sqlparser.TableExpr) (sqlparser.SelectExprs, bool) {
	switch t := t.(type) {
	case *sqlparser.ParenTableExpr:
		var out sqlparser.SelectExprs
		for _, inner := range t.Exprs {
			columns, ok := r.star(inner)
			if !ok {
				return nil, false
			}
			out = append(out, columns...)
		}
		return out, true
	case *sqlparser.JoinTableExpr:
		left, ok1 := r.star(t.LeftExpr)
		right, ok2 := r.star(t.RightExpr)
		if !ok1 || !ok2 || isNatural(t.Join) {
			return nil, false
		}
		if len(t.Condition.Using) == 0 {
			return append(left, right...), true
		}
		return mergeUsing(left, right, t.Condition.Using, t.Join == sqlparser.RightJoinStr)
	default:
		var one []source
		r.sources(t, &one)
		if len(one) != 1 {
			return nil, false
		}
		return one[0].expand(), true
	}
}

// mergeUsing is the star over a join with USING: the common columns once and first.
func mergeUsing(left, right sqlparser.SelectExprs, using sqlparser.Columns, fromRight bool) (sqlparser.SelectExprs, bool) {
	common := map[string]bool{}
	for _, u := range using {
		common[u.Lowered()] = true
	}
	split := func(in sqlparser.SelectExprs) (shared map[string]sqlparser.SelectExpr, rest sqlparser.SelectExprs, ok bool) {
		shared = map[string]sqlparser.SelectExpr{}
		for _, e := range in {
			a, named := e.(*sqlparser.AliasedExpr)
			if !named {
				return nil, nil, false // a star over columns that are not known here
			}
			name := a.Expr.(*sqlparser.ColName).Name.Lowered()
			if common[name] {
				shared[name] = e
			} else {
				rest = append(rest, e)
			}
		}
		return shared, rest, true
	}
	inLeft, restLeft, ok1 := split(left)
	inRight, restRight, ok2 := split(right)
	if !ok1 || !ok2 {
		return nil, false
	}
	from := inLeft
	if fromRight {
		from = inRight
	}
	var out sqlparser.SelectExprs
	for _, u := range using {
		e, ok := from[u.Lowered()]
		if !ok {
			return nil, false
		}
		out = append(out, e)
	}
	return append(append(out, restLeft...), restRight...), true
}

// sources collects the table references of t in order.
func (r *starRewriter) sources(t sqlparser.TableExpr, out *[]source) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		name, ok := t.Expr.(sqlparser.TableName)
		if !ok {
			*out = append(*out, source{qualifier: sqlparser.TableName{Name: t.As}})
			return
		}
		s := source{qualifier: sqlparser.TableName{Name: name.Name, DbQualifier: name.DbQualifier}}
		if !t.As.IsEmpty() {
			s.qualifier = sqlparser.TableName{Name: t.As}
		}
		db := name.DbQualifier.String()
		if db == "" {
			db = r.ctx.GetCurrentDatabase()
		}
		common := name.DbQualifier.IsEmpty() && r.ctes[strings.ToLower(name.Name.String())]
		if !common && strings.EqualFold(db, sqltable.KafkaDatabase) {
			columns, ok, err := r.tables.VisibleColumns(r.ctx, db, name.Name.String())
			if err != nil {
				r.err = err
				return
			}
			if ok {
				s.columns = columns
			}
		}
		*out = append(*out, s)
	case *sqlparser.ParenTableExpr:
		for _, inner := range t.Exprs {
			r.sources(inner, out)
		}
	case *sqlparser.JoinTableExpr:
		r.sources(t.LeftExpr, out)
		r.sources(t.RightExpr, out)
	case *sqlparser.JSONTableExpr:
		*out = append(*out, source{qualifier: sqlparser.TableName{Name: t.Alias}})
	case *sqlparser.CommonTableExpr:
		*out = append(*out, source{qualifier: sqlparser.TableName{Name: t.As}})
	}
}

func isNatural(join string) bool {
	switch join {
	case sqlparser.NaturalJoinStr, sqlparser.NaturalLeftJoinStr, sqlparser.NaturalRightJoinStr:
		return true
	default:
		return false
	}
}
