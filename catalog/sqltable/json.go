package sqltable

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"math"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// JSONText is a JSON cell: its text as it was spelled. It goes to the client byte
// for byte; only functions of the engine that look inside make values of it, and
// even those get every digit.
type JSONText string

var (
	_ sql.JSONWrapper = JSONText("")
	_ types.JSONBytes = JSONText("")
	_ driver.Valuer   = JSONText("")
)

// Clone implements sql.JSONWrapper; text is immutable.
func (j JSONText) Clone(context.Context) sql.JSONWrapper { return j }

// GetBytes implements types.JSONBytes.
func (j JSONText) GetBytes() ([]byte, error) { return []byte(j), nil }

// String is the text.
func (j JSONText) String() string { return string(j) }

// Value implements driver.Valuer.
func (j JSONText) Value() (driver.Value, error) { return string(j), nil }

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
