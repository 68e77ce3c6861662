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

// infoViews is information_schema.views. The engine's asks privileges that are not ours.
type infoViews struct{ sql.Table }

func (t infoViews) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholePartition{}), nil
}

func (t infoViews) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	var out []sql.Row
	if s := sessionOf(ctx); s != nil {
		for _, v := range s.server.views(ctx) {
			row := make(sql.Row, 0, len(t.Schema()))
			for _, cell := range []any{ // of the two enumerations the first: NONE and NO
				"def", sqltable.KafkaDatabase, v.Name, v.Query, uint16(1), uint16(1), v.Definer + "@%", "INVOKER", "utf8mb4", "utf8mb4_0900_bin"} {
				row = append(row, cell)
			}
			out = append(out, row)
		}
	}
	return sql.RowsToRowIter(out...), nil
}

// viewTable is a view as information_schema.columns asks about it.
type viewTable struct {
	name   string
	schema sql.Schema
}

func (t viewTable) Name() string               { return t.name }
func (t viewTable) String() string             { return t.name }
func (t viewTable) Schema() sql.Schema         { return t.schema }
func (t viewTable) Collation() sql.CollationID { return sql.Collation_utf8mb4_0900_bin }

func (t viewTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(), nil
}

func (t viewTable) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return sql.RowsToRowIter(), nil
}
