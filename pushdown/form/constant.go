package form

import (
	"time"

	"millrace/catalog/sqltable"
	"millrace/internal/vector"
	"millrace/pushdown/number"
	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// Value is the engine's value of constant c.
func (f Form) Value(c exec.Const, zone *sqltable.Zone) any {
	if c.Null {
		return nil
	}
	switch f.Kind {
	case Bool:
		return c.Int != 0
	case Int:
		return intValue(f.SQL, c.Int)
	case Uint:
		return uintValue(f.SQL, c.Uint)
	case Float:
		if f.SQL == types.Float32 {
			return float32(c.Float) + 0
		}
		return c.Float + 0 // rows have no -0
	case Decimal:
		return number.FromVector(c.Dec, f.T.Scale)
	case Text:
		return string(c.Bytes)
	case Bytes:
		return append([]byte{}, c.Bytes...)
	case JSON:
		return sqltable.JSONText(c.Bytes)
	case Enum:
		return enumValue(f.SQL, string(c.Bytes))
	case Instant:
		return zone.Wall(c.Int * f.Unit)
	case Wall:
		return time.UnixMicro(c.Int * f.Unit).UTC()
	case Span:
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

// Constant is the engine's value v as a constant of form f; false when it has no place there. What does
// not have the very type is converted as it would be to be sent.
func (f Form) Constant(ctx *sql.Context, v any) (exec.Const, bool) {
	c := exec.Const{T: f.T}
	if v == nil || f.Kind == Null {
		c.Null = true
		return c, v == nil
	}
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return c, false
	}
	switch f.Kind {
	case Bool, Int:
		n, ok := number.Int(v)
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
	case Uint:
		n, ok := number.Uint(v)
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
	case Float:
		switch x := v.(type) {
		case float64:
			c.Float = x
		case float32:
			c.Float = float64(x)
		default:
			x, _, err := f.SQL.Convert(ctx, v)
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
	case Decimal:
		d, ok := v.(decimal.Decimal)
		if !ok {
			x, _, err := f.SQL.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			if d, ok = x.(decimal.Decimal); !ok {
				return c, false
			}
		}
		return f.decimal(d)
	case Text, Bytes:
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
	case JSON:
		j, ok := v.(sql.JSONWrapper)
		if !ok {
			return f.spelled(ctx, v)
		}
		text, err := sqltable.TextOfJSON(j)
		if err != nil {
			return c, false
		}
		c.Bytes = []byte(text)
	case Wall:
		at, ok := v.(time.Time)
		if !ok {
			x, _, err := f.SQL.Convert(ctx, v)
			if err != nil {
				return c, false
			}
			if at, ok = x.(time.Time); !ok {
				return c, false
			}
		}
		micros := at.UnixMicro()
		if micros%f.Unit != 0 {
			return c, false
		}
		c.Int = micros / f.Unit
	case Span:
		x, ok := v.(types.Timespan)
		if !ok {
			y, _, err := f.SQL.Convert(ctx, v)
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
func (f Form) decimal(d decimal.Decimal) (exec.Const, bool) {
	c := exec.Const{T: f.T}
	n := d.Round(f.T.Scale).Shift(f.T.Scale).BigInt()
	most := uint(254)
	if f.T.Kind == vector.Decimal128 {
		most = 126
	}
	if n.BitLen() > int(most) {
		return c, false
	}
	c.Dec = decimal256.FromBigInt(n)
	return c, true
}

func (f Form) spelled(ctx *sql.Context, v any) (exec.Const, bool) {
	s, err := f.SQL.SQL(ctx, nil, v)
	if err != nil {
		return exec.Const{T: f.T}, false
	}
	return exec.Const{T: f.T, Bytes: s.ToBytes(), Null: s.IsNull()}, true
}
