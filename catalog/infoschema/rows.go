package infoschema

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"
)

const (
	catalogName = "def"
	primary     = "PRIMARY"
	keyKind     = "PRIMARY KEY"
)

// isSystem says that a database is not a user's.
func isSystem(db string) bool { return strings.EqualFold(db, sql.InformationSchemaDatabaseName) }

// columnRows are the rows of COLUMNS of one table.
func columnRows(p place, out []sql.Row) ([]sql.Row, error) {
	described, _ := p.table.(Described)
	privileges := p.privileges()
	for i, c := range p.table.Schema() {
		key, from := "", ""
		if c.PrimaryKey {
			key = "PRI"
		}
		if described != nil {
			from = described.GeneratedFrom(c.Name)
		}
		out = append(out, columnRow(p.ctx, p.db, p.name, i, c, key, privileges, from))
	}
	return out, nil
}

// viewColumnRows are the rows of COLUMNS of one view; one that cannot be read has no columns.
func viewColumnRows(p viewPlace, out []sql.Row) ([]sql.Row, error) {
	if p.src.ViewColumns == nil {
		return out, nil
	}
	schema, err := p.src.ViewColumns(p.ctx, p.db, p.view.Name)
	if err != nil {
		return out, p.ctx.Err()
	}
	privileges := place{ctx: p.ctx, db: p.db, src: p.src}.privilegesOf(p.view.Name)
	for i, c := range schema {
		out = append(out, columnRow(p.ctx, p.db, p.view.Name, i, c, "", privileges, ""))
	}
	return out, nil
}

func (p place) privileges() string { return p.privilegesOf(p.name) }

func (p place) privilegesOf(table string) string {
	if p.src.Privileges == nil {
		return ""
	}
	return p.src.Privileges(p.ctx, p.db, table)
}

func columnRow(ctx *sql.Context, db, table string, i int, c *sql.Column, key, privileges, from string) sql.Row {
	nullable := "NO"
	if c.Nullable {
		nullable = "YES"
	}
	full, name := typeNames(c.Type)
	precision, scale := numeric(c.Type)
	characters, octets, charset, collation := textual(c.Type)
	return sql.Row{
		catalogName, db, table, c.Name, uint32(i + 1),
		information_schema.GetColumnDefault(ctx, c.Default), nullable,
		name, characters, octets, precision, scale, fraction(c.Type), charset, collation,
		full, key, c.Extra, privileges, c.Comment, from, nil,
	}
}

// typeNames are a type in full, as SHOW COLUMNS has it, and its first word.
func typeNames(t sql.Type) (full, name string) {
	full, _, _ = strings.Cut(t.String(), " CHARACTER SET")
	full, _, _ = strings.Cut(full, " COLLATE")
	name, _, _ = strings.Cut(full, "(")
	name, _, _ = strings.Cut(name, " ")
	return full, name
}

// digits are those of MySQL's numbers.
var digits = map[query.Type]uint64{
	sqltypes.Int8: 3, sqltypes.Uint8: 3, sqltypes.Int16: 5, sqltypes.Uint16: 5, sqltypes.Int24: 7, sqltypes.Uint24: 7,
	sqltypes.Int32: 10, sqltypes.Uint32: 10, sqltypes.Int64: 19, sqltypes.Uint64: 20, sqltypes.Float32: 12, sqltypes.Float64: 22,
}

func numeric(t sql.Type) (precision, scale any) {
	switch t := t.(type) {
	case types.BitType:
		return uint64(t.NumberOfBits()), nil
	case sql.DecimalType:
		return uint64(t.Precision()), uint64(t.Scale())
	}
	n, ok := digits[t.Type()]
	switch {
	case !ok:
		return nil, nil
	case types.IsFloat(t):
		return n, nil
	}
	return n, uint64(0)
}

// fraction is how many digits a time keeps below the second; nil for what is no time of day.
func fraction(t sql.Type) any {
	switch {
	case types.IsTimespan(t):
		return uint32(6)
	case types.IsDatetimeType(t), types.IsTimestampType(t):
		return uint32(t.(sql.DatetimeType).Precision())
	}
	return nil
}

// byteSizes are what MySQL says of types whose size is a number of bytes, for characters and octets alike.
var byteSizes = map[string]int64{
	"tinytext": 1<<8 - 1, "text": 1<<16 - 1, "mediumtext": 1<<24 - 1, "longtext": 1<<32 - 1,
	"tinyblob": 1<<8 - 1, "blob": 1<<16 - 1, "mediumblob": 1<<24 - 1, "longblob": 1<<32 - 1,
}

func textual(t sql.Type) (characters, octets, charset, collation any) {
	if c, ok := t.(sql.TypeWithCollation); ok && !types.IsBinaryType(t) && !types.IsJSON(t) {
		id := c.Collation()
		charset, collation = id.CharacterSet().String(), id.Name()
	}
	_, name := typeNames(t)
	if n, ok := byteSizes[name]; ok {
		return n, n, charset, collation
	}
	switch t := t.(type) {
	case sql.StringType:
		return t.MaxCharacterLength(), t.MaxByteLength(), charset, collation
	case sql.EnumType:
		longest := int64(0)
		for _, v := range t.Values() {
			longest = max(longest, int64(len([]rune(v))))
		}
		return longest, longest * t.CharacterSet().MaxLength(), charset, collation
	}
	return nil, nil, charset, collation
}

