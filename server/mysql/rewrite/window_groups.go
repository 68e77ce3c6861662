package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// groupsTable is the derived table of groups, and groupsColumn begins the names of its columns, which nothing a user writes meets.
const (
	groupsTable  = "millrace groups"
	groupsColumn = "millrace column "
)

// groupAllWindows does groupWindows in all of stmt.
func groupAllWindows(stmt sqlparser.Statement) error {
	var err error
	w := Walk{Node: func(n any) bool {
		if sel, ok := n.(*sqlparser.Select); ok && err == nil {
			err = groupWindows(sel)
		}
		return err == nil
	}}
	w.Statement(stmt)
	return err
}

// groupWindows has the windows of a query with groups, as in SELECT s, SUM(COUNT(*)) OVER () FROM t GROUP BY s, look at a derived table of these
// groups: the planner computes one or the other. All that has no window goes into the derived table as it stands, so names mean there
// what they did.
func groupWindows(sel *sqlparser.Select) error {
	if !hasWindow(sel.SelectExprs, sel.OrderBy) || len(sel.GroupBy) == 0 && !hasAggregate(sel.SelectExprs, sel.OrderBy, sel.Having, sel.Window) {
		return nil
	}
	g := groups{names: map[string]bool{}, texts: map[string]string{}}
	g.inner = &sqlparser.Select{From: sel.From, Where: sel.Where, GroupBy: slices.Clone(sel.GroupBy), Having: sel.Having}
	g.inner.QueryOpts.StraightJoinHint = sel.QueryOpts.StraightJoinHint
	shown := map[string]bool{} // names of the result's columns
	for i, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return sqlerr.Instead("* beside window functions over groups", "Name the columns.")
		}
		out := &sqlparser.AliasedExpr{As: shownName(a)}
		shown[out.As.Lowered()] = true
		window := hasWindow(a.Expr)
		if window {
			out.Expr = g.lift(a.Expr)
		} else {
			out.Expr = g.add(a.Expr, a.As)
		}
		for k, by := range sel.GroupBy { // positions, which are others in the derived table
			if n, ok := wholeNumberOf(by); !ok || n != int64(i+1) {
				continue
			}
			if window {
				return sqlerr.New(1056, "42000", "Can't group on '%s'", out.As.String())
			}
			g.inner.GroupBy[k] = sqlparser.NewIntVal([]byte(strconv.Itoa(len(g.inner.SelectExprs))))
		}
		sel.SelectExprs[i] = out
	}
	for _, o := range sel.OrderBy {
		if c, ok := o.Expr.(*sqlparser.ColName); ok && c.Qualifier.IsEmpty() && shown[c.Name.Lowered()] {
			continue
		}
		o.Expr = g.lift(o.Expr)
	}
	for _, w := range sel.Window {
		g.liftWindow(w)
	}
	sel.QueryOpts.StraightJoinHint = false
	sel.From = sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
		Expr: &sqlparser.Subquery{Select: g.inner}, As: sqlparser.NewTableIdent(groupsTable), Auth: nothingToCheck,
	}}
	sel.Where, sel.GroupBy, sel.Having = nil, nil, nil
	return nil
}

// groups is the derived table in the making.
type groups struct {
	inner *sqlparser.Select
	names map[string]bool   // of its columns
	texts map[string]string // the column by what it is computed from
}

// add makes e a column, called name unless that is empty or taken.
func (g *groups) add(e sqlparser.Expr, name sqlparser.ColIdent) *sqlparser.ColName {
	if name.IsEmpty() || g.names[name.Lowered()] || strings.Contains(name.String(), ".") {
		name = sqlparser.NewColIdent(groupsColumn + strconv.Itoa(len(g.inner.SelectExprs)))
	}
	g.names[name.Lowered()] = true
	if text := sqlparser.String(e); g.texts[text] == "" && !hasUnsteady(e) {
		g.texts[text] = name.String()
	}
	g.inner.SelectExprs = append(g.inner.SelectExprs, &sqlparser.AliasedExpr{Expr: e, As: name})
	return groupsColumnOf(name.String())
}

// lift is e, which may hold windows, with columns of the groups in the place of all around and inside of them.
func (g *groups) lift(e sqlparser.Expr) sqlparser.Expr {
	return replaceExpr(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		switch e := e.(type) {
		case *sqlparser.SQLVal, *sqlparser.NullVal:
			return e, false
		case *sqlparser.IntervalExpr: // no value
			return nil, true
		}
		if hasWindow(e) {
			return nil, true
		}
		if name, ok := g.texts[sqlparser.String(e)]; ok {
			return groupsColumnOf(name), false
		}
		return g.add(e, sqlparser.ColIdent{}), false
	})
}

func (g *groups) liftWindow(w *sqlparser.WindowDef) {
	for i := range w.PartitionBy {
		w.PartitionBy[i] = g.lift(w.PartitionBy[i])
	}
	for _, o := range w.OrderBy {
		o.Expr = g.lift(o.Expr)
	}
}

func groupsColumnOf(name string) *sqlparser.ColName {
	return &sqlparser.ColName{Name: sqlparser.NewColIdent(name), Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(groupsTable)}}
}

// shownName is what the result's column is called.
func shownName(a *sqlparser.AliasedExpr) sqlparser.ColIdent {
	if !a.As.IsEmpty() {
		return a.As
	}
	if c, ok := a.Expr.(*sqlparser.ColName); ok {
		return c.Name
	}
	if a.InputExpression != "" {
		return sqlparser.NewColIdent(a.InputExpression)
	}
	return sqlparser.NewColIdent(sqlparser.String(a.Expr))
}
