package form

import (
	"time"

	"millrace/catalog/sqltable"
	"millrace/internal/vector"
	"millrace/pushdown/number"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Cell returns a function that reads row i of v as the engine's value.
func (f Form) Cell(v *vector.Vector, zone *sqltable.Zone) func(i int) any {
	read := f.Read(v, zone)
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

func (f Form) Read(v *vector.Vector, zone *sqltable.Zone) func(i int) any {
	switch f.Kind {
	case Null:
		return func(int) any { return nil }
	case Bool:
		return func(i int) any { return v.Int(i) != 0 }
	case Int:
		switch f.SQL {
		case types.Int8, types.Boolean, types.Int16, types.Year, types.Int24, types.Int32:
			return func(i int) any { return intValue(f.SQL, v.Int(i)) }
		}
		return func(i int) any { return v.Int(i) }
	case Uint:
		return func(i int) any { return uintValue(f.SQL, uintAt(v, i)) }
	case Float:
		if f.SQL == types.Float32 {
			return func(i int) any { return float32(floatAt(v, i)) + 0 }
		}
		return func(i int) any { return floatAt(v, i) + 0 } // rows have no -0
	case Decimal:
		return func(i int) any { return number.FromVector(decimalAt(v, i), v.Scale) }
	case Text:
		return func(i int) any { return string(v.Text(i)) }
	case Bytes:
		return func(i int) any { return append([]byte{}, v.Text(i)...) }
	case JSON:
		return func(i int) any { return sqltable.JSONText(v.Text(i)) }
	case Enum:
		return func(i int) any { return enumValue(f.SQL, string(v.Text(i))) }
	case Instant:
		return func(i int) any { return zone.Wall(v.Int(i) * f.Unit) }
	case Wall:
		return func(i int) any { return time.UnixMicro(v.Int(i) * f.Unit).UTC() }
	case Span:
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
