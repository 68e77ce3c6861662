package number

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// The ends of BIGINT and BIGINT UNSIGNED.
var (
	MinInt64  = decimal.NewFromInt(math.MinInt64)
	MaxInt64  = decimal.NewFromInt(math.MaxInt64)
	MaxUint64 = decimal.RequireFromString("18446744073709551615")
)

// IsFloat says that a literal is a double, whatever its value.
func IsFloat(lit *expression.Literal) bool {
	switch lit.Value().(type) {
	case float32, float64:
		return true
	}
	return false
}

// Of is the value of a numeric literal; a double only where it is an integer that
// doubles count exactly.
func Of(lit *expression.Literal) (decimal.Decimal, bool) {
	if f, ok := lit.Value().(float64); ok && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		return decimal.Decimal{}, false
	}
	if _, ok := lit.Value().(float32); ok {
		return decimal.Decimal{}, false
	}
	return Decimal(lit.Value())
}

// Int is a bool or signed integer.
func Int(v any) (int64, bool) {
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

// Uint is an unsigned integer.
func Uint(v any) (uint64, bool) {
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

// Double is a number of any kind, or a bool, as the nearest double.
func Double(v any) (float64, error) {
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case int32:
		return float64(v), nil
	case int16:
		return float64(v), nil
	case int8:
		return float64(v), nil
	case int:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case uint32:
		return float64(v), nil
	case uint16:
		return float64(v), nil
	case uint8:
		return float64(v), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case float64:
		return v, nil
	case float32:
		return float64(v), nil
	case decimal.Decimal:
		f, _ := v.Float64()
		return f, nil
	}
	return 0, fmt.Errorf("pushdown: %T is no number", v)
}

// Decimal is an integer or decimal as a decimal, a double as the one that it prints as.
func Decimal(v any) (decimal.Decimal, bool) {
	switch v := v.(type) {
	case decimal.Decimal:
		return v, true
	case int64:
		return decimal.NewFromInt(v), true
	case int32:
		return decimal.NewFromInt(int64(v)), true
	case int16:
		return decimal.NewFromInt(int64(v)), true
	case int8:
		return decimal.NewFromInt(int64(v)), true
	case int:
		return decimal.NewFromInt(int64(v)), true
	case uint64:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(v), 0), true
	case uint32:
		return decimal.NewFromInt(int64(v)), true
	case uint16:
		return decimal.NewFromInt(int64(v)), true
	case uint8:
		return decimal.NewFromInt(int64(v)), true
	case bool:
		if v {
			return decimal.NewFromInt(1), true
		}
		return decimal.Zero, true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return decimal.Zero, false
		}
		return decimal.NewFromFloat(v), true
	case float32:
		return decimal.NewFromFloat32(v), true
	}
	return decimal.Zero, false
}

// InType is v, an exact number, as one of type typ: a DECIMAL with all of its digits, or an integer. Others stay as they are.
func InType(v any, typ sql.Type) any {
	t, isDecimal := typ.(sql.DecimalType)
	if !isDecimal {
		if n, isInt := Int(v); isInt {
			return n
		}
		if n, isUint := Uint(v); isUint && typ == types.Int64 {
			return int64(n)
		} else if isUint {
			return n
		}
		return v
	}
	d, ok := v.(decimal.Decimal)
	if !ok {
		if n, isInt := Int(v); isInt {
			d = decimal.NewFromInt(n)
		} else if n, isUint := Uint(v); isUint {
			d = decimal.NewFromBigInt(new(big.Int).SetUint64(n), 0)
		} else {
			return v
		}
	}
	scale := int32(t.Scale())
	return decimal.NewFromBigInt(d.Round(scale).Shift(scale).BigInt(), -scale)
}

// FromVector is the decimal that n stands for in vectors of a scale.
func FromVector(n decimal256.Num, scale int32) decimal.Decimal {
	a := n.Array()
	if low := int64(a[0]); a[1] == a[2] && a[2] == a[3] && a[1] == uint64(low>>63) {
		return decimal.New(low, -scale)
	}
	return decimal.NewFromBigInt(n.BigInt(), -scale)
}
