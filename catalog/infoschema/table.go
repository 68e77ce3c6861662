package infoschema

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
)

// Table is one of information_schema.
type Table struct {
	name   string
	schema sql.Schema
	src    Sources
	kind   kind
	wanted []PlaceFilter // what a row's place must fulfil, all of them
}

var (
	_ sql.Table        = (*Table)(nil)
	_ sql.Databaseable = (*Table)(nil)
	_ Narrowable       = (*Table)(nil)
)

// Name implements sql.Table.
func (t *Table) Name() string { return t.name }

// String implements sql.Table.
func (t *Table) String() string { return t.name }

// Schema implements sql.Table.
func (t *Table) Schema() sql.Schema { return t.schema }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// Database implements sql.Databaseable.
func (t *Table) Database() string { return sql.InformationSchemaDatabaseName }

// PlaceColumns implements Narrowable.
func (t *Table) PlaceColumns() []string { return placeColumnNames }

var placeColumnNames = []string{colSchema, colTable}

// Narrowed implements Narrowable.
func (t *Table) Narrowed(wanted []PlaceFilter) sql.Table {
	out := *t
	out.wanted = wanted
	return &out
}

type onePartition struct{}

func (onePartition) Key() []byte { return []byte("all") }

// Partitions implements sql.Table.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(onePartition{}), nil
}

// closeness is how closely a table must be looked at to tell of it.
type closeness int

const (
	heads closeness = iota // its key, comment and sizes
	whole                  // all columns
)

// kind is one of our tables: what it says of a table, and of a view; nil: nothing.
type kind struct {
	looks closeness
	table func(p place, out []sql.Row) ([]sql.Row, error)
	view  func(p viewPlace, out []sql.Row) ([]sql.Row, error)
}

// kinds are our tables, by lower-case name. Those without rows are here because the engine would bind all tables to
// find that there are none.
var kinds = map[string]kind{
	"columns":                 {whole, columnRows, viewColumnRows},
	"columns_extensions":      {whole, columnExtensionRows, nil},
	"tables":                  {heads, tableRow, viewTableRow},
	"tables_extensions":       {heads, tableExtensionRow, nil},
	"statistics":              {heads, statisticsRows, nil},
	"key_column_usage":        {heads, keyColumnRows, nil},
	"table_constraints":       {heads, constraintRow, nil},
	"partitions":              {heads, partitionRows, nil},
	"views":                   {heads, nil, viewRow},
	"check_constraints":       {},
	"referential_constraints": {},
	"st_geometry_columns":     {},
	"innodb_columns":          {},
	"innodb_fields":           {},
	"innodb_indexes":          {},
	"innodb_tables":           {},
	"innodb_tablestats":       {},
	"innodb_virtual":          {},

	"table_constraints_extensions": {},
}

// place is one table that rows are made of.
type place struct {
	ctx   *sql.Context
	db    string
	name  string // as the database lists it
	table sql.Table
	src   Sources
}

// viewPlace is one view.
type viewPlace struct {
	ctx  *sql.Context
	db   string
	view View
	src  Sources
}

// exactUpTo is of how many tables the columns are brought up to the last record; of more they are shown as
// they were known last, because that reads nothing.
const exactUpTo = 64

// PartitionRows implements sql.Table.
func (t *Table) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	it := &rowIter{t: t}
	for _, db := range t.src.Databases(ctx) {
		if t.kind.table != nil {
			names, err := db.GetTableNames(ctx)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				if t.wants(ctx, db.Name(), name) {
					it.left = append(it.left, candidate{db: db, table: name})
				}
			}
		}
		if t.kind.view == nil || t.src.Views == nil {
			continue
		}
		for _, v := range t.src.Views(ctx, db.Name()) {
			if t.wants(ctx, db.Name(), v.Name) {
				it.left = append(it.left, candidate{db: db, view: v})
			}
		}
	}
	it.known = len(it.left) > exactUpTo
	return it, nil
}

func (t *Table) wants(ctx *sql.Context, db, table string) bool {
	for _, f := range t.wanted {
		if !f.Allows(ctx, db, table) {
			return false
		}
	}
	return true
}

// candidate is a table, or a view if table is empty.
type candidate struct {
	db    sql.Database
	table string
	view  View
}

// rowIter makes the rows of one table at a time.
type rowIter struct {
	t     *Table
	left  []candidate
	known bool // what was known last is close enough
	rows  []sql.Row
	next  int
}

// Next implements sql.RowIter.
func (it *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	for it.next >= len(it.rows) {
		if len(it.left) == 0 {
			return nil, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := it.left[0]
		it.left = it.left[1:]
		it.rows, it.next = it.rows[:0], 0
		if err := it.load(ctx, c); err != nil {
			return nil, err
		}
	}
	row := it.rows[it.next]
	it.next++
	return row, nil
}

func (it *rowIter) load(ctx *sql.Context, c candidate) (err error) {
	k := it.t.kind
	if c.table == "" {
		it.rows, err = k.view(viewPlace{ctx, c.db.Name(), c.view, it.t.src}, it.rows)
		return err
	}
	table, ok, err := it.look(ctx, c)
	if err != nil || !ok { // it is gone since it was listed
		return err
	}
	it.rows, err = k.table(place{ctx, c.db.Name(), c.table, table, it.t.src}, it.rows)
	return err
}

// look at a table no closer than is needed.
func (it *rowIter) look(ctx *sql.Context, c candidate) (sql.Table, bool, error) {
	lister, ok := c.db.(Lister)
	switch {
	case !ok:
	case it.t.kind.looks == heads:
		return lister.TableHead(ctx, c.table)
	case it.known:
		return lister.KnownTable(ctx, c.table)
	}
	return c.db.GetTableInsensitive(ctx, c.table)
}

// Close implements sql.RowIter.
func (it *rowIter) Close(*sql.Context) error {
	it.left, it.rows, it.next = nil, nil, 0
	return nil
}
