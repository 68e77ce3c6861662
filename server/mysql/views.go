package mysql

import (
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/rewrite"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// namedTables is what names mean to the session of a context.
type namedTables struct{ s *Server }

// View implements rewrite.Tables. One that the session may not read stays a name, which is refused like any other when it
// is bound: in the same order, and so in the same words, as one that does not exist.
func (t namedTables) View(ctx *sql.Context, name string) (catalog.View, bool, error) {
	v, ok := t.s.view(name)
	return v, ok && mayRead(ctx, sqltable.KafkaDatabase, v.Name), nil
}

// VisibleColumns implements rewrite.Tables.
func (t namedTables) VisibleColumns(ctx *sql.Context, db, table string) ([]string, bool, error) {
	if !mayRead(ctx, db, table) {
		return nil, false, nil
	}
	return t.s.o.Provider.VisibleColumns(ctx, db, table)
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
	if err := rewrite.Statement(ctx, stmt, namedTables{s}); err != nil {
		return nil, err
	}
	node, _, err := s.engine.plan(ctx, stmt, text, nil, nil)
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
