package blobexpand

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Sizes of the TEXT family in bytes. Text.Length up to InferredTextLength counts
// characters (VARCHAR); above, these bytes.
const (
	textBytes       = 65535
	mediumTextBytes = 16777215
)

// String is the type as MySQL spells it.
func (t Type) String() string {
	switch t.Kind {
	case Bool:
		return "TINYINT(1)"
	case Int64:
		return intName(t.Bits)
	case Uint64:
		switch t.Bits {
		case 0, 8, 16, 24, 32, 64:
		default:
			return fmt.Sprintf("BIT(%d)", t.Bits)
		}
		return intName(t.Bits) + " UNSIGNED"
	case Float64:
		if t.Bits == 32 {
			return "FLOAT"
		}
		return "DOUBLE"
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case Text:
		switch {
		case t.Enum != nil:
			quoted := make([]string, len(t.Enum))
			for i, e := range t.Enum {
				quoted[i] = "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(e) + "'"
			}
			return "ENUM(" + strings.Join(quoted, ",") + ")"
		case t.Length == 0:
			return "LONGTEXT"
		case t.Length == textBytes:
			return "TEXT"
		case t.Length == mediumTextBytes:
			return "MEDIUMTEXT"
		}
		return fmt.Sprintf("VARCHAR(%d)", t.Length)
	case Binary:
		switch t.Length {
		case 0:
			return "LONGBLOB"
		case textBytes:
			return "BLOB"
		case mediumTextBytes:
			return "MEDIUMBLOB"
		}
		return fmt.Sprintf("VARBINARY(%d)", t.Length)
	case JSON:
		return "JSON"
	case Date:
		return "DATE"
	case Time:
		return withFSP("TIME", t.FSP)
	case DateTime:
		return withFSP("DATETIME", t.FSP)
	case Timestamp:
		return withFSP("TIMESTAMP", t.FSP)
	case Year:
		return "YEAR"
	}
	return fmt.Sprintf("Kind(%d)", t.Kind)
}

func intName(bits uint8) string {
	switch bits {
	case 8:
		return "TINYINT"
	case 16:
		return "SMALLINT"
	case 24:
		return "MEDIUMINT"
	case 32:
		return "INT"
	}
	return "BIGINT"
}

func withFSP(name string, fsp uint8) string {
	if fsp == 0 {
		return name
	}
	return fmt.Sprintf("%s(%d)", name, fsp)
}

// Equal compares two types.
func (t Type) Equal(o Type) bool {
	if len(t.Enum) != len(o.Enum) {
		return false
	}
	for i := range t.Enum {
		if t.Enum[i] != o.Enum[i] {
			return false
		}
	}
	return t.Kind == o.Kind && t.Bits == o.Bits && t.Precision == o.Precision && t.Scale == o.Scale &&
		t.FSP == o.FSP && t.Length == o.Length && t.Epoch == o.Epoch && (t.Enum == nil) == (o.Enum == nil)
}

// maxDecimal128 is the highest precision kept in 128 bits.
const maxDecimal128 = 38

// ArrowType is the vector type of t.
func ArrowType(t Type) arrow.DataType {
	switch t.Kind {
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Int64, Year:
		return arrow.PrimitiveTypes.Int64
	case Uint64:
		return arrow.PrimitiveTypes.Uint64
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		if t.Precision <= maxDecimal128 {
			return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
		}
		return &arrow.Decimal256Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Binary:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Time:
		return arrow.FixedWidthTypes.Duration_us
	case DateTime:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case Timestamp:
		return arrow.FixedWidthTypes.Timestamp_us
	}
	return arrow.BinaryTypes.String // Text, JSON
}
