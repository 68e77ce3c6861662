package form

import (
	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/pushdown/compare"
	"millrace/scan"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Form says how the values of a SQL expression lie in a vector: what the engine would hand on as
// a Go value, and the vector as bits.
type Form struct {
	Kind Kind
	SQL  sql.Type  // as the engine types the expression
	T    exec.Type // in vectors
	// Unit is microseconds per unit of instants and walls.
	Unit int64
}

// Kind is a family of values; it decides what is compared with what.
type Kind uint8

// The families.
const (
	Null    Kind = iota + 1 // always NULL; Int in vectors
	Bool                    // 0 and 1; the engine has Go bools
	Int                     // of any width; a YEAR, too
	Uint                    //
	Float                   // FLOAT and DOUBLE
	Decimal                 //
	Text                    // text with a collation
	Bytes                   // BINARY, BLOB
	JSON                    // JSON as text
	Enum                    // ENUM as text
	Instant                 // TIMESTAMP column: Unix time; the engine has the session's wall time
	Wall                    // DATE, DATETIME, and computed times: wall time as if it were UTC
	Span                    // TIME in microseconds
)

// Units of times, in microseconds.
const (
	MicrosPerMilli = 1000
	microsPerDay   = 24 * 3600 * 1_000_000
)

// Types of values in vectors.
var (
	IntType    = exec.Type{Kind: vector.Int}
	UintType   = exec.Type{Kind: vector.Uint}
	FloatType  = exec.Type{Kind: vector.Float}
	StringType = exec.Type{Kind: vector.String}

	// OfBool is that of a truth value.
	OfBool   = Form{Kind: Bool, SQL: types.Boolean, T: exec.Bool}
	nullForm = Form{Kind: Null, SQL: types.Null, T: IntType}
)

// MaxDecimal128 and MaxDecimal256 are the digits that fit for sure.
const (
	MaxDecimal128 = 38
	MaxDecimal256 = 76
)

// DecimalType holds decimals of so many digits, scale of them behind the point.
func DecimalType(precision, scale int) exec.Type {
	if precision <= MaxDecimal128 {
		return exec.Type{Kind: vector.Decimal128, Scale: int32(scale)}
	}
	return exec.Type{Kind: vector.Decimal256, Scale: int32(scale)}
}

// Of is the form of a computed value of type t; false for types that vectors do not hold.
func Of(t sql.Type) (Form, bool) {
	switch {
	case t == types.Null:
		return nullForm, true
	case types.IsEnum(t), types.IsSet(t), types.IsBit(t), types.IsTuple(t), types.IsGeometry(t):
		return Form{}, false
	case types.IsJSON(t):
		return Form{Kind: JSON, SQL: t, T: StringType}, true
	case types.IsYear(t), types.IsSigned(t):
		return Form{Kind: Int, SQL: t, T: IntType}, true
	case types.IsUnsigned(t):
		return Form{Kind: Uint, SQL: t, T: UintType}, true
	case types.IsFloat(t):
		return Form{Kind: Float, SQL: t, T: FloatType}, true
	case types.IsDecimal(t):
		d, ok := t.(sql.DecimalType)
		if !ok {
			return Form{}, false
		}
		return Form{Kind: Decimal, SQL: t, T: DecimalType(int(d.Precision()), int(d.Scale()))}, true
	case types.IsTextOnly(t):
		return Form{Kind: Text, SQL: t, T: StringType}, true
	case types.IsBinaryType(t):
		return Form{Kind: Bytes, SQL: t, T: StringType}, true
	case types.IsTimespan(t):
		return Form{Kind: Span, SQL: t, T: IntType, Unit: 1}, true
	}
	if _, ok := t.(sql.DatetimeType); ok {
		return Form{Kind: Wall, SQL: t, T: IntType, Unit: 1}, true
	}
	return Form{}, false
}

// OfColumn is the form of column c of table t, whose SQL type is typ.
func OfColumn(t *catalog.Table, c scan.Column, typ sql.Type) (Form, bool) {
	switch c.Kind {
	case scan.Timestamp:
		return Form{Kind: Instant, SQL: typ, T: IntType, Unit: MicrosPerMilli}, true
	case scan.Expanded:
		if c.Index < 0 || c.Index >= len(t.Expanded) {
			return Form{}, false
		}
		b := t.Expanded[c.Index].Type
		switch b.Kind {
		case blobexpand.Bool:
			return Form{Kind: Int, SQL: typ, T: IntType}, true
		case blobexpand.Timestamp:
			return Form{Kind: Instant, SQL: typ, T: IntType, Unit: 1}, true
		case blobexpand.Date:
			return Form{Kind: Wall, SQL: typ, T: IntType, Unit: microsPerDay}, true
		case blobexpand.Decimal:
			if !types.IsDecimal(typ) {
				return Form{}, false
			}
			return Form{Kind: Decimal, SQL: typ, T: DecimalType(int(b.Precision), int(b.Scale))}, true
		case blobexpand.Text:
			if types.IsEnum(typ) {
				return Form{Kind: Enum, SQL: typ, T: StringType}, true
			}
		}
	}
	return Of(typ)
}

// Alike says whether two forms lie in vectors alike, so that one may stand for the other.
func (f Form) Alike(g Form) bool {
	return f.Kind == g.Kind && f.T == g.T && f.Unit == g.Unit
}

// Integer says that values are truth values or integers in the same vectors.
func (f Form) Integer() bool { return f.Kind == Int || f.Kind == Bool }

// Keyable says whether equal vectors' values are equal SQL values and the other way round, so that one may
// group and count by them.
func (f Form) Keyable() bool {
	switch f.Kind {
	case Bool, Int, Uint, Float, Decimal, Span, Wall, Bytes, Null:
		return true
	case Text:
		return compare.ByBytes(f.SQL)
	}
	return false
}

// Sortable says whether the order of vectors' values is the order of SQL values.
func (f Form) Sortable() bool { return f.Keyable() }

// WholeDigits are those of the integer part that decimals of type t have at most.
func WholeDigits(t sql.Type) int {
	if d, ok := t.(sql.DecimalType); ok {
		return int(d.Precision()) - int(d.Scale())
	}
	return 20
}
