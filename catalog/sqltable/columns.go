package sqltable

import (
	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// column is one column of a topic's table: how SQL sees it and what the scan calls it.
type column struct {
	sql  *sql.Column
	scan scan.Column
	typ  blobexpand.Type // of expanded columns
}

// textMax is the longest VARCHAR of utf8mb4; longer text is LONGTEXT.
const textMax = blobexpand.InferredTextLength

// topicColumns are the columns of a topic's table, in table order.
func topicColumns(t *catalog.Table, table string) []column {
	coll := collationOf(t)
	keyType := varchar(textMax, coll)
	if t.LongKey {
		keyType = types.CreateLongText(coll)
	}
	hidden := extraInvisible
	cols := []column{
		{sql: &sql.Column{Name: catalog.ColPartition, Type: types.Int32, PrimaryKey: true}, scan: scan.Column{Kind: scan.Partition}},
		{sql: &sql.Column{Name: catalog.ColOffset, Type: types.Int64, PrimaryKey: true}, scan: scan.Column{Kind: scan.Offset}},
		{sql: &sql.Column{Name: catalog.ColTimestamp, Type: types.MustCreateDatetimeType(sqltypes.Timestamp, 3), Nullable: true}, scan: scan.Column{Kind: scan.Timestamp}},
		{sql: &sql.Column{Name: catalog.ColKey, Type: keyType, Nullable: true}, scan: scan.Column{Kind: scan.Key}},
		{sql: &sql.Column{Name: catalog.ColHeaders, Type: types.JSON, Nullable: true, Extra: hidden}, scan: scan.Column{Kind: scan.Headers}},
		{sql: &sql.Column{Name: catalog.ColValue, Type: types.CreateLongText(coll), Nullable: true, Extra: hidden}, scan: scan.Column{Kind: scan.Value}},
		{sql: &sql.Column{Name: catalog.ColError, Type: text(coll), Nullable: true, Extra: hidden}, scan: scan.Column{Kind: scan.Error}},
	}
	for i, c := range t.Expanded {
		cols = append(cols, column{
			sql:  &sql.Column{Name: c.Name, Type: sqlType(c.Type, coll), Nullable: true, Comment: c.Comment},
			scan: scan.Column{Kind: scan.Expanded, Index: i},
			typ:  c.Type,
		})
	}
	if t.Rest {
		cols = append(cols, column{
			sql:  &sql.Column{Name: catalog.ColRest, Type: types.JSON, Nullable: true, Extra: hidden},
			scan: scan.Column{Kind: scan.Rest},
		})
	}
	return name(cols, table)
}

// rawColumns are the columns of topic$raw.
func rawColumns(table string) []column {
	coll := sql.Collation_utf8mb4_0900_bin
	return name([]column{
		{sql: &sql.Column{Name: catalog.ColPartition, Type: types.Int32, PrimaryKey: true}, scan: scan.Column{Kind: scan.Partition}},
		{sql: &sql.Column{Name: catalog.ColOffset, Type: types.Int64, PrimaryKey: true}, scan: scan.Column{Kind: scan.Offset}},
		{sql: &sql.Column{Name: "timestamp_producer", Type: types.Int64, Nullable: true}, scan: scan.Column{Kind: scan.TimestampProducer}},
		{sql: &sql.Column{Name: "timestamp_broker", Type: types.Int64, Nullable: true}, scan: scan.Column{Kind: scan.TimestampBroker}},
		{sql: &sql.Column{Name: "timestamp_type", Type: varchar(13, coll)}, scan: scan.Column{Kind: scan.TimestampType}},
		{sql: &sql.Column{Name: "key", Type: types.LongBlob, Nullable: true}, scan: scan.Column{Kind: scan.RawKey}},
		{sql: &sql.Column{Name: "value", Type: types.LongBlob, Nullable: true}, scan: scan.Column{Kind: scan.RawValue}},
		{sql: &sql.Column{Name: "headers", Type: types.JSON, Nullable: true}, scan: scan.Column{Kind: scan.RawHeaders}},
		{sql: &sql.Column{Name: "leader_epoch", Type: types.Int32}, scan: scan.Column{Kind: scan.LeaderEpoch}},
		{sql: &sql.Column{Name: "producer_id", Type: types.Int64, Nullable: true}, scan: scan.Column{Kind: scan.ProducerID}},
	}, table)
}

func name(cols []column, table string) []column {
	for i := range cols {
		cols[i].sql.Source = table
		cols[i].sql.DatabaseSource = KafkaDatabase
	}
	return cols
}

// collationOf the table's text columns. What is reported is what is compared.
func collationOf(t *catalog.Table) sql.CollationID {
	if t.Config.Collation != "" {
		if c, err := sql.ParseCollation("", t.Config.Collation, false); err == nil && c.CharacterSet() == sql.CharacterSet_utf8mb4 {
			return c
		}
	}
	return sql.Collation_utf8mb4_0900_bin
}

func varchar(length int, coll sql.CollationID) sql.Type {
	return types.MustCreateString(sqltypes.VarChar, int64(length), coll)
}

func text(coll sql.CollationID) sql.Type {
	return types.MustCreateString(sqltypes.Text, textMax, coll)
}

// sqlType is the SQL type of an expanded column.
func sqlType(t blobexpand.Type, coll sql.CollationID) sql.Type {
	switch t.Kind {
	case blobexpand.Bool:
		return types.Boolean
	case blobexpand.Int64:
		switch t.Bits {
		case 8:
			return types.Int8
		case 16:
			return types.Int16
		case 24:
			return types.Int24
		case 32:
			return types.Int32
		}
		return types.Int64
	case blobexpand.Uint64:
		switch t.Bits {
		case 8:
			return types.Uint8
		case 16:
			return types.Uint16
		case 24:
			return types.Uint24
		case 32:
			return types.Uint32
		}
		return types.Uint64
	case blobexpand.Float64:
		if t.Bits == 32 {
			return types.Float32
		}
		return types.Float64
	case blobexpand.Decimal:
		if d, err := types.CreateColumnDecimalType(t.Precision, t.Scale); err == nil {
			return d
		}
	case blobexpand.Text:
		if len(t.Enum) > 0 {
			if e, err := types.CreateEnumType(t.Enum, coll); err == nil {
				return e
			}
		}
		if t.Length > 0 && t.Length <= textMax {
			return varchar(t.Length, coll)
		}
	case blobexpand.Binary:
		if t.Length > 0 {
			if b, err := types.CreateBinary(sqltypes.VarBinary, int64(t.Length)); err == nil {
				return b
			}
		}
		return types.LongBlob
	case blobexpand.JSON:
		return types.JSON
	case blobexpand.Date:
		return types.Date
	case blobexpand.Time:
		return types.Time
	case blobexpand.DateTime:
		return types.MustCreateDatetimeType(sqltypes.Datetime, int(min(t.FSP, 6)))
	case blobexpand.Timestamp:
		return types.MustCreateDatetimeType(sqltypes.Timestamp, int(min(t.FSP, 6)))
	case blobexpand.Year:
		return types.Year
	}
	return types.CreateLongText(coll)
}
