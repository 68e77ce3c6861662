package infoschema

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Sources are where the rows come from. What the session behind a context must not see
// is not in them.
type Sources struct {
	// Databases are all there are, this one among them.
	Databases func(ctx *sql.Context) []sql.Database
	// Views are those of a database, ViewColumns what one of them is made of; an error
	// leaves its columns out. Both may be nil: there are none.
	Views       func(ctx *sql.Context, db string) []View
	ViewColumns func(ctx *sql.Context, db, view string) (sql.Schema, error)
	// Privileges are what the session may do with a table, in MySQL's words with commas
	// between them; nil: nothing is said.
	Privileges func(ctx *sql.Context, db, table string) string
}

// View is a query with a name.
type View struct {
	Name    string
	Query   string
	Definer string
	Created any // as a cell of TIMESTAMP; nil: unknown
}

// Lister is a database that can describe its tables without looking into them closely.
// The rows of what it returns are never asked for.
type Lister interface {
	// KnownTable has the columns as they were known last.
	KnownTable(ctx *sql.Context, name string) (sql.Table, bool, error)
	// TableHead has the columns that every table has and its key; of others it tells nothing.
	TableHead(ctx *sql.Context, name string) (sql.Table, bool, error)
}

// Described is a table that can tell more than the engine's interfaces ask.
type Described interface {
	// CreatedAt is when the table was made, as a cell of TIMESTAMP; nil: unknown.
	CreatedAt(ctx *sql.Context) any
	// GeneratedFrom is the expression of a column; "" for one that has none.
	GeneratedFrom(column string) string
	// PartitionSizes are the rows and bytes of each partition, nil for a table without.
	PartitionSizes(ctx *sql.Context) []PartitionSize
	// PartitionedBy is the column that rows are partitioned by.
	PartitionedBy() string
}

// PartitionSize is one partition's.
type PartitionSize struct{ Rows, Bytes uint64 }

// Database is information_schema: our tables, and for the rest the engine's.
type Database struct {
	sql.Database
	tables map[string]*Table
}

var _ sql.Database = (*Database)(nil)

// New makes one over the engine's.
func New(engine sql.Database, src Sources) (*Database, error) {
	d := &Database{Database: engine, tables: make(map[string]*Table)}
	ctx := sql.NewEmptyContext()
	for name, kind := range kinds {
		t, ok, err := engine.GetTableInsensitive(ctx, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		d.tables[name] = &Table{name: t.Name(), schema: schemaLike(t.Schema()), src: src, kind: kind}
	}
	return d, nil
}

// GetTableInsensitive implements sql.Database.
func (d *Database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t, ok := d.tables[strings.ToLower(name)]; ok {
		return t, true, nil
	}
	return d.Database.GetTableInsensitive(ctx, name)
}

// GetTableNames implements sql.Database, with names as MySQL spells them.
func (d *Database) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, err := d.Database.GetTableNames(ctx)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ToUpper(n)
	}
	return out, err
}

// longestTable is how long the name of a topic may be, in characters.
const longestTable = 249

// schemaLike is the engine's schema, but names of tables are as long as Kafka's and compare, as they
// do everywhere else, with regard to case, and times are in seconds, as in MySQL.
func schemaLike(engine sql.Schema) sql.Schema {
	names := types.MustCreateString(sqltypes.VarChar, longestTable, sql.Collation_utf8mb3_bin)
	out := engine.Copy()
	for _, c := range out {
		switch c.Name {
		case colTable, "REFERENCED_TABLE_NAME":
			c.Type = names
		case colCreated:
			c.Type = types.MustCreateDatetimeType(sqltypes.Timestamp, 0)
		}
		c.DatabaseSource = sql.InformationSchemaDatabaseName
	}
	return out
}

// The columns that places are found by.
const (
	colSchema = "TABLE_SCHEMA"
	colTable  = "TABLE_NAME"
)

const colCreated = "CREATE_TIME"
