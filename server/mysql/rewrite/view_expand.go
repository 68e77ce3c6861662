package rewrite

import (
	"slices"
	"strings"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// A view is replaced by its query before anything else looks at the statement, so that all rewriting, binding and
// authorisation is that of the query: who asks needs the right to read what the view reads (and the view's name).

// maxViewDepth bounds views of views.
const maxViewDepth = 32

// viewExpander replaces the views that a statement names.
type viewExpander struct {
	ctx    *sql.Context
	tables Tables
	stack  []string // views being expanded
	ctes   map[string]bool
	nodes  int
	err    error
}

// expandViews replaces, in place, every view that stmt names by its query.
func expandViews(ctx *sql.Context, stmt sqlparser.Statement, tables Tables) error {
	v := &viewExpander{ctx: ctx, tables: tables}
	v.walk(stmt)
	return v.err
}

// ViewQuery is the query of a view, with the views in it replaced and all its names qualified.
func ViewQuery(ctx *sql.Context, view catalog.View, tables Tables) (sqlparser.SelectStatement, error) {
	v := &viewExpander{ctx: ctx, tables: tables}
	return v.query(view)
}

func (v *viewExpander) walk(stmt sqlparser.Statement) {
	nodes, tooComplex := walkScoped(stmt, nil, func(n any, ctes map[string]bool) bool {
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok && v.err == nil {
			v.ctes = ctes
			v.table(t)
		}
		return v.err == nil
	})
	if v.nodes += nodes; v.err == nil && (tooComplex || v.nodes > maxNodes) {
		v.err = ErrTooComplex
	}
}

func (v *viewExpander) table(t *sqlparser.AliasedTableExpr) {
	name, ok := t.Expr.(sqlparser.TableName)
	if !ok {
		return
	}
	db := name.DbQualifier.String()
	if db == "" {
		if v.ctes[strings.ToLower(name.Name.String())] {
			return
		}
		db = v.ctx.GetCurrentDatabase()
	}
	if !strings.EqualFold(db, sqltable.KafkaDatabase) {
		return
	}
	view, ok, err := v.tables.View(v.ctx, name.Name.String())
	if err != nil {
		v.err = err
		return
	}
	if !ok {
		return
	}
	if t.AsOf != nil {
		v.err = sqlerr.Instead("AS OF of a view", "Write AS OF at the topics of a query of your own.")
		return
	}
	sel, err := v.query(view)
	if err != nil {
		v.err = err
		return
	}
	sub := &sqlparser.Subquery{Select: sel}
	for _, c := range view.Columns {
		sub.Columns = append(sub.Columns, sqlparser.NewColIdent(c))
	}
	t.Expr = sub
	if t.As.IsEmpty() {
		t.As = name.Name
	}
	t.Hints = nil
}

// query is a view's query, with the views in it replaced and all its names qualified.
func (v *viewExpander) query(view catalog.View) (sqlparser.SelectStatement, error) {
	if slices.Contains(v.stack, view.Name) || len(v.stack) >= maxViewDepth {
		return nil, sqlerr.New(1462, "HY000", "`%s`.`%s` contains view recursion", sqltable.KafkaDatabase, view.Name)
	}
	stmt, err := sqlparser.Parse(view.Query)
	if err != nil {
		return nil, sqlerr.New(1356, "HY000", "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them: %v", sqltable.KafkaDatabase, view.Name, err)
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return nil, sqlerr.ErrInternal
	}
	if err := expandWindows(sel); err != nil {
		return nil, err
	}
	qualifyTables(sel, view.Database)
	inner := &viewExpander{ctx: v.ctx, tables: v.tables, stack: append(slices.Clone(v.stack), view.Name), nodes: v.nodes}
	inner.walk(sel)
	v.nodes = inner.nodes
	return sel, inner.err
}

// qualifyTables gives the tables that stmt names without database, and that are no common table expressions, db.
func qualifyTables(stmt sqlparser.Statement, db string) {
	walkScoped(stmt, nil, func(n any, ctes map[string]bool) bool {
		t, ok := n.(*sqlparser.AliasedTableExpr)
		if !ok {
			return true
		}
		name, ok := t.Expr.(sqlparser.TableName)
		if !ok || !name.DbQualifier.IsEmpty() || ctes[strings.ToLower(name.Name.String())] {
			return true
		}
		name.DbQualifier = sqlparser.NewTableIdent(db)
		t.Expr = name
		t.Auth.TargetNames = []string{db, name.Name.String()}
		return true
	})
}
