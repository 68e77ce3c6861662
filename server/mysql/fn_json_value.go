package mysql

import (
	"context"
	"database/sql/driver"
	"strconv"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// jsonDoc is a JSON value as our functions return it: its text as it was spelled, compared
// exactly.
type jsonDoc string

var (
	_ sql.JSONWrapper      = jsonDoc("")
	_ types.JSONBytes      = jsonDoc("")
	_ types.ComparableJSON = jsonDoc("")
)

func (j jsonDoc) Clone(context.Context) sql.JSONWrapper { return j }
func (j jsonDoc) GetBytes() ([]byte, error)             { return []byte(j), nil }
func (j jsonDoc) String() string                        { return string(j) }
func (j jsonDoc) Value() (driver.Value, error)          { return string(j), nil }
func (j jsonDoc) ToInterface() (any, error)             { return sqltable.JSONText(j).ToInterface() }

// Type is what JSON_TYPE says.
func (j jsonDoc) Type(context.Context) (string, error) { return jsonTypeName([]byte(j)), nil }

// Compare orders by value, as the engine does, but without rounding numbers.
func (j jsonDoc) Compare(other any) (int, error) {
	text := []byte(j)
	if isJSONNumber(text) {
		if n, ok := numberText(other); ok {
			return jsonval.CompareNumbers(text, n), nil
		}
	}
	v, err := j.ToInterface()
	if err != nil {
		return 0, err
	}
	if w, ok := other.(sql.JSONWrapper); ok {
		if other, err = w.ToInterface(); err != nil {
			return 0, err
		}
	}
	return types.CompareJSON(v, other)
}

func isJSONNumber(b []byte) bool { return len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') }

// numberText is the text of a number of any type.
func numberText(v any) ([]byte, bool) {
	switch v := v.(type) {
	case jsonDoc:
		return []byte(v), isJSONNumber([]byte(v))
	case sqltable.JSONText:
		return []byte(v), isJSONNumber([]byte(v))
	case types.JSONDocument:
		return numberText(v.Val)
	case int:
		return strconv.AppendInt(nil, int64(v), 10), true
	case int8:
		return strconv.AppendInt(nil, int64(v), 10), true
	case int16:
		return strconv.AppendInt(nil, int64(v), 10), true
	case int32:
		return strconv.AppendInt(nil, int64(v), 10), true
	case int64:
		return strconv.AppendInt(nil, v, 10), true
	case uint8:
		return strconv.AppendUint(nil, uint64(v), 10), true
	case uint16:
		return strconv.AppendUint(nil, uint64(v), 10), true
	case uint32:
		return strconv.AppendUint(nil, uint64(v), 10), true
	case uint64:
		return strconv.AppendUint(nil, v, 10), true
	case float32:
		return strconv.AppendFloat(nil, float64(v), 'g', -1, 32), true
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), true
	case decimal.Decimal:
		return []byte(v.String()), true
	default:
		return nil, false
	}
}
