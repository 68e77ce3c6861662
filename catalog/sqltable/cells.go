package sqltable

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// cells returns a function that reads row i of vector a as the engine's value for
// column c. Strings alias the vector, which stays valid.
func cells(c *column, a arrow.Array, zone *Zone) func(i int) any {
	switch a := a.(type) {
	case *array.Int32:
		return nullable(a, func(i int) any { return a.Value(i) })
	case *array.Int64:
		return nullable(a, intCell(c.sql.Type, a))
	case *array.Uint64:
		return nullable(a, uintCell(c.sql.Type, a))
	case *array.Boolean:
		return nullable(a, func(i int) any {
			if a.Value(i) {
				return int8(1)
			}
			return int8(0)
		})
	case *array.Float64:
		if c.sql.Type == types.Float32 {
			return nullable(a, func(i int) any { return float32(a.Value(i)) + 0 })
		}
		return nullable(a, func(i int) any { return a.Value(i) + 0 }) // -0 is 0, in all that is made of it
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return nullable(a, func(i int) any {
			n := a.Value(i)
			if lo, hi := n.LowBits(), n.HighBits(); hi == int64(lo)>>63 {
				return decimal.New(int64(lo), -scale)
			}
			return decimal.NewFromBigInt(n.BigInt(), -scale)
		})
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		return nullable(a, func(i int) any { return decimal.NewFromBigInt(a.Value(i).BigInt(), -scale) })
	case *array.String:
		if types.IsJSON(c.sql.Type) {
			return nullable(a, func(i int) any { return JSONText(a.Value(i)) })
		}
		if e, ok := c.sql.Type.(sql.EnumType); ok {
			return nullable(a, func(i int) any {
				if at := e.IndexOf(a.Value(i)); at > 0 {
					return uint16(at)
				}
				return nil
			})
		}
		return nullable(a, func(i int) any { return a.Value(i) })
	case *array.Binary:
		return nullable(a, func(i int) any { return a.Value(i) })
	case *array.Date32:
		return nullable(a, func(i int) any { return time.Unix(int64(a.Value(i))*86400, 0).UTC() })
	case *array.Duration:
		return nullable(a, func(i int) any { return types.Timespan(a.Value(i)) })
	case *array.Timestamp:
		unit := int64(1)
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Millisecond {
			unit = 1000
		}
		if types.IsTimestampType(c.sql.Type) {
			return nullable(a, func(i int) any { return zone.Wall(int64(a.Value(i)) * unit) })
		}
		return nullable(a, func(i int) any { return time.UnixMicro(int64(a.Value(i)) * unit).UTC() })
	}
	panic(fmt.Sprintf("sqltable: no cell of type %s", a.DataType()))
}

func nullable(a arrow.Array, f func(i int) any) func(i int) any {
	if a.NullN() == 0 {
		return f
	}
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		return f(i)
	}
}

func intCell(t sql.Type, a *array.Int64) func(i int) any {
	switch t {
	case types.Int8, types.Boolean:
		return func(i int) any { return int8(a.Value(i)) }
	case types.Int16, types.Year:
		return func(i int) any { return int16(a.Value(i)) }
	case types.Int24, types.Int32:
		return func(i int) any { return int32(a.Value(i)) }
	}
	return func(i int) any { return a.Value(i) }
}

func uintCell(t sql.Type, a *array.Uint64) func(i int) any {
	switch t {
	case types.Uint8:
		return func(i int) any { return uint8(a.Value(i)) }
	case types.Uint16:
		return func(i int) any { return uint16(a.Value(i)) }
	case types.Uint24, types.Uint32:
		return func(i int) any { return uint32(a.Value(i)) }
	}
	return func(i int) any { return a.Value(i) }
}
