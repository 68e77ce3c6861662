package compare

import (
	"cmp"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/shopspring/decimal"
)

// Values compares two values of an expression of type t as the engine does, NULL before all others.
func Values(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	if a == nil || b == nil {
		switch {
		case a != nil:
			return 1, nil
		case b != nil:
			return -1, nil
		}
		return 0, nil
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), nil
		}
	case int32:
		if b, ok := b.(int32); ok {
			return cmp.Compare(a, b), nil
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), nil
		}
	case decimal.Decimal:
		if b, ok := b.(decimal.Decimal); ok {
			return a.Cmp(b), nil
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), nil
		}
	case string:
		if b, ok := b.(string); ok {
			if st, ok := t.(sql.StringType); ok && bytesCompare(st) {
				return strings.Compare(a, b), nil
			} else if ok {
				return Text(ctx, st.Collation(), a, b)
			}
		}
	}
	return t.Compare(ctx, a, b)
}
