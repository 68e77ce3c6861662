package sqltable

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"millrace/catalog"
	"millrace/scan"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/dolthub/go-mysql-server/sql"
)

// Table is a topic, or a companion of one, as a table bound to a statement's
// snapshot. It is immutable; With methods return changed copies.
type Table struct {
	provider *Provider
	name     string // as SQL names it, companion suffix included
	bound    *catalog.Table
	stmt     *StatementSnapshot
	cols     []column
	base     scan.Expr // what makes a companion's rows; nil: all records
	latest   bool      // only the newest record of each key
	past     *appended // AS OF: what had been appended by then; nil: all of the snapshot
	proj     []int     // indexes in cols; nil: all
	scan     Scan
	planned  bool
}

// Scan is what pushdown adds to a table: rows it need not return and an order to
// return them in.
type Scan struct {
	Filter         scan.Expr
	Limit          int64
	PartitionLimit int64
	Reverse        bool
}

var (
	_ sql.Table           = (*Table)(nil)
	_ sql.ProjectedTable  = (*Table)(nil)
	_ sql.PrimaryKeyTable = (*Table)(nil)
	_ sql.StatisticsTable = (*Table)(nil)
	_ sql.CommentedTable  = (*Table)(nil)
)

// Name implements sql.Table.
func (t *Table) Name() string { return t.name }

// String implements sql.Table.
func (t *Table) String() string { return t.name }

// Comment implements sql.CommentedTable: the topic's configs.
func (t *Table) Comment() string { return catalog.ConfigsText(t.bound.Topic.Configs) }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return collationOf(t.bound) }

// Schema implements sql.Table: the projected columns.
func (t *Table) Schema() sql.Schema {
	cols := t.projected()
	s := make(sql.Schema, len(cols))
	for i, c := range cols {
		s[i] = c.sql
	}
	return s
}

func (t *Table) projected() []*column {
	if t.proj == nil {
		out := make([]*column, len(t.cols))
		for i := range t.cols {
			out[i] = &t.cols[i]
		}
		return out
	}
	out := make([]*column, len(t.proj))
	for i, at := range t.proj {
		out[i] = &t.cols[at]
	}
	return out
}

// PrimaryKeySchema implements sql.PrimaryKeyTable: all columns, projected or not (the
// engine counts column ids by it).
func (t *Table) PrimaryKeySchema() sql.PrimaryKeySchema {
	all := *t
	all.proj = nil
	return sql.NewPrimaryKeySchema(all.Schema())
}

// WithProjections implements sql.ProjectedTable.
func (t *Table) WithProjections(names []string) sql.Table {
	out := *t
	out.proj = make([]int, 0, len(names))
	for _, n := range names {
		at := slices.IndexFunc(t.cols, func(c column) bool { return strings.EqualFold(c.sql.Name, n) })
		if at >= 0 {
			out.proj = append(out.proj, at)
		}
	}
	return &out
}

// Projections implements sql.ProjectedTable.
func (t *Table) Projections() []string {
	if t.proj == nil {
		return nil
	}
	names := make([]string, len(t.proj))
	for i, at := range t.proj {
		names[i] = t.cols[at].sql.Name
	}
	return names
}

// WithScan returns the table restricted by s; Planned is true of it.
func (t *Table) WithScan(s Scan) *Table {
	out := *t
	out.scan = s
	out.planned = true
	return &out
}

// Planned says that pushdown has dealt with the table.
func (t *Table) Planned() bool { return t.planned }

// Latest says that the table shows only the newest record of each key.
func (t *Table) Latest() bool { return t.latest }

// Statement is the statement whose snapshot the table shows.
func (t *Table) Statement() *StatementSnapshot { return t.stmt }

// Bound is the schema that the table is bound to.
func (t *Table) Bound() *catalog.Table { return t.bound }

// ScanColumn is the scan's name of the i-th column of Schema.
func (t *Table) ScanColumn(i int) scan.Column { return t.projected()[i].scan }

