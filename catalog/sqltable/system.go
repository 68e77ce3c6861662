package sqltable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// systemDatabase is database millrace.
type systemDatabase struct {
	tables map[string]*systemTable
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

// systemTable makes its rows when it is read.
type systemTable struct {
	name   string
	schema sql.Schema
	rows   func(ctx *sql.Context) ([]sql.Row, error)
}

var _ sql.Table = (*systemTable)(nil)

func (t *systemTable) Name() string               { return t.name }
func (t *systemTable) String() string             { return t.name }
func (t *systemTable) Schema() sql.Schema         { return t.schema }
func (t *systemTable) Collation() sql.CollationID { return sql.Collation_utf8mb4_0900_bin }

func (t *systemTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(onePartition{}), nil
}

func (t *systemTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.rows(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

func newSystemDatabase(p *Provider) *systemDatabase {
	coll := sql.Collation_utf8mb4_0900_bin
	str := varchar(255, coll)
	when := types.MustCreateDatetimeType(sqltypes.Timestamp, 3)
	d := &systemDatabase{tables: make(map[string]*systemTable)}
	add := func(name string, rows func(*sql.Context) ([]sql.Row, error), cols ...*sql.Column) {
		for _, c := range cols {
			c.Source, c.DatabaseSource = name, SystemDatabase
		}
		d.tables[name] = &systemTable{name: name, schema: cols, rows: rows}
		d.names = append(d.names, name)
	}
	col := func(name string, t sql.Type, nullable bool) *sql.Column {
		return &sql.Column{Name: name, Type: t, Nullable: nullable}
	}
	add("topics", p.topicRows,
		col("name", str, false), col("id", str, false), col("partitions", types.Int32, false),
		col("created_at", when, true), col("configs", types.JSON, false))
	add("partitions", p.partitionRows,
		col("topic", str, false), col("partition", types.Int32, false),
		col("log_start", types.Int64, false), col("last_stable", types.Int64, false),
		col("end_offset", types.Int64, false), col("size_bytes", types.Int64, false))
	add("groups", p.groupRows,
		col("group_id", str, false), col("state", str, true), col("protocol_type", str, true),
		col("members", types.Int64, true), col("generation", types.Int64, true))
	add("group_offsets", p.groupOffsetRows,
		col("group_id", str, false), col("topic", str, false), col("partition", types.Int32, false),
		col("committed_offset", types.Int64, false), col("end_offset", types.Int64, false),
		col("lag", types.Int64, false), col("committed_at", when, true), col("metadata", text(coll), false))
	add("connections", p.connectionRows,
		col("id", types.Int64, false), col("protocol", str, false), col("user", str, false),
		col("client", str, false), col("software", str, false), col("since", when, false))
	add("client_errors", p.clientErrorRows,
		col("last_seen", when, false), col("first_seen", when, false), col("count", types.Int64, false),
		col("client_id", str, false), col("software", str, false), col("address", str, false), col("principal", str, false),
		col("api", str, true), col("version", types.Int32, true), col("topic", str, true), col("group_id", str, true),
		col("transactional_id", str, true), col("code", types.Int32, true), col("error", str, false),
		col("message", text(coll), true), col("hint", text(coll), true))
	add("statements", p.statementRows,
		col("digest", varchar(64, coll), false), col("statement", text(coll), false), col("count", types.Int64, false),
		col("errors", types.Int64, false), col("total_ms", types.Float64, false), col("max_ms", types.Float64, false),
		col("rows_sent", types.Int64, false), col("rows_scanned", types.Int64, false), col("fallbacks", types.Int64, false),
		col("fallback_reason", text(coll), true), col("last_seen", when, false))
	add("storage", p.storageRows,
		col("last_lsn", types.Uint64, false), col("log_bytes", types.Int64, false),
		col("segment_bytes", types.Int64, false), col("segments", types.Int64, false),
		col("disk_total", types.Int64, false), col("disk_free", types.Int64, false),
		col("healthy", types.Boolean, false))
	slices.Sort(d.names)
	return d
}

func wallOf(zone *Zone, ms int64) any {
	if ms < 0 {
		return nil
	}
	return zone.Wall(ms * int64(time.Millisecond/time.Microsecond))
}

func (p *Provider) statementRows(ctx *sql.Context) ([]sql.Row, error) {
	if p.opts.Statements == nil {
		return nil, nil
	}
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	var rows []sql.Row
	for _, s := range p.opts.Statements() {
		var reason any
		if s.Reason != "" {
			reason = s.Reason
		}
		rows = append(rows, sql.Row{
			s.Digest, s.Text, s.Count, s.Errors, ms(s.Total), ms(s.Max), s.RowsSent, s.RowsScanned, s.Fallbacks, reason, wallOf(zone, s.LastSeen),
		})
	}
	return rows, nil
}

func (p *Provider) topicRows(ctx *sql.Context) ([]sql.Row, error) {
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, t := range p.statement(ctx).Snapshot().Topics().All() {
		configs := t.Configs
		if configs == nil {
			configs = map[string]string{}
		}
		var j bytes.Buffer
		e := json.NewEncoder(&j)
		e.SetEscapeHTML(false) // paths in declarations have >
		if err := e.Encode(configs); err != nil {
			return nil, err
		}
		rows = append(rows, sql.Row{t.Name, t.ID.String(), t.Partitions, wallOf(zone, t.CreatedAt), JSONText(bytes.TrimSpace(j.Bytes()))})
	}
	return rows, nil
}

func (p *Provider) partitionRows(ctx *sql.Context) ([]sql.Row, error) {
	snap := p.statement(ctx).Snapshot()
	var rows []sql.Row
	for _, t := range snap.Topics().All() {
		for i := range t.Partitions {
			tp := state.TopicPartition{Topic: t.ID, Partition: i}
			b, err := snap.Bounds(tp)
			if err != nil {
				return nil, err
			}
			rows = append(rows, sql.Row{t.Name, i, b.LogStart, b.LastStable, b.End, p.store.SizeBytes(tp)})
		}
	}
	return rows, nil
}

func (p *Provider) groupRows(*sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	p.store.Groups(func(group string, _ []byte) {
		row := sql.Row{group, nil, nil, nil, nil}
		if p.opts.GroupMembers != nil {
			if g, ok := p.opts.GroupMembers(group); ok {
				row = sql.Row{group, g.State, g.ProtocolType, int64(g.Members), int64(g.Generation)}
			}
		}
		rows = append(rows, row)
	})
	return rows, nil
}

func (p *Provider) groupOffsetRows(ctx *sql.Context) ([]sql.Row, error) {
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	snap := p.statement(ctx).Snapshot()
	var groups []string
	p.store.Groups(func(group string, _ []byte) { groups = append(groups, group) })
	var rows []sql.Row
	for _, group := range groups {
		offsets, _ := p.store.CommittedOffsets(group)
		from := len(rows)
		for tp, o := range offsets {
			topic, ok := snap.Topics().ByID(tp.Topic)
			if !ok {
				continue
			}
			b, err := snap.Bounds(tp)
			if err != nil {
				continue // the partition is newer than the snapshot
			}
			rows = append(rows, sql.Row{
				group, topic.Name, tp.Partition, o.Offset, b.End, max(0, b.End-max(o.Offset, b.LogStart)),
				wallOf(zone, o.CommitTime), o.Metadata,
			})
		}
		slices.SortFunc(rows[from:], func(a, b sql.Row) int {
			return cmp.Or(strings.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(int32), b[2].(int32)))
		})
	}
	return rows, nil
}

func (p *Provider) connectionRows(ctx *sql.Context) ([]sql.Row, error) {
	if p.opts.Connections == nil {
		return nil, nil
	}
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, c := range p.opts.Connections() {
		rows = append(rows, sql.Row{c.ID, c.Protocol, c.User, c.Client, c.Software, wallOf(zone, c.Since)})
	}
	return rows, nil
}

func (p *Provider) clientErrorRows(ctx *sql.Context) ([]sql.Row, error) {
	if p.opts.ClientErrors == nil {
		return nil, nil
	}
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var rows []sql.Row
	for _, e := range p.opts.ClientErrors() {
		var version, code any
		if e.API != "" {
			version = int32(e.Version)
		}
		if e.Code != 0 {
			code = int32(e.Code)
		}
		rows = append(rows, sql.Row{
			wallOf(zone, e.Last), wallOf(zone, e.First), e.Count,
			strings.ToValidUTF8(e.ClientID, "\uFFFD"), e.Software, e.Address, e.Principal,
			orNull(e.API), version, orNull(e.Topic), orNull(e.Group), orNull(e.TransactionalID), code, e.Error,
			orNull(e.Message), orNull(e.Hint),
		})
	}
	return rows, nil
}

func (p *Provider) storageRows(*sql.Context) ([]sql.Row, error) {
	s := p.store.Stats()
	healthy := int8(0)
	if s.Healthy {
		healthy = 1
	}
	return []sql.Row{{
		uint64(s.LastLSN), s.LogBytes, s.SegmentBytes, int64(s.Segments), s.DiskTotal, s.DiskFree, healthy,
	}}, nil
}
