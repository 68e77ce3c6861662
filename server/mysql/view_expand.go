package mysql

import (
	"maps"
	"slices"
	"strings"

	"millrace/catalog"
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// A view is replaced by its query before anything else looks at the statement, so that all rewriting, binding and
// authorisation is that of the query: who asks needs the right to read what the view reads (and the view's name).

// maxViewDepth bounds views of views.
const maxViewDepth = 32

// viewExpander replaces the views that a statement names.
type viewExpander struct {
	ctx   *sql.Context
	cat   *catalog.Catalog
	s     *Server
	stack []string // views being expanded
	ctes  map[string]bool
	nodes int
	err   error
}

// expandViews replaces, in place, every view that stmt names by its query.
func (c *conn) expandViews(ctx *sql.Context, stmt sqlparser.Statement) error {
	v := &viewExpander{ctx: ctx, cat: c.s.o.Catalog, s: c.s}
	v.walk(stmt, nil)
	return v.err
}

// walk visits stmt; within is the node whose common table expressions are in scope already.
func (v *viewExpander) walk(stmt sqlparser.Statement, within any) {
	w := astWalk{node: func(n any) bool {
		if v.err != nil {
			return false
		}
		if with := withOf(n); with != nil && n != within {
			inner := *v
			inner.ctes = maps.Clone(v.ctes)
			if inner.ctes == nil {
				inner.ctes = map[string]bool{}
			}
			for _, c := range with.Ctes {
				inner.ctes[strings.ToLower(c.As.String())] = true
			}
			inner.walk(n.(sqlparser.Statement), n)
			v.err, v.nodes = inner.err, inner.nodes
			return false
		}
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok {
			v.table(t)
		}
		return v.err == nil
	}}
	w.statement(stmt)
	if v.nodes += w.nodes; v.err == nil && (w.tooComplex || v.nodes > maxNodes) {
		v.err = errTooComplex
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
	view, ok := v.s.view(name.Name.String())
	if !ok {
		return
	}
	if !mayRead(v.ctx, sqltable.KafkaDatabase, view.Name) {
		v.err = errDenied(sessionOf(v.ctx), "SELECT", view.Name)
		return
	}
	if t.AsOf != nil {
		v.err = errInstead("AS OF of a view", "Write AS OF at the topics of a query of your own.")
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
		return nil, newError(1462, "HY000", "`%s`.`%s` contains view recursion", sqltable.KafkaDatabase, view.Name)
	}
	stmt, err := sqlparser.Parse(view.Query)
	if err != nil {
		return nil, newError(1356, "HY000", "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them: %v", sqltable.KafkaDatabase, view.Name, err)
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return nil, errInternal
	}
	if err := expandWindows(sel); err != nil {
		return nil, err
	}
	qualifyTables(sel, view.Database)
	inner := &viewExpander{ctx: v.ctx, cat: v.cat, s: v.s, stack: append(slices.Clone(v.stack), view.Name), nodes: v.nodes}
	inner.walk(sel, nil)
	v.nodes = inner.nodes
	return sel, inner.err
}

// qualifyTables gives the tables that stmt names without database, and that are no common table expressions, db.
func qualifyTables(stmt sqlparser.Statement, db string) {
	var walk func(stmt sqlparser.Statement, within any, ctes map[string]bool)
	walk = func(stmt sqlparser.Statement, within any, ctes map[string]bool) {
		w := astWalk{node: func(n any) bool {
			if with := withOf(n); with != nil && n != within {
				inner := maps.Clone(ctes)
				if inner == nil {
					inner = map[string]bool{}
				}
				for _, c := range with.Ctes {
					inner[strings.ToLower(c.As.String())] = true
				}
				walk(n.(sqlparser.Statement), n, inner)
				return false
			}
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
		}}
		w.statement(stmt)
	}
	walk(stmt, nil, nil)
}

// view looks a view up; a topic of the same name hides it.
func (s *Server) view(name string) (catalog.View, bool) {
	v, ok := s.o.Catalog.View(name)
	if !ok {
		return v, false
	}
	if _, topic := s.o.Store.Topics().ByName(name); topic {
		return v, false
	}
	return v, true
}

// views are those that the session may see.
func (s *Server) views(ctx *sql.Context) []catalog.View {
	var out []catalog.View
	for _, v := range s.o.Catalog.Views() {
		if _, topic := s.o.Store.Topics().ByName(v.Name); !topic && maySee(ctx, sqltable.KafkaDatabase, v.Name) {
			out = append(out, v)
		}
	}
	return out
}

// viewSchema is the columns of a view as they are now. The error is that of its query.
func (s *Server) viewSchema(ctx *sql.Context, name string) (sql.Schema, error) {
	text := "SELECT * FROM " + quotedName(sqltable.KafkaDatabase) + "." + quotedName(name)
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, err
	}
	c := &conn{s: s, sess: sessionOf(ctx)}
	if err := c.rewrite(ctx, stmt); err != nil {
		return nil, err
	}
	node, _, err := s.engine.plan(ctx, stmt, text, nil, false)
	if err != nil {
		return nil, err
	}
	out := make(sql.Schema, len(node.Schema()))
	for i, col := range node.Schema() {
		col = col.Copy()
		col.Source, col.DatabaseSource, col.PrimaryKey, col.Extra = name, sqltable.KafkaDatabase, false, ""
		out[i] = col
	}
	return out, nil
}
