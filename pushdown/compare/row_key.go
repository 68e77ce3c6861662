package compare

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// AppendRowKey appends the key of every value of a row.
func AppendRowKey(ctx *sql.Context, b []byte, schema sql.Schema, row sql.Row) ([]byte, error) {
	for i, v := range row {
		var t sql.Type
		if i < len(schema) {
			t = schema[i].Type
		}
		var err error
		if b, err = AppendKey(ctx, b, t, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// AppendKey appends bytes that are the same for values of type t that are equal, NULLs among them, and for no
// others. No key is the start of another one.
func AppendKey(ctx *sql.Context, b []byte, t sql.Type, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	if t != nil && types.IsFloat(t) {
		// The rows of a union may have numbers of any kind in it.
		if f, err := number.Double(v); err == nil {
			return appendDouble(b, f), nil
		}
	}
	switch v := v.(type) {
	case nil:
		return append(b, 0), nil
	case float64:
		return appendDouble(b, v), nil
	case float32:
		return appendDouble(b, float64(v)), nil
	case decimal.Decimal:
		s := v.String()
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return appendText(b, 'n', s), nil
	case uint64:
		return appendText(b, 'n', strconv.FormatUint(v, 10)), nil
	case time.Time:
		b = binary.BigEndian.AppendUint64(append(b, 't'), uint64(v.Unix()))
		return binary.BigEndian.AppendUint32(b, uint32(v.Nanosecond())), nil
	case []byte:
		return appendText(b, 's', string(v)), nil
	case string:
		if st, ok := t.(sql.StringType); ok && !bytesCompare(st) {
			weights, err := AppendWeights(nil, st.Collation(), v)
			if err != nil {
				return nil, err
			}
			v = string(weights)
		}
		return appendText(b, 's', v), nil
	}
	if n, ok := number.Int(v); ok {
		return appendText(b, 'n', strconv.FormatInt(n, 10)), nil
	}
	return appendText(b, 'v', fmt.Sprint(v)), nil
}

func appendDouble(b []byte, f float64) []byte {
	if f == 0 {
		f = 0 // −0 equals 0
	}
	return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(f))
}

func appendText(b []byte, kind byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, kind), uint64(len(s))), s...)
}
