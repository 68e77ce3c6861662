// Package rowrecord makes Kafka records of rows, as INSERT gives them: exactly and strictly.
package rowrecord

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/ingest"
	"millrace/internal/recordbatch"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// Target says which column of an INSERT goes where in a record.
type Target struct {
	table   *catalog.Table
	columns []insertColumn
	value   int     // index of _value in columns, -1
	root    *member // of JSON values; nil when no member is given
	fields  []int   // of CSV values: field → index in columns, -1
	cells   *cellWriter
	scratch [][]byte
}

// insertColumn is one column that rows give a value for.
type insertColumn struct {
	name   string
	kind   insertKind
	column *blobexpand.Column // of expanded ones
}

type insertKind uint8

const (
	toMember insertKind = iota
	toPartition
	toTimestamp
	toKey
	toHeaders
	toValue
	toNothing // _offset, _error, _rest: DEFAULT alone
)

var systemKinds = map[string]insertKind{
	catalog.ColPartition: toPartition, catalog.ColTimestamp: toTimestamp, catalog.ColKey: toKey,
	catalog.ColHeaders: toHeaders, catalog.ColValue: toValue,
	catalog.ColOffset: toNothing, catalog.ColError: toNothing, catalog.ColRest: toNothing,
}

// member is an object of the JSON values to build: leaves are columns.
type member struct {
	name     string
	column   int // index in columns; -1: an object
	children []*member
}

// Width is how many cells a row has.
func (t *Target) Width() int { return len(t.columns) }

// IsSystemColumn says whether name is a column that every topic has.
func IsSystemColumn(name string) bool {
	_, ok := systemKinds[strings.ToLower(name)]
	return ok
}

// NewTarget finds the named columns. Names nil are the visible ones of the table, or of those, if there are as many
// values, the ones that are not every topic's.
func NewTarget(ctx *sql.Context, table *catalog.Table, names []string, values int) (*Target, error) {
	zone, err := sqltable.SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	t := &Target{table: table, value: -1, cells: &cellWriter{ctx: ctx, zone: zone}}
	if names == nil {
		if values != len(table.Expanded) {
			names = []string{catalog.ColPartition, catalog.ColOffset, catalog.ColTimestamp, catalog.ColKey}
		}
		for _, c := range table.Expanded {
			names = append(names, c.Name)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		lower := strings.ToLower(name)
		if seen[lower] {
			return nil, sqlerr.New(1110, "42000", "Column '%s' specified twice", name)
		}
		seen[lower] = true
		c := insertColumn{name: name}
		if kind, ok := systemKinds[lower]; ok && (lower != catalog.ColRest || table.Rest) {
			c.kind, c.name = kind, lower
			if kind == toValue {
				t.value = len(t.columns)
			}
		} else {
			at := slices.IndexFunc(table.Expanded, func(c blobexpand.Column) bool { return strings.EqualFold(c.Name, name) })
			if at < 0 {
				return nil, sqlerr.New(1054, "42S22", "Unknown column '%s' in 'field list'", name)
			}
			c.column, c.name = &table.Expanded[at], table.Expanded[at].Name
			if err := t.addMember(c.column, len(t.columns)); err != nil {
				return nil, err
			}
		}
		t.columns = append(t.columns, c)
	}
	t.scratch = make([][]byte, len(t.columns))
	return t, nil
}

// addMember makes room for a column in the values.
func (t *Target) addMember(c *blobexpand.Column, at int) error {
	if c.Field > 0 {
		for len(t.fields) < len(t.table.Expanded) {
			t.fields = append(t.fields, -1)
		}
		t.fields[c.Field-1] = at
		return nil
	}
	if t.root == nil {
		t.root = &member{column: -1}
	}
	m := t.root
	for i, name := range c.Path {
		leaf := i == len(c.Path)-1
		var next *member
		for _, child := range m.children {
			if child.name == name {
				next = child
			}
		}
		switch {
		case next == nil:
			next = &member{name: name, column: -1}
			if leaf {
				next.column = at
			}
			m.children = append(m.children, next)
		case leaf || next.column >= 0:
			return sqlerr.New(1110, "42000", "Column '%s' specified twice: another column of the list has its path, or is above or below it", c.Name)
		}
		m = next
	}
	return nil
}

// Cell is one value of a row.
type Cell struct {
	Given bool // false: DEFAULT
	Value any
	From  sql.Type // of value, if known
}

// Record makes the record of one row, which is number row of its statement. Its key and value are new memory.
func (t *Target) Record(row []Cell, number int64) (ingest.Record, error) {
	r := ingest.Record{Partition: ingest.AnyPartition, Timestamp: ingest.NowTimestamp}
	members := false
	for i := range t.columns {
		c := &t.columns[i]
		t.scratch[i] = t.scratch[i][:0]
		if !row[i].Given {
			continue
		}
		if err := t.put(&r, i, row[i], place{c.name, number}); err != nil {
			return r, err
		}
		members = members || c.kind == toMember
	}
	byValue := t.value >= 0 && row[t.value].Given
	switch {
	case byValue && members:
		return r, sqlerr.New(1221, "HY000", "Incorrect usage of _value and columns that are read from it")
	case byValue:
	case len(t.fields) > 0 && members:
		r.Value = t.csvValue(row)
	case members:
		r.Value = t.jsonValue(nil, t.root, row)
	}
	if r.Key == nil && t.table.Config.CleanupCompact {
		return r, place{catalog.ColKey, number}.null()
	}
	return r, nil
}

// put brings one value into the record, or, of a member, into scratch.
func (t *Target) put(r *ingest.Record, i int, c Cell, at place) error {
	v, err := t.cells.plain(c.Value, c.From)
	if err != nil {
		return err
	}
	switch t.columns[i].kind {
	case toNothing:
		return sqlerr.New(3105, "HY000", "The value specified for generated column '%s' in table '%s' is not allowed.", at.column, t.table.Topic.Name)
	case toPartition:
		if v == nil {
			return at.null()
		}
		n, err := exactInteger(v, at)
		if err != nil {
			return err
		}
		b := n.BigInt()
		if !b.IsInt64() || b.Int64() < 0 || b.Int64() >= int64(t.table.Topic.Partitions) {
			return at.outOfRange()
		}
		r.Partition = int32(b.Int64())
	case toTimestamp:
		if v == nil {
			r.Timestamp = recordbatch.NoTimestamp
			return nil
		}
		wall, err := t.cells.wallTime(v)
		if err != nil {
			return at.wrongTime("datetime", v)
		}
		micros, _ := t.cells.instant(time.UnixMicro(roundMicros(wall.UnixMicro(), 3)).UTC())
		if micros < 1_000_000 {
			return at.wrongTime("datetime", v)
		}
		r.Timestamp = micros / 1000
	case toKey:
		r.Key, err = rawText(v, c.From, at)
		return err
	case toValue:
		r.Value, err = rawText(v, c.From, at)
		return err
	case toHeaders:
		r.Headers, err = headersOf(v, at)
		return err
	case toMember:
		col := t.columns[i].column
		if col.Field > 0 {
			t.scratch[i], err = t.csvField(t.scratch[i], col, v, c.From, at)
			return err
		}
		t.scratch[i], err = t.cells.append(t.scratch[i], col, v, c.From, at)
		return err
	}
	return nil
}

// rawText is the bytes of a key or value.
func rawText(v any, from sql.Type, at place) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	if b, ok := v.([]byte); ok {
		return append(make([]byte, 0, len(b)), b...), nil
	}
	s, ok := PlainText(v)
	if !ok {
		return nil, at.wrong("string", v)
	}
	if tm, is := v.(time.Time); is && from != nil {
		s = typedTimeText(tm, from)
	}
	return []byte(s), nil
}

