package pushdown

import (
	"math/big"
	"time"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// form says how the values of a SQL expression lie in a vector: what the engine would hand on as
// a Go value, and the vector as bits.
type form struct {
	kind kind
	sql  sql.Type  // as the engine types the expression
	t    exec.Type // in vectors
	// unit is microseconds per unit of instants and walls.
	unit int64
}

// kind is a family of values; it decides what is compared with what.
type kind uint8

const (
	kindNull    kind = iota + 1 // always NULL; Int in vectors
	kindBool                    // 0 and 1; the engine has Go bools
	kindInt                     // of any width; a YEAR, too
	kindUint                    //
	kindFloat                   // FLOAT and DOUBLE
	kindDecimal                 //
	kindText                    // text with a collation
	kindBytes                   // BINARY, BLOB
	kindJSON                    // JSON as text
	kindEnum                    // ENUM as text
	kindInstant                 // TIMESTAMP column: Unix time; the engine has the session's wall time
	kindWall                    // DATE, DATETIME, and computed times: wall time as if it were UTC
	kindSpan                    // TIME in microseconds
)

const (
	microsPerMilli = 1000
	microsPerDay   = 24 * 3600 * 1_000_000
)

var (
	intType    = exec.Type{Kind: vector.Int}
	uintType   = exec.Type{Kind: vector.Uint}
	floatType  = exec.Type{Kind: vector.Float}
	stringType = exec.Type{Kind: vector.String}

	boolForm = form{kind: kindBool, sql: types.Boolean, t: exec.Bool}
	nullForm = form{kind: kindNull, sql: types.Null, t: intType}
)

// maxDecimal128 and maxDecimal256 are the digits that fit for sure.
const (
	maxDecimal128 = 38
	maxDecimal256 = 76
)

func decimalType(precision, scale int) exec.Type {
	if precision <= maxDecimal128 {
		return exec.Type{Kind: vector.Decimal128, Scale: int32(scale)}
	}
	return exec.Type{Kind: vector.Decimal256, Scale: int32(scale)}
}

// formOf is the form of a computed value of type t; false for types that vectors do not hold.
func formOf(t sql.Type) (form, bool) {
	switch {
	case t == types.Null:
		return nullForm, true
	case types.IsEnum(t), types.IsSet(t), types.IsBit(t), types.IsTuple(t), types.IsGeometry(t):
		return form{}, false
	case types.IsJSON(t):
		return form{kind: kindJSON, sql: t, t: stringType}, true
	case types.IsYear(t), types.IsSigned(t):
		return form{kind: kindInt, sql: t, t: intType}, true
	case types.IsUnsigned(t):
		return form{kind: kindUint, sql: t, t: uintType}, true
	case types.IsFloat(t):
		return form{kind: kindFloat, sql: t, t: floatType}, true
	case types.IsDecimal(t):
		d, ok := t.(sql.DecimalType)
		if !ok {
			return form{}, false
		}
		return form{kind: kindDecimal, sql: t, t: decimalType(int(d.Precision()), int(d.Scale()))}, true
	case types.IsTextOnly(t):
		return form{kind: kindText, sql: t, t: stringType}, true
	case types.IsBinaryType(t):
		return form{kind: kindBytes, sql: t, t: stringType}, true
	case types.IsTimespan(t):
		return form{kind: kindSpan, sql: t, t: intType, unit: 1}, true
	}
	if _, ok := t.(sql.DatetimeType); ok {
		return form{kind: kindWall, sql: t, t: intType, unit: 1}, true
	}
	return form{}, false
}

// columnForm is the form of column c of table t, whose SQL type is typ.
func columnForm(t *catalog.Table, c scan.Column, typ sql.Type) (form, bool) {
	switch c.Kind {
	case scan.Timestamp:
		return form{kind: kindInstant, sql: typ, t: intType, unit: microsPerMilli}, true
	case scan.Expanded:
		if c.Index < 0 || c.Index >= len(t.Expanded) {
			return form{}, false
		}
		b := t.Expanded[c.Index].Type
		switch b.Kind {
		case blobexpand.Bool:
			return form{kind: kindInt, sql: typ, t: intType}, true
		case blobexpand.Timestamp:
			return form{kind: kindInstant, sql: typ, t: intType, unit: 1}, true
		case blobexpand.Date:
			return form{kind: kindWall, sql: typ, t: intType, unit: microsPerDay}, true
		case blobexpand.Decimal:
			if !types.IsDecimal(typ) {
				return form{}, false
			}
			return form{kind: kindDecimal, sql: typ, t: decimalType(int(b.Precision), int(b.Scale))}, true
		case blobexpand.Text:
			if types.IsEnum(typ) {
				return form{kind: kindEnum, sql: typ, t: stringType}, true
			}
		}
	}
	return formOf(typ)
}

// equals says whether two forms lie in vectors alike, so that one may stand for the other.
func (f form) alike(g form) bool {
	return f.kind == g.kind && f.t == g.t && f.unit == g.unit
}

// boolean says that values are truth values or integers in the same vectors.
func (f form) integer() bool { return f.kind == kindInt || f.kind == kindBool }

// keyable says whether equal vectors' values are equal SQL values and the other way round, so that one may
// group and count by them.
func (f form) keyable() bool {
	switch f.kind {
	case kindBool, kindInt, kindUint, kindFloat, kindDecimal, kindSpan, kindWall, kindBytes, kindNull:
		return true
	case kindText:
		return comparableBytes(f.sql)
	}
	return false
}

// sortable says whether the order of vectors' values is the order of SQL values.
func (f form) sortable() bool { return f.keyable() }

// value is the engine's value of constant c.
func (f form) value(c exec.Const, zone *sqltable.Zone) any {
	if c.Null {
		return nil
	}
	switch f.kind {
	case kindBool:
		return c.Int != 0
	case kindInt:
		return intValue(f.sql, c.Int)
	case kindUint:
		return uintValue(f.sql, c.Uint)
	case kindFloat:
		if f.sql == types.Float32 {
			return float32(c.Float) + 0
		}
		return c.Float + 0 // rows have no -0
	case kindDecimal:
		return decimalValue(c.Dec, f.t.Scale)
	case kindText:
		return string(c.Bytes)
	case kindBytes:
		return append([]byte{}, c.Bytes...)
	case kindJSON:
		return sqltable.JSONText(c.Bytes)
	case kindEnum:
		return enumValue(f.sql, string(c.Bytes))
	case kindInstant:
		return zone.Wall(c.Int * f.unit)
	case kindWall:
		return time.UnixMicro(c.Int * f.unit).UTC()
	case kindSpan:
		return types.Timespan(c.Int)
	}
	return nil
}

// Integers are of the Go type that a table's rows have for the SQL type.
func intValue(t sql.Type, n int64) any {
	switch t {
	case types.Int8, types.Boolean:
		return int8(n)
	case types.Int16, types.Year:
		return int16(n)
	case types.Int24, types.Int32:
		return int32(n)
	}
	return n
}

func uintValue(t sql.Type, n uint64) any {
	switch t {
	case types.Uint8:
		return uint8(n)
	case types.Uint16:
		return uint16(n)
	case types.Uint24, types.Uint32:
		return uint32(n)
	}
	return n
}

func enumValue(t sql.Type, s string) any {
	if e, ok := t.(sql.EnumType); ok {
		if at := e.IndexOf(s); at > 0 {
			return uint16(at)
		}
	}
	return nil
}

func decimalValue(n decimal256.Num, scale int32) decimal.Decimal {
	a := n.Array()
	if low := int64(a[0]); a[1] == a[2] && a[2] == a[3] && a[1] == uint64(low>>63) {
		return decimal.New(low, -scale)
	}
	return decimal.NewFromBigInt(n.BigInt(), -scale)
}

// constant is the engine's value v as a constant of form f; false when it has no place there. What does
// not have the very type is converted as it would be to be sent.
func (f form) constant(ctx *sql.Context, v any) (exec.Const, bool) {
	c := exec.Const{T: f.t}
	if v == nil || f.kind == kindNull {
		c.Null = true
		return c, v == nil
	}
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return c, false
	}
	switch f.kind {
	case kindBool, kindInt:
		n, ok := intOf(v)
		if !ok {
			x, _, err := types.Int64.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			n, ok = x.(int64)
			if !ok {
				return c, false
			}
		}
		c.Int = n
	case kindUint:
		n, ok := uintOf(v)
		if !ok {
			x, _, err := types.Uint64.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			n, ok = x.(uint64)
			if !ok {
				return c, false
			}
		}
		c.Uint = n
	case kindFloat:
		switch x := v.(type) {
		case float64:
			c.Float = x
		case float32:
			c.Float = float64(x)
		default:
			x, _, err := f.sql.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			switch x := x.(type) {
			case float64:
				c.Float = x
			case float32:
				c.Float = float64(x)
			default:
				return c, false
			}
		}
	case kindDecimal:
		d, ok := v.(decimal.Decimal)
		if !ok {
			x, _, err := f.sql.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			if d, ok = x.(decimal.Decimal); !ok {
				return c, false
			}
		}
		return f.decimal(d)
	case kindText, kindBytes:
		switch x := v.(type) {
		case string:
			c.Bytes = []byte(x)
		case []byte:
			c.Bytes = append([]byte{}, x...)
		case float64:
			c.Bytes = sqltable.AppendDouble(nil, x, 64)
		case float32:
			c.Bytes = sqltable.AppendDouble(nil, float64(x), 32)
		default:
			return f.spelled(ctx, v)
		}
	case kindJSON:
		j, ok := v.(sql.JSONWrapper)
		if !ok {
			return f.spelled(ctx, v)
		}
		text, err := sqltable.TextOfJSON(j)
		if err != nil {
			return c, false
		}
		c.Bytes = []byte(text)
	case kindWall:
		at, ok := v.(time.Time)
		if !ok {
			x, _, err := f.sql.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			if at, ok = x.(time.Time); !ok {
				return c, false
			}
		}
		micros := at.UnixMicro()
		if micros%f.unit != 0 {
			return c, false
		}
		c.Int = micros / f.unit
	case kindSpan:
		x, ok := v.(types.Timespan)
		if !ok {
			y, _, err := f.sql.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			if x, ok = y.(types.Timespan); !ok {
				return c, false
			}
		}
		c.Int = int64(x)
	default:
		return c, false
	}
	return c, true
}

