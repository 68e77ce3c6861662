package mysql

import (
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// The engine learns of views only to list them: their queries were put in their place before (view_expand.go).

var _ sql.ViewDatabase = visibleDatabase{}

// CreateView and DropView are carried out from the parsed statement and never come here.
func (d visibleDatabase) CreateView(*sql.Context, string, string, string) error {
	return sqlerr.Unsupported("CREATE VIEW")
}

// DropView see CreateView.
func (d visibleDatabase) DropView(*sql.Context, string) error { return sqlerr.Unsupported("DROP VIEW") }

// GetViewDefinition says that there is none: a name that is still there when the engine binds is no view.
func (d visibleDatabase) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase: those that the session may see.
func (d visibleDatabase) AllViews(ctx *sql.Context) ([]sql.ViewDefinition, error) {
	s := sessionOf(ctx)
	if s == nil || d.Name() != sqltable.KafkaDatabase {
		return nil, nil
	}
	var out []sql.ViewDefinition
	for _, v := range s.server.views(ctx) {
		out = append(out, sql.ViewDefinition{Name: v.Name, TextDefinition: v.Query, CreateViewStatement: createViewText(v)})
	}
	return out, nil
}