// tableRow is the row of TABLES of one table.
func tableRow(p place, out []sql.Row) ([]sql.Row, error) {
	row := sql.Row{
		catalogName, p.db, p.name, "BASE TABLE", "InnoDB", int32(10), "Dynamic", uint64(0), uint64(0), uint64(0),
		uint64(0), uint64(0), uint64(0), nil, nil, nil, nil, p.table.Collation().Name(), nil, "", "",
	}
	if isSystem(p.db) {
		row[3], row[4], row[6] = "SYSTEM VIEW", nil, nil
	}
	if s, ok := p.table.(sql.StatisticsTable); ok && !isSystem(p.db) {
		n, _, err := s.RowCount(p.ctx)
		if err != nil {
			return out, err
		}
		size, err := s.DataLength(p.ctx)
		if err != nil {
			return out, err
		}
		row[7], row[9] = n, size
		if n > 0 {
			row[8] = size / n
		}
	}
	if d, ok := p.table.(Described); ok {
		row[14] = seconds(d.CreatedAt(p.ctx))
		if d.PartitionedBy() != "" {
			row[19] = "partitioned"
		}
	}
	if c, ok := p.table.(sql.CommentedTable); ok {
		row[20] = c.Comment()
	}
	return append(out, row), nil
}

// seconds cuts a time to its seconds.
func seconds(v any) any {
	if t, ok := v.(time.Time); ok {
		return t.Truncate(time.Second)
	}
	return v
}

func viewTableRow(p viewPlace, out []sql.Row) ([]sql.Row, error) {
	row := make(sql.Row, 21)
	copy(row, sql.Row{catalogName, p.db, p.view.Name, "VIEW"})
	row[14], row[20] = seconds(p.view.Created), "VIEW"
	return append(out, row), nil
}

// keyOf lists the columns of a table's primary key.
func keyOf(t sql.Table) (key []*sql.Column) {
	for _, c := range t.Schema() {
		if c.PrimaryKey {
			key = append(key, c)
		}
	}
	return key
}

func statisticsRows(p place, out []sql.Row) ([]sql.Row, error) {
	key := keyOf(p.table)
	var sizes []PartitionSize
	if d, ok := p.table.(Described); ok && len(key) > 0 {
		sizes = d.PartitionSizes(p.ctx)
	}
	for i, c := range key {
		// Of topics' keys the first column is the partition, both together are unique.
		var different any
		switch {
		case sizes == nil:
		case i == 0:
			different = int64(len(sizes))
		case i == len(key)-1:
			n := uint64(0)
			for _, s := range sizes {
				n += s.Rows
			}
			different = int64(n)
		}
		out = append(out, sql.Row{
			catalogName, p.db, p.name, int32(0), p.db, primary, uint32(i + 1), c.Name, "A", different,
			nil, nil, "", "BTREE", "", "", "YES", nil,
		})
	}
	return out, nil
}

func keyColumnRows(p place, out []sql.Row) ([]sql.Row, error) {
	for i, c := range keyOf(p.table) {
		out = append(out, sql.Row{
			catalogName, p.db, primary, catalogName, p.db, p.name, c.Name, uint32(i + 1), nil, nil, nil, nil,
		})
	}
	return out, nil
}

func constraintRow(p place, out []sql.Row) ([]sql.Row, error) {
	if len(keyOf(p.table)) == 0 {
		return out, nil
	}
	return append(out, sql.Row{catalogName, p.db, primary, p.db, p.name, keyKind, "YES"}), nil
}

// partitionRows are the rows of PARTITIONS of one table: a topic's partitions, and one row without a name of what has
// none.
func partitionRows(p place, out []sql.Row) ([]sql.Row, error) {
	row := func() sql.Row {
		r := make(sql.Row, 25)
		copy(r, sql.Row{catalogName, p.db, p.name})
		for i := 12; i <= 17; i++ {
			r[i] = uint64(0)
		}
		r[15] = nil
		r[22], r[23] = "", ""
		return r
	}
	d, ok := p.table.(Described)
	if !ok || d.PartitionedBy() == "" {
		return append(out, row()), nil
	}
	created := seconds(d.CreatedAt(p.ctx))
	for i, size := range d.PartitionSizes(p.ctx) {
		r := row()
		r[3], r[5], r[7], r[9] = "p"+strconv.Itoa(i), uint32(i+1), "KEY", "`"+d.PartitionedBy()+"`"
		r[12], r[14] = size.Rows, size.Bytes
		if size.Rows > 0 {
			r[13] = size.Bytes / size.Rows
		}
		r[18] = created
		out = append(out, r)
	}
	return out, nil
}

func viewRow(p viewPlace, out []sql.Row) ([]sql.Row, error) {
	// Of the two enumerations the first: no CHECK OPTION, and not updatable.
	return append(out, sql.Row{
		catalogName, p.db, p.view.Name, p.view.Query, uint16(1), uint16(1), p.view.Definer + "@%", "INVOKER", "utf8mb4", "utf8mb4_0900_bin",
	}), nil
}

func tableExtensionRow(p place, out []sql.Row) ([]sql.Row, error) {
	return append(out, sql.Row{catalogName, p.db, p.name, nil, nil}), nil
}

func columnExtensionRows(p place, out []sql.Row) ([]sql.Row, error) {
	for _, c := range p.table.Schema() {
		out = append(out, sql.Row{catalogName, p.db, p.name, c.Name, nil, nil})
	}
	return out, nil
}