// headersOf reads a JSON object: each member is a header, strings by their text, null as null, all else as
// spelled.
func headersOf(v any, at place) ([]recordbatch.Header, error) {
	if v == nil {
		return nil, nil
	}
	s, ok := PlainText(v)
	if !ok {
		return nil, at.wrong("JSON", v)
	}
	j, err := jsonval.Parse([]byte(s))
	if err != nil || j.Kind() != jsonval.Object {
		return nil, sqlerr.New(3140, "22032", "Invalid JSON text: an object is needed for column '%s' at row %d", at.column, at.row)
	}
	var out []recordbatch.Header
	var bad error
	j.EachMember(func(m jsonval.Member) bool {
		h := recordbatch.Header{Key: m.Name()}
		switch m.Value.Kind() {
		case jsonval.Null:
		case jsonval.StringKind:
			b, err := m.Value.Unquote()
			if err != nil {
				bad = at.wrong("JSON", s)
				return false
			}
			h.Value = append([]byte{}, b...)
		default:
			h.Value = []byte(m.Value)
		}
		out = append(out, h)
		return true
	})
	return out, bad
}

// jsonValue writes the members that the row gives under m.
func (t *Target) jsonValue(dst []byte, m *member, row []Cell) []byte {
	dst = append(dst, '{')
	first := true
	for _, c := range m.children {
		if !t.hasValue(c, row) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonval.AppendQuoted(dst, c.name), ':')
		if c.column >= 0 {
			dst = append(dst, t.scratch[c.column]...)
		} else {
			dst = t.jsonValue(dst, c, row)
		}
	}
	return append(dst, '}')
}

// hasValue says whether the row gives anything under m.
func (t *Target) hasValue(m *member, row []Cell) bool {
	if m.column >= 0 {
		return row[m.column].Given
	}
	return slices.ContainsFunc(m.children, func(c *member) bool { return t.hasValue(c, row) })
}

// csvField writes one field: the text of the JSON value, between quotes where it needs them. An empty text is
// Quoted, since an empty field is NULL.
func (t *Target) csvField(dst []byte, col *blobexpand.Column, v any, from sql.Type, at place) ([]byte, error) {
	if v == nil {
		return dst, nil
	}
	j, err := t.cells.append(nil, col, v, from, at)
	if err != nil {
		return nil, err
	}
	text := string(j)
	if val, err := jsonval.Parse(j); err == nil && val.Kind() == jsonval.StringKind && col.Type.Kind != blobexpand.JSON {
		b, err := val.Unquote()
		if err != nil {
			return nil, at.wrong("string", v)
		}
		text = string(b)
	}
	if text != "" && utf8.ValidString(text) && !strings.ContainsAny(text, "\",\r\n") {
		return append(dst, text...), nil
	}
	return append(append(append(dst, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"'), nil
}

func (t *Target) csvValue(row []Cell) []byte {
	var dst []byte
	for f, at := range t.fields {
		if f > 0 {
			dst = append(dst, ',')
		}
		if at >= 0 && row[at].Given {
			dst = append(dst, t.scratch[at]...)
		}
	}
	return dst
}
