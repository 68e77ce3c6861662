package mysql

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// toText is the text of any value, as CAST(… AS CHAR) gives it.
func toText(ctx *sql.Context, v any, t sql.Type) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case float64, float32:
		return doubleText(v).(string), nil
	case fmt.Stringer:
		if _, ok := v.(sql.JSONWrapper); ok {
			return v.String(), nil
		}
	}
	if t != nil {
		if s, err := t.SQL(ctx, nil, v); err == nil && !s.IsNull() {
			return s.ToString(), nil
		}
	}
	c, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	s, ok := c.(string)
	if !ok {
		return "", fmt.Errorf("cannot read %T as text", v)
	}
	return s, nil
}

func toInt(ctx *sql.Context, v any) (int64, error) {
	c, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	n, ok := c.(int64)
	if !ok {
		return 0, fmt.Errorf("cannot read %T as an integer", v)
	}
	return n, nil
}

// flag is MySQL's boolean.
func flag(b bool) int8 {
	if b {
		return 1
	}
	return 0
}
