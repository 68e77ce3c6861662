package sqlfn

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ToText is the text of any value, as CAST(… AS CHAR) gives it.
func ToText(ctx *sql.Context, v any, t sql.Type) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case float64, float32:
		return doubleText(v).(string), nil
	case sql.JSONWrapper:
		text, err := sqltable.TextOfJSON(v)
		return string(text), err
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

var numberPrefix = regexp.MustCompile(`^[ \t\r\n\f\v]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)`)

// NumericPrefix is the number that s begins with, 0 if none, with MySQL's warning when that is not
// all of s.
func NumericPrefix(ctx *sql.Context, s string) float64 {
	m := numberPrefix.FindStringSubmatch(s)
	if m == nil {
		ctx.Warn(1292, "Truncated incorrect DOUBLE value: '%s'", sqlerr.Clip(s))
		return 0
	}
	if strings.Trim(s[len(m[0]):], " \t\r\n\f\v") != "" {
		ctx.Warn(1292, "Truncated incorrect DOUBLE value: '%s'", sqlerr.Clip(s))
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil && math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}

func IsText(e sql.Expression) bool {
	t := e.Type()
	return t != nil && types.IsTextOnly(t)
}

// FoldsText says whether collation c finds different text equal, spaces at the end aside.
func FoldsText(c sql.CollationID) bool {
	return c != sql.Collation_Unspecified && c != sql.Collation_binary && !strings.HasSuffix(c.Name(), "_bin")
}
