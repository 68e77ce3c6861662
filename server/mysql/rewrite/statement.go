// Package rewrite changes parsed statements into such as the engine answers right, before names are bound: windows and views
// become plain queries, stars become columns, and forms that the engine gets wrong become calls of functions of package sqlfn.
package rewrite

import (
	"strings"

	"millrace/catalog"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Tables is what a statement's names mean to who asks.
type Tables interface {
	// View is the view of that name in the database of topics; false: there is none. The error says that it may
	// not be read.
	View(ctx *sql.Context, name string) (catalog.View, bool, error)
	// VisibleColumns are the names that * stands for over a table of topics, in order; false: there is none of that name, or
	// it may not be read, of which the engine will tell.
	VisibleColumns(ctx *sql.Context, db, table string) ([]string, bool, error)
}

// Statement changes stmt, in place, into what the engine answers right.
func Statement(ctx *sql.Context, stmt sqlparser.Statement, tables Tables) error {
	if err := expandWindows(stmt); err != nil {
		return err
	}
	if err := expandViews(ctx, stmt, tables); err != nil {
		return err
	}
	stars := starRewriter{ctx: ctx, tables: tables}
	if err := stars.rewrite(stmt); err != nil {
		return err
	}
	if err := groupAllWindows(stmt); err != nil {
		return err
	}
	rewriteNested(stmt)
	if err := wrapDeep(stmt); err != nil {
		return err
	}
	w := Walk{expr: rewriteExpr, Node: func(n any) bool {
		switch n := n.(type) {
		case *sqlparser.JSONTableExpr:
			rewriteJSONTable(n)
		case *sqlparser.AliasedTableExpr:
			if sub, ok := n.Expr.(*sqlparser.Subquery); ok {
				nameTexts(sub.Select)
			}
		case *sqlparser.JoinTableExpr:
			keepOuter(n)
		case *sqlparser.Select:
			groupByConstants(n)
			nameSorted(n)
			seeRepeated(n)
		case *sqlparser.AliasedExpr:
			nameText(n)
		}
		return true
	}}
	if UsesInformationSchema(stmt) {
		w.expr = func(e sqlparser.Expr) sqlparser.Expr {
			if collate, ok := e.(*sqlparser.CollateExpr); ok {
				return rewriteCollate(collate)
			}
			return rewriteExpr(e)
		}
	}
	w.Statement(stmt)
	if w.tooComplex {
		return ErrTooComplex
	}
	var err error
	windows := Walk{Node: func(n any) bool {
		if sel, ok := n.(*sqlparser.Select); ok && err == nil {
			err = rewriteWindows(sel)
		}
		return err == nil
	}}
	windows.Statement(stmt)
	return err
}

// nameTexts has columns of a derived table that are texts be called so, where the planner puts quotes around the name.
func nameTexts(s sqlparser.SelectStatement) {
	for _, sel := range members(s, nil) {
		for _, e := range sel.SelectExprs {
			a, ok := e.(*sqlparser.AliasedExpr)
			if !ok || !a.As.IsEmpty() {
				continue
			}
			if v, ok := a.Expr.(*sqlparser.SQLVal); ok && v.Type == sqlparser.StrVal && len(v.Val) > 0 {
				a.As = sqlparser.NewColIdent(string(v.Val))
			}
		}
	}
}

// nameText has a column that is a text and has no name be called as the text reads, not as it is escaped, and one that counts warnings
// as it is written.
func nameText(e *sqlparser.AliasedExpr) {
	if c, ok := e.Expr.(*sqlparser.ColName); ok && e.As.IsEmpty() {
		if _, counts := countsWarnings(c); counts {
			e.As = sqlparser.NewColIdent(strings.TrimSpace(sqlparser.String(c)))
		}
	}
	if v, ok := e.Expr.(*sqlparser.SQLVal); ok && v.Type == sqlparser.StrVal && e.As.IsEmpty() && len(v.Val) > 0 {
		e.InputExpression = string(v.Val)
	}
}
