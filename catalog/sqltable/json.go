package sqltable

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"math"
	"strconv"

	"millrace/blobexpand/jsonval"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// JSONText is a JSON value of the engine's: its text as it was spelled. It goes to the
// client byte for byte and is compared exactly; only functions of the engine that look
// inside make values of it, and even those get every digit.
type JSONText string

var (
	_ sql.JSONWrapper      = JSONText("")
	_ types.JSONBytes      = JSONText("")
	_ types.ComparableJSON = JSONText("")
	_ driver.Valuer        = JSONText("")
)

// Clone implements sql.JSONWrapper; text is immutable.
func (j JSONText) Clone(context.Context) sql.JSONWrapper { return j }

// GetBytes implements types.JSONBytes.
func (j JSONText) GetBytes() ([]byte, error) { return []byte(j), nil }

// String is the text.
func (j JSONText) String() string { return string(j) }

// Value implements driver.Valuer.
func (j JSONText) Value() (driver.Value, error) { return string(j), nil }

// Type implements types.ComparableJSON: what JSON_TYPE says.
func (j JSONText) Type(context.Context) (string, error) {
	v, err := jsonval.Parse([]byte(j))
	if err != nil {
		return "", err
	}
	return v.Type(), nil
}

// Compare implements types.ComparableJSON: it orders by value, as the engine does, but
// without rounding numbers.
func (j JSONText) Compare(other any) (int, error) {
	v, err := jsonval.Parse([]byte(j))
	if err != nil {
		return 0, err
	}
	if o, ok := other.(JSONText); ok {
		w, err := jsonval.Parse([]byte(o))
		if err != nil {
			return 0, err
		}
		return jsonval.Compare(v, w), nil
	}
	if v.Kind() == jsonval.NumberKind {
		if n, ok := numberText(other); ok {
			return jsonval.CompareNumbers(v, n), nil
		}
	}
	mine, err := j.ToInterface()
	if err != nil {
		return 0, err
	}
	if w, ok := other.(sql.JSONWrapper); ok {
		if other, err = w.ToInterface(); err != nil {
			return 0, err
		}
	}
	return types.CompareJSON(mine, other)
}

// numberText is the text of a number of any type of the engine's.
func numberText(v any) ([]byte, bool) {
	switch v := v.(type) {
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
		return AppendDouble(nil, float64(v), 32), true
	case float64:
		return AppendDouble(nil, v, 64), true
	case decimal.Decimal:
		return []byte(v.String()), true
	default:
		return nil, false
	}
}

// ToInterface implements sql.JSONWrapper: maps, slices, strings, bools, nil, and for
// numbers int64, uint64, float64 where the shortest spelling is the same number,
// else decimal.Decimal.
func (j JSONText) ToInterface() (interface{}, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(j)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return exactNumbers(v)
}

func exactNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return exactNumber(string(v))
	case []any:
		for i := range v {
			if v[i], err = exactNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = exactNumbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func exactNumber(s string) (any, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && s != "-0" {
		return i, nil
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u, nil
	}
	f, ferr := strconv.ParseFloat(s, 64)
	// An exponent far beyond a double's would make a decimal of that many digits.
	if ferr != nil || (f == 0 && len(s) > 8) || math.Abs(f) > 1e64 || (f != 0 && math.Abs(f) < 1e-64) {
		return f, ferr
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return f, nil
	}
	if decimal.NewFromFloat(f).Equal(d) {
		return f, nil
	}
	return d, nil
}
