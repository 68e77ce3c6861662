package mysql

import (
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

const (
	collationBinary = 63
	collationUTF8   = 255 // utf8mb4_0900_ai_ci: the number every driver knows for utf8mb4
)

// columns describes a schema to the client.
func columns(ctx *sql.Context, schema sql.Schema) []wire.Column {
	out := make([]wire.Column, len(schema))
	// The engine encodes text as character_set_results says.
	textCollation := uint16(collationUTF8)
	switch cs := ctx.GetCharacterSetResults(); cs {
	case sql.CharacterSet_Unspecified, sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3, sql.CharacterSet_binary:
	default:
		textCollation = uint16(cs.DefaultCollation())
	}
	for i, c := range schema {
		t, flags := sqltypes.TypeToMySQL(c.Type.Type())
		col := wire.Column{
			Schema: c.DatabaseSource, Table: c.Source, OrgTable: c.Source, Name: c.Name, OrgName: c.Name,
			Charset: collationBinary, Type: wire.ColumnType(t), Length: c.Type.MaxTextResponseByteLength(ctx),
		}
		// What no table has was computed. Of such the engine claims too much: that MAX is never NULL, that an
		// INT and 0.5 make a DECIMAL(2,1).
		computed := c.Source == "" || c.DatabaseSource == ""
		col.Flags = uint16(flags)
		if !c.Nullable && !computed {
			col.Flags |= 1 // NOT NULL
		}
		if c.PrimaryKey {
			col.Flags |= 2 // part of the primary key
		}
		if types.IsUnsigned(c.Type) {
			col.Flags |= wire.UnsignedFlag
		}
		switch {
		case types.IsDecimal(c.Type):
			col.Decimals = c.Type.(sql.DecimalType).Scale()
			if computed {
				col.Length = widestDecimal
			}
		case isTime(c.Type):
			col.Decimals = byte(c.Type.(sql.DatetimeType).Precision())
		case types.IsTimespan(c.Type):
			col.Decimals = 6 // the engine keeps microseconds and no declared precision
		case types.IsFloat(c.Type):
			col.Decimals = 31 // «not fixed»
		case types.IsTextOnly(c.Type), types.IsEnum(c.Type), types.IsSet(c.Type):
			col.Charset = textCollation
		case types.IsInteger(c.Type):
			describeInteger(&col, c.Type, computed)
		}
		// Of a table's numbers MySQL does not say it, and Connector/J would make bytes of a BOOLEAN that is binary.
		if number := types.IsNumber(c.Type) || types.IsYear(c.Type); col.Charset == collationBinary && (computed || !number) {
			col.Flags |= binaryFlag
		}
		if types.IsBinaryType(c.Type) && col.Type == wire.TypeVarString && col.Length >= longestBinary {
			col.Type = wire.TypeBlob
			col.Flags |= blobFlag
		}
		if col.Type == wire.TypeBlob && col.Charset == textCollation {
			col.Flags |= blobFlag
		}
		out[i] = col
	}
	return out
}

// describeInteger says what a BOOLEAN is, by which drivers make a truth value of it, and has what is computed
// (1, a = b) be a BIGINT, as in MySQL.
func describeInteger(col *wire.Column, t sql.Type, computed bool) {
	if n, ok := t.(sql.NumberType); ok && n.DisplayWidth() == 1 {
		col.Length = 1
	}
	if computed && (col.Type == wire.TypeTiny || col.Type == wire.TypeShort || col.Type == wire.TypeInt24) {
		col.Type = wire.TypeLongLong
	}
}

const (
	widestDecimal = 65 + 2    // digits, a sign and a point
	longestBinary = 1<<16 - 1 // bytes; from here on a VARBINARY is a BLOB
)

const (
	blobFlag   = 1 << 4
	binaryFlag = 1 << 7
)