// decimal is d at the form's scale, rounded as for sending; false when it has too many digits.
func (f form) decimal(d decimal.Decimal) (exec.Const, bool) {
	c := exec.Const{T: f.t}
	n := d.Round(f.t.Scale).Shift(f.t.Scale).BigInt()
	most := uint(254)
	if f.t.Kind == vector.Decimal128 {
		most = 126
	}
	if n.BitLen() > int(most) {
		return c, false
	}
	c.Dec = decimal256.FromBigInt(n)
	return c, true
}

func (f form) spelled(ctx *sql.Context, v any) (exec.Const, bool) {
	s, err := f.sql.SQL(ctx, nil, v)
	if err != nil {
		return exec.Const{T: f.t}, false
	}
	return exec.Const{T: f.t, Bytes: s.ToBytes(), Null: s.IsNull()}, true
}

func intOf(v any) (int64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int8:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case int:
		return int64(x), true
	}
	return 0, false
}

func uintOf(v any) (uint64, bool) {
	switch x := v.(type) {
	case uint8:
		return uint64(x), true
	case uint16:
		return uint64(x), true
	case uint32:
		return uint64(x), true
	case uint64:
		return x, true
	case uint:
		return uint64(x), true
	}
	return 0, false
}

// cell returns a function that reads row i of v as the engine's value.
func (f form) cell(v *vector.Vector, zone *sqltable.Zone) func(i int) any {
	read := f.read(v, zone)
	if !v.HasNulls() {
		return read
	}
	return func(i int) any {
		if v.IsNull(i) {
			return nil
		}
		return read(i)
	}
}

