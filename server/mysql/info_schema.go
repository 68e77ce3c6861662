package mysql

import (
	"fmt"
	"strings"

	"millrace/catalog/infoschema"
	"millrace/catalog/sqltable"
	"millrace/server/auth"

	"github.com/dolthub/go-mysql-server/sql"
)

// informationSchema is information_schema over engine's own, as far as a session may see.
func (s *Server) informationSchema(engine sql.Database, catalog sql.Catalog) sql.Database {
	db, err := infoschema.New(engine, infoschema.Sources{
		Databases: catalog.AllDatabases,
		Views:     s.infoViews,
		ViewColumns: func(ctx *sql.Context, _, view string) (sql.Schema, error) {
			return s.viewSchema(ctx, view)
		},
		Privileges: privilegesOn,
	})
	if err != nil {
		panic(fmt.Sprintf("mysql: information_schema: %v", err)) // a programming error: its tables are the engine's
	}
	return privilegedSchema{db}
}

func (s *Server) infoViews(ctx *sql.Context, db string) []infoschema.View {
	if db != sqltable.KafkaDatabase || sessionOf(ctx) == nil {
		return nil
	}
	zone, err := sqltable.SessionZone(ctx)
	if err != nil {
		return nil
	}
	views := s.views(ctx)
	out := make([]infoschema.View, 0, len(views))
	for _, v := range views {
		out = append(out, infoschema.View{Name: v.Name, Query: v.Query, Definer: v.Definer, Created: zone.Wall(v.Created * 1000)})
	}
	return out
}

// privilegesOn are MySQL's names for what the session may do with the rows of a table.
func privilegesOn(ctx *sql.Context, db, table string) string {
	var out []string
	if mayRead(ctx, db, table) {
		out = append(out, "select")
	}
	if strings.EqualFold(db, sqltable.KafkaDatabase) && mayDo(ctx, auth.Write, db, table) {
		out = append(out, "insert")
	}
	return strings.Join(out, ",")
}
