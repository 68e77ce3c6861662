package sqltable

import (
	"io"
	"slices"
	"strings"
	"time"

	"millrace/catalog/infoschema"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// systemDatabase is database millrace.
type systemDatabase struct {
	tables map[string]*systemTable // by lower-case name, former names too
	names  []string
}

var _ sql.Database = (*systemDatabase)(nil)

// Name implements sql.Database.
func (d *systemDatabase) Name() string { return SystemDatabase }

// GetTableNames implements sql.Database.
func (d *systemDatabase) GetTableNames(*sql.Context) ([]string, error) { return d.names, nil }

// GetTableInsensitive implements sql.Database.
func (d *systemDatabase) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	t, ok := d.tables[strings.ToLower(name)]
	if !ok {
		return nil, false, nil
	}
	return t, true, nil
}

func newSystemDatabase(p *Provider) *systemDatabase {
	d := &systemDatabase{tables: make(map[string]*systemTable)}
	for _, def := range systemTables() {
		t := &systemTable{provider: p, def: def, schema: make(sql.Schema, len(def.columns))}
		for i, c := range def.columns {
			t.schema[i] = &sql.Column{Name: c.name, Type: c.typ, Nullable: c.null, Comment: c.doc, Source: def.name, DatabaseSource: SystemDatabase}
		}
		d.tables[def.name] = t
		d.names = append(d.names, def.name)
		if def.formerly != "" {
			former := *t
			former.named = def.formerly
			d.tables[def.formerly] = &former
		}
	}
	slices.Sort(d.names)
	return d
}

// systemTables is what there is in database millrace; docs/system-tables.md is made of it.
func systemTables() []systemDef {
	return []systemDef{
		topicsTable(), partitionsTable(), columnsTable(), expansionsTable(), configsTable(),
		consumerGroupsTable(), groupMembersTable(), consumerLagTable(),
		transactionsTable(), producersTable(),
		connectionsTable(), queriesTable(), statementsTable(), clientErrorsTable(),
		usersTable(), aclsTable(), quotasTable(),
		segmentsTable(), storageTable(),
	}
}

// systemDef describes a table and makes its rows.
type systemDef struct {
	name     string
	formerly string // a name it had, which still works
	doc      string // one sentence
	columns  []systemColumn
	// One of the two makes the rows: all at once, or those of one topic.
	rows  func(p *Provider, ctx *sql.Context) ([]sql.Row, error)
	topic *topicRows
}

// systemColumn is one column of a systemDef.
type systemColumn struct {
	name string
	typ  sql.Type
	null bool
	doc  string // "" when the name says it
}

// topicRows makes the rows of a table topic by topic.
type topicRows struct {
	column string // the one that has the topic's name
	rows   func(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error)
}

// topicQuery is what the rows of a topic are made for.
type topicQuery struct {
	p     *Provider
	ctx   *sql.Context
	table *systemTable
	few   bool // topics are asked for: what costs something is worth it
}

// needs says whether a column is read at all.
func (q topicQuery) needs(column string) bool {
	t := q.table
	return t.proj == nil || slices.ContainsFunc(t.proj, func(at int) bool { return t.schema[at].Name == column })
}

func (q topicQuery) needsAny(columns []string) bool { return slices.ContainsFunc(columns, q.needs) }

// sysTextLength is how many characters sysText holds.
const sysTextLength = 255

// Types of the columns of system tables.
var (
	sysText  = varchar(sysTextLength, sql.Collation_utf8mb4_0900_bin)
	sysLong  = text(sql.Collation_utf8mb4_0900_bin)
	sysTime  = types.MustCreateDatetimeType(sqltypes.Timestamp, 3)
	sysInt   = types.Int32
	sysBig   = types.Int64
	sysFloat = types.Float64
	sysBool  = types.Boolean
)

func required(name string, typ sql.Type, doc string) systemColumn {
	return systemColumn{name, typ, false, doc}
}

func optional(name string, typ sql.Type, doc string) systemColumn {
	return systemColumn{name, typ, true, doc}
}

// systemTable makes its rows when it is read.
type systemTable struct {
	provider *Provider
	def      systemDef
	named    string // if not def.name
	schema   sql.Schema
	proj     []int // indexes in schema; nil: all
	wanted   []infoschema.PlaceFilter
}