// Request is the scan that returns the table's rows.
func (t *Table) Request() scan.Request {
	cols := t.projected()
	source := t.source()
	if t.latest {
		source = scan.Latest(source)
	}
	req := scan.Request{
		Source:         source,
		Table:          t.bound,
		Columns:        make([]scan.Column, len(cols)),
		Filter:         both(t.base, t.scan.Filter),
		Limit:          t.scan.Limit,
		PartitionLimit: t.scan.PartitionLimit,
		Reverse:        t.scan.Reverse,
	}
	for i, c := range cols {
		req.Columns[i] = c.scan
	}
	return req
}

// source is the records that the table is made of.
func (t *Table) source() scan.Source {
	if t.past != nil {
		return t.past
	}
	return scan.FromSnapshot(t.stmt.Snapshot())
}

// Past says that the table shows what had been appended by some time, AS OF which it was named.
func (t *Table) Past() bool { return t.past != nil }

func both(a, b scan.Expr) scan.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return scan.And{Args: []scan.Expr{a, b}}
}

// DataLength implements sql.StatisticsTable: stored bytes.
func (t *Table) DataLength(*sql.Context) (uint64, error) {
	var n uint64
	for p := range t.bound.Topic.Partitions {
		n += uint64(max(0, t.provider.store.SizeBytes(state.TopicPartition{Topic: t.bound.Topic.ID, Partition: p})))
	}
	return n, nil
}

// RowCount implements sql.StatisticsTable. It is exact when every partition is dense;
// the engine then answers COUNT(*) with it. With pushdown switched off it never
// claims to be.
func (t *Table) RowCount(ctx *sql.Context) (uint64, bool, error) {
	var n uint64
	exact := t.base == nil && !t.latest && t.scan.Filter == nil && PushdownEnabled(ctx)
	source := t.source()
	for p := range t.bound.Topic.Partitions {
		b, err := source.Bounds(state.TopicPartition{Topic: t.bound.Topic.ID, Partition: p})
		if err != nil {
			return 0, false, err
		}
		n += uint64(b.End - b.LogStart)
		exact = exact && b.Dense
	}
	return n, exact, nil
}

// onePartition is the engine's only partition of a table: the scan itself goes
// through Kafka's, in order.
type onePartition struct{}

func (onePartition) Key() []byte { return []byte("all") }

// Partitions implements sql.Table.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(onePartition{}), nil
}

// PartitionRows implements sql.Table.
func (t *Table) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	r, err := scan.Open(t.Request())
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.name, err)
	}
	return &rowIter{reader: r, cols: t.projected(), zone: zone}, nil
}

// rowIter turns record batches into rows.
type rowIter struct {
	reader *scan.Reader
	cols   []*column
	zone   *Zone

	batch arrow.RecordBatch
	read  []func(i int) any
	next  int
	rows  int
	slab  []any // rows are cut from slabs, to allocate once for many
}

// slabRows is how many rows share an allocation, and so are kept as long as one of
// them is.
const slabRows = 128

// Next implements sql.RowIter.
func (it *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	for it.next >= it.rows {
		if err := it.load(ctx); err != nil {
			return nil, err
		}
	}
	w := len(it.cols)
	if len(it.slab) < w {
		it.slab = make([]any, w*min(slabRows, it.rows-it.next))
	}
	row := it.slab[:w:w]
	it.slab = it.slab[w:]
	for c, read := range it.read {
		row[c] = read(it.next)
	}
	it.next++
	return row, nil
}

func (it *rowIter) load(ctx *sql.Context) error {
	it.drop()
	if it.reader == nil {
		return io.EOF
	}
	batch, err := it.reader.Next(ctx)
	if err != nil {
		return err
	}
	it.batch = batch
	it.rows, it.next = int(batch.NumRows()), 0
	it.read = it.read[:0]
	for i, c := range it.cols {
		it.read = append(it.read, cells(c, batch.Column(i), it.zone))
	}
	return nil
}

func (it *rowIter) drop() {
	if it.batch != nil {
		it.batch.Release()
		it.batch = nil
	}
	it.rows, it.next = 0, 0
}

// Close implements sql.RowIter.
func (it *rowIter) Close(*sql.Context) error {
	it.drop()
	if it.reader != nil {
		it.reader.Close()
		it.reader = nil
	}
	return nil
}
