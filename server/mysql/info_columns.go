package mysql

import (
	"errors"
	"io"
	"strings"
	"sync"

	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// infoDatabase is information_schema with a table columns of our own: the engine's takes tables whose
// names differ by case for one, is quadratic in their number, and binds them all to show one.
type infoDatabase struct {
	sql.Database
	catalog sql.Catalog
}

// caseSensitiveNames makes the names of tables compare in information_schema as they do
// elsewhere. The engine's tables belong to the process, so once.
var caseSensitiveNames = sync.OnceValue(func() error {
	t, err := types.CreateString(sqltypes.VarChar, 64, sql.Collation_utf8mb3_bin)
	if err != nil {
		return err
	}
	ctx := sql.NewEmptyContext()
	db := information_schema.NewInformationSchemaDatabase()
	names, err := db.GetTableNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		table, ok, err := db.GetTableInsensitive(ctx, name)
		if err != nil || !ok {
			continue
		}
		for _, c := range table.Schema() {
			if strings.EqualFold(c.Name, "TABLE_NAME") || strings.EqualFold(c.Name, "REFERENCED_TABLE_NAME") {
				c.Type = t
			}
		}
	}
	return nil
})

func (d infoDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	if err != nil || !ok {
		return t, ok, err
	}
	if columns, ours := t.(*information_schema.ColumnsTable); ours {
		return &infoColumns{engine: columns, catalog: d.catalog}, true, nil
	}
	if strings.EqualFold(t.Name(), information_schema.ViewsTableName) {
		return infoViews{t}, true, nil
	}
	return t, true, nil
}

// infoColumns is information_schema.columns.
type infoColumns struct {
	engine  *information_schema.ColumnsTable
	catalog sql.Catalog
	only    string // the one table asked for, in any case; "" all
}

var (
	_ sql.Table        = (*infoColumns)(nil)
	_ sql.Databaseable = (*infoColumns)(nil)
)

func (t *infoColumns) Name() string               { return t.engine.Name() }
func (t *infoColumns) String() string             { return t.engine.String() }
func (t *infoColumns) Schema() sql.Schema         { return t.engine.Schema() }
func (t *infoColumns) Collation() sql.CollationID { return t.engine.Collation() }
func (t *infoColumns) Database() string           { return t.engine.Database() }

func (t *infoColumns) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholePartition{}), nil
}

// PartitionRows asks the engine's table about one table at a time.
func (t *infoColumns) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	var out []sql.Row
	for _, db := range t.catalog.AllDatabases(ctx) {
		names, err := db.GetTableNames(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if t.only != "" && !strings.EqualFold(name, t.only) {
				continue
			}
			table, ok, err := db.GetTableInsensitive(ctx, name)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if out, err = t.columnsOf(ctx, db.Name(), table, out); err != nil {
				return nil, err
			}
		}
	}
	s := sessionOf(ctx)
	if s == nil {
		return sql.RowsToRowIter(out...), nil
	}
	for _, v := range s.server.views(ctx) {
		if t.only != "" && !strings.EqualFold(v.Name, t.only) {
			continue
		}
		schema, err := s.server.viewSchema(ctx, v.Name)
		if err != nil {
			continue // a view that cannot be read has no columns
		}
		if out, err = t.columnsOf(ctx, sqltable.KafkaDatabase, viewTable{v.Name, schema}, out); err != nil {
			return nil, err
		}
	}
	return sql.RowsToRowIter(out...), nil
}

func (t *infoColumns) columnsOf(ctx *sql.Context, db string, table sql.Table, out []sql.Row) ([]sql.Row, error) {
	schema := make(sql.Schema, len(table.Schema()))
	for i, c := range table.Schema() {
		c = c.Copy()
		c.Source, c.DatabaseSource = table.Name(), db
		schema[i] = c
	}
	iter, err := t.engine.RowIter(ctx, oneTableCatalog{Catalog: t.catalog, db: oneTableDatabase{name: db, table: table}}, schema)
	if err != nil {
		return nil, err
	}
	for {
		row, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, iter.Close(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, iter.Close(ctx))
		}
		out = append(out, row)
	}
}

// oneTableCatalog is a catalog of one table.
type oneTableCatalog struct {
	sql.Catalog
	db oneTableDatabase
}

func (c oneTableCatalog) AllDatabases(*sql.Context) []sql.Database { return []sql.Database{c.db} }

type oneTableDatabase struct {
	name  string
	table sql.Table
}

func (d oneTableDatabase) Name() string { return d.name }

func (d oneTableDatabase) GetTableInsensitive(*sql.Context, string) (sql.Table, bool, error) {
	return d.table, true, nil
}

func (d oneTableDatabase) GetTableNames(*sql.Context) ([]string, error) {
	return []string{d.table.Name()}, nil
}

// narrowInfoColumns tells information_schema.columns which table a filter directly above wants, so
// that the others need not be bound. The filter stays.
func narrowInfoColumns(node sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(node, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		switch c := f.Child.(type) {
		case *plan.ResolvedTable:
		case *plan.TableAlias:
			if _, ok := c.Child.(*plan.ResolvedTable); !ok {
				return n, transform.SameTree, nil
			}
		default: // of several tables another one may be meant
			return n, transform.SameTree, nil
		}
		name := tableNameWanted(f.Expression)
		if name == "" {
			return n, transform.SameTree, nil
		}
		child, same, err := transform.Node(f.Child, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
			r, ok := n.(*plan.ResolvedTable)
			if !ok {
				return n, transform.SameTree, nil
			}
			t, ok := r.Table.(*infoColumns)
			if !ok {
				return n, transform.SameTree, nil
			}
			narrow := *t
			narrow.only = name
			out, err := r.WithTable(&narrow)
			return out, transform.NewTree, err
		})
		if err != nil || same {
			return n, transform.SameTree, err
		}
		return plan.NewFilter(f.Expression, child), transform.NewTree, nil
	})
	return out, err
}

// tableNameWanted is the constant that a conjunct says TABLE_NAME of information_schema.columns
// is; "" if there is none.
func tableNameWanted(e sql.Expression) string {
	switch e := e.(type) {
	case *expression.And:
		if s := tableNameWanted(e.LeftChild); s != "" {
			return s
		}
		return tableNameWanted(e.RightChild)
	case *expression.Equals:
		f, ok := e.Left().(*expression.GetField)
		lit, isLit := e.Right().(*expression.Literal)
		if !ok || !isLit || !strings.EqualFold(f.Name(), "TABLE_NAME") {
			return ""
		}
		s, _ := lit.Value().(string)
		return s
	}
	return ""
}
