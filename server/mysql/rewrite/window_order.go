package rewrite

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// sortByWindows has a query whose ORDER BY computes with an alias of a window, as in SELECT ROW_NUMBER() OVER () AS n … ORDER BY -n, sort a
// derived table of what it selects: the planner knows the alias alone only, and no window may be written twice. Everything else that is
// sorted by becomes a column of the derived table.
func (r *starRewriter) sortByWindows(sel *sqlparser.Select) {
	var computed []*sqlparser.Order
	for _, o := range sel.OrderBy {
		if _, alone := o.Expr.(*sqlparser.ColName); !alone {
			computed = append(computed, o)
		}
	}
	if len(computed) == 0 || !hasWindow(sel.SelectExprs) {
		return
	}
	windows := r.aliases(sel, true)
	names := func(e any) bool {
		c, ok := e.(*sqlparser.ColName)
		return ok && c.Qualifier.IsEmpty() && windows[c.Name.Lowered()] != nil
	}
	used := false
	for _, o := range computed {
		used = used || has([]sqlparser.SQLNode{o.Expr}, names)
	}
	if !used {
		return
	}
	g := groups{names: map[string]bool{}, texts: map[string]string{}}
	inner := *sel
	inner.SelectExprs, inner.OrderBy, inner.Limit, inner.With, inner.Into, inner.Lock = nil, nil, nil, nil, nil, ""
	g.inner = &inner
	outer := make(sqlparser.SelectExprs, len(sel.SelectExprs))
	columns := map[string]*sqlparser.ColName{} // by alias
	for i, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return // a star over what is no topic
		}
		column := g.add(a.Expr, a.As)
		if !a.As.IsEmpty() {
			columns[a.As.Lowered()] = column
		}
		outer[i] = &sqlparser.AliasedExpr{Expr: column, As: shownName(a)}
	}
	orders := make(sqlparser.OrderBy, len(sel.OrderBy))
	for i, o := range sel.OrderBy {
		by := *o
		if _, position := o.Expr.(*sqlparser.SQLVal); !position {
			by.Expr = replaceExpr(copyNode(o.Expr), func(e sqlparser.Expr) (sqlparser.Expr, bool) {
				switch e := e.(type) {
				case *sqlparser.SQLVal, *sqlparser.NullVal:
					return e, false
				case *sqlparser.IntervalExpr: // no value
					return nil, true
				case *sqlparser.ColName:
					if column := columns[e.Name.Lowered()]; column != nil && e.Qualifier.IsEmpty() {
						return column, false
					}
				}
				if has([]sqlparser.SQLNode{e}, names) {
					return nil, true
				}
				if name, ok := g.texts[sqlparser.String(e)]; ok {
					return groupsColumnOf(name), false
				}
				return g.add(e, sqlparser.ColIdent{}), false
			})
		}
		orders[i] = &by
	}
	if inner.QueryOpts.Distinct && len(inner.SelectExprs) > len(outer) {
		return // more columns would be other rows
	}
	sel.SelectExprs, sel.OrderBy = outer, orders
	sel.From = sqlparser.TableExprs{&sqlparser.AliasedTableExpr{Expr: &sqlparser.Subquery{Select: &inner}, As: sqlparser.NewTableIdent(groupsTable), Auth: nothingToCheck}}
	sel.Where, sel.GroupBy, sel.Having, sel.Window = nil, nil, nil, nil
	sel.QueryOpts = sqlparser.QueryOpts{SQLCalcFoundRows: sel.QueryOpts.SQLCalcFoundRows}
}