func (f form) read(v *vector.Vector, zone *sqltable.Zone) func(i int) any {
	switch f.kind {
	case kindNull:
		return func(int) any { return nil }
	case kindBool:
		return func(i int) any { return v.Int(i) != 0 }
	case kindInt:
		switch f.sql {
		case types.Int8, types.Boolean, types.Int16, types.Year, types.Int24, types.Int32:
			return func(i int) any { return intValue(f.sql, v.Int(i)) }
		}
		return func(i int) any { return v.Int(i) }
	case kindUint:
		return func(i int) any { return uintValue(f.sql, uintAt(v, i)) }
	case kindFloat:
		if f.sql == types.Float32 {
			return func(i int) any { return float32(floatAt(v, i)) + 0 }
		}
		return func(i int) any { return floatAt(v, i) + 0 } // rows have no -0
	case kindDecimal:
		return func(i int) any { return decimalValue(decimalAt(v, i), v.Scale) }
	case kindText:
		return func(i int) any { return string(v.Text(i)) }
	case kindBytes:
		return func(i int) any { return append([]byte{}, v.Text(i)...) }
	case kindJSON:
		return func(i int) any { return sqltable.JSONText(v.Text(i)) }
	case kindEnum:
		return func(i int) any { return enumValue(f.sql, string(v.Text(i))) }
	case kindInstant:
		return func(i int) any { return zone.Wall(v.Int(i) * f.unit) }
	case kindWall:
		return func(i int) any { return time.UnixMicro(v.Int(i) * f.unit).UTC() }
	case kindSpan:
		return func(i int) any { return types.Timespan(v.Int(i)) }
	}
	panic("pushdown: a form without values")
}

func uintAt(v *vector.Vector, i int) uint64 {
	if v.Const {
		i = 0
	}
	return v.Uint64[i]
}

func floatAt(v *vector.Vector, i int) float64 {
	if v.Const {
		i = 0
	}
	return v.Float64[i]
}

func decimalAt(v *vector.Vector, i int) decimal256.Num {
	if v.Const {
		i = 0
	}
	if v.Dec128 != nil {
		return decimal256.FromDecimal128(v.Dec128[i])
	}
	return v.Dec256[i]
}

// digits of the integer part that a decimal form has at most.
func wholeDigits(t sql.Type) int {
	if d, ok := t.(sql.DecimalType); ok {
		return int(d.Precision()) - int(d.Scale())
	}
	return 20
}

// tenTo is a power of ten.
func tenTo(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
