package sqltable

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"millrace/blobexpand/jsonval"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/shopspring/decimal"
)

// TextOfJSON is the text of any JSON value of the engine's. Its own writer escapes no names of members, so every door
// (results, text, records) comes here.
func TextOfJSON(j sql.JSONWrapper) (JSONText, error) {
	if text, ok := j.(JSONText); ok {
		return text, nil
	}
	v, err := j.ToInterface()
	if err != nil {
		return "", err
	}
	b, err := appendJSON(nil, v)
	return JSONText(b), err
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return fmt.Append(dst, v), nil
	case string:
		return jsonval.AppendQuoted(dst, v), nil
	case []byte:
		return jsonval.AppendQuoted(dst, string(v)), nil
	case time.Time:
		return append(v.AppendFormat(append(dst, '"'), "2006-01-02 15:04:05.000000"), '"'), nil
	case JSONText:
		return append(dst, v...), nil
	case sql.JSONWrapper:
		inner, err := v.ToInterface()
		if err != nil {
			return nil, err
		}
		return appendJSON(dst, inner)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if dst, err = appendJSON(dst, e); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case map[string]any:
		names := slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return cmp.Or(len(a)-len(b), strings.Compare(a, b))
		})
		dst = append(dst, '{')
		for i, n := range names {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(jsonval.AppendQuoted(dst, n), ": "...)
			if dst, err = appendJSON(dst, v[n]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
	if d, ok := v.(decimal.Decimal); ok {
		return append(dst, d.StringFixed(max(0, -d.Exponent()))...), nil
	}
	if n, ok := numberText(v); ok {
		return append(dst, n...), nil
	}
	return nil, fmt.Errorf("sqltable: no JSON of %T", v)
}
