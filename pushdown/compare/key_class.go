package compare

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// KeyClass says how values of two types become the bytes of a hash key: equal values give equal
// bytes, whatever their types. Different ones may, too.
type KeyClass uint8

const (
	anyKey    KeyClass = iota // no two values are told apart
	numberKey                 // by their nearest double
	textKey                   // by their bytes
	timeKey                   // by their instant
)

// KeyClassOf is the class of values of types l and r that are compared. Only types whose values compare alike however they are represented may be told apart.
func KeyClassOf(l, r sql.Type) KeyClass {
	switch {
	case types.IsNumber(l) && types.IsNumber(r):
		return numberKey
	case types.IsTimespan(l) || types.IsTimespan(r):
		return anyKey
	case types.IsTime(l) && types.IsTime(r):
		return timeKey
	}
	ls, ok1 := l.(sql.StringType)
	rs, ok2 := r.(sql.StringType)
	if ok1 && ok2 && bytesCompare(ls) && bytesCompare(rs) {
		return textKey
	}
	return anyKey
}

func bytesCompare(t sql.StringType) bool {
	return t.Collation() == sql.Collation_utf8mb4_0900_bin || t.Collation() == sql.Collation_binary
}

// TellsApart says that different values have different keys mostly.
func (c KeyClass) TellsApart() bool { return c != anyKey }

// Exact says that different values have different keys.
func (c KeyClass) Exact() bool { return c == textKey || c == timeKey }

// Append appends the key of v, which is not nil, to b.
func (c KeyClass) Append(ctx *sql.Context, b []byte, v any) ([]byte, error) {
	switch c {
	case numberKey:
		f, err := number.Double(v)
		if err != nil {
			return nil, err
		}
		if f == 0 {
			f = 0 // −0 equals 0
		}
		return binary.BigEndian.AppendUint64(b, math.Float64bits(f)), nil
	case textKey:
		s, ok, err := sql.Unwrap[string](ctx, v)
		if err != nil {
			return nil, err
		}
		if !ok {
			raw, ok, err := sql.Unwrap[[]byte](ctx, v)
			if err != nil {
				return nil, err
			}
			if !ok {
				return b, fmt.Errorf("pushdown: %T as text of a join's key", v)
			}
			s = string(raw)
		}
		b = binary.AppendUvarint(b, uint64(len(s)))
		return append(b, s...), nil
	case timeKey:
		t, ok := v.(time.Time)
		if !ok {
			// Some functions of times give text, and are compared as times nevertheless.
			converted, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
			if err != nil {
				return nil, err
			}
			if t, ok = converted.(time.Time); !ok {
				return nil, fmt.Errorf("pushdown: %T as time of a join's key", v)
			}
		}
		return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro())), nil
	}
	return b, nil
}