var (
	_ sql.Table             = (*systemTable)(nil)
	_ sql.ProjectedTable    = (*systemTable)(nil)
	_ sql.PrimaryKeyTable   = (*systemTable)(nil)
	_ sql.CommentedTable    = (*systemTable)(nil)
	_ infoschema.Narrowable = (*systemTable)(nil)
)

func (t *systemTable) Name() string {
	if t.named != "" {
		return t.named
	}
	return t.def.name
}
func (t *systemTable) String() string             { return t.Name() }
func (t *systemTable) Collation() sql.CollationID { return sql.Collation_utf8mb4_0900_bin }
func (t *systemTable) Comment() string            { return t.def.doc }

func (t *systemTable) Schema() sql.Schema {
	if t.proj == nil {
		return t.schema
	}
	out := make(sql.Schema, len(t.proj))
	for i, at := range t.proj {
		out[i] = t.schema[at]
	}
	return out
}

// PrimaryKeySchema implements sql.PrimaryKeyTable: there is no key, but the engine counts the ids of columns by it.
func (t *systemTable) PrimaryKeySchema() sql.PrimaryKeySchema {
	return sql.NewPrimaryKeySchema(t.schema)
}

// WithProjections implements sql.ProjectedTable.
func (t *systemTable) WithProjections(names []string) sql.Table {
	out := *t
	out.proj = make([]int, 0, len(names))
	for _, n := range names {
		at := slices.IndexFunc(t.schema, func(c *sql.Column) bool { return strings.EqualFold(c.Name, n) })
		if at >= 0 {
			out.proj = append(out.proj, at)
		}
	}
	return &out
}

// Projections implements sql.ProjectedTable.
func (t *systemTable) Projections() []string {
	if t.proj == nil {
		return nil
	}
	names := make([]string, len(t.proj))
	for i, at := range t.proj {
		names[i] = t.schema[at].Name
	}
	return names
}

// PlaceColumns implements infoschema.Narrowable.
func (t *systemTable) PlaceColumns() []string {
	if t.def.topic == nil {
		return nil
	}
	return []string{t.def.topic.column}
}

// Narrowed implements infoschema.Narrowable.
func (t *systemTable) Narrowed(wanted []infoschema.PlaceFilter) sql.Table {
	out := *t
	out.wanted = wanted
	return &out
}

func (t *systemTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(onePartition{}), nil
}

func (t *systemTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	it := &systemIter{t: t}
	if t.def.topic == nil {
		var err error
		it.rows, err = t.def.rows(t.provider, ctx)
		return it, err
	}
	for _, topic := range t.provider.statement(ctx).Snapshot().Topics().All() {
		wanted := true
		for _, f := range t.wanted {
			wanted = wanted && f.Allows(ctx, topic.Name)
		}
		if wanted {
			it.topics = append(it.topics, topic)
		}
	}
	it.few = len(it.topics) <= fewTopics
	return it, nil
}

// fewTopics is of how many topics at once what costs something is told, too.
const fewTopics = 64

// systemIter makes rows topic by topic, where they are made so.
type systemIter struct {
	t      *systemTable
	topics []state.Topic
	few    bool // that is, no more than fewTopics
	rows   []sql.Row
	next   int
}

// Next implements sql.RowIter.
func (it *systemIter) Next(ctx *sql.Context) (sql.Row, error) {
	for it.next >= len(it.rows) {
		if len(it.topics) == 0 {
			return nil, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		topic := it.topics[0]
		it.topics = it.topics[1:]
		var err error
		it.next = 0
		q := topicQuery{it.t.provider, ctx, it.t, it.few}
		if it.rows, err = it.t.def.topic.rows(q, topic, it.rows[:0]); err != nil {
			return nil, err
		}
	}
	row := it.rows[it.next]
	it.next++
	if it.t.proj == nil {
		return row, nil
	}
	out := make(sql.Row, len(it.t.proj))
	for i, at := range it.t.proj {
		out[i] = row[at]
	}
	return out, nil
}

// Close implements sql.RowIter.
func (it *systemIter) Close(*sql.Context) error {
	it.topics, it.rows, it.next = nil, nil, 0
	return nil
}

func wallOf(zone *Zone, ms int64) any {
	if ms < 0 {
		return nil
	}
	return zone.Wall(ms * int64(time.Millisecond/time.Microsecond))
}

// orNull is text as a cell; NULL when there is none.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return valid(s)
}

// valid is what a peer said, as text.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func yes(b bool) int8 {
	if b {
		return 1
	}
	return 0
}
