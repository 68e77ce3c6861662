package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// UnionType is the type of a column whose sides have types l and r, by MySQL's rules.
func UnionType(l, r sql.Type) sql.Type {
	l, r = withoutEnum(l), withoutEnum(r)
	switch {
	case l.Equals(r):
		return l
	case l == types.Null:
		return r
	case r == types.Null:
		return l
	case types.IsNumber(l) && types.IsNumber(r):
		return numberType(l, r)
	case types.IsTime(l) && types.IsTime(r):
		return timeType(l, r)
	case types.IsJSON(l) && types.IsJSON(r):
		return l
	case types.IsBinaryType(l) || types.IsBinaryType(r):
		return types.LongBlob
	}
	ls, ok1 := l.(sql.StringType)
	rs, ok2 := r.(sql.StringType)
	if ok1 && ok2 && ls.Collation() == rs.Collation() {
		if ls.MaxCharacterLength() >= rs.MaxCharacterLength() {
			return asText(ls)
		}
		return asText(rs)
	}
	collation := sql.Collation_Default
	if ok1 {
		collation = ls.Collation()
	} else if ok2 {
		collation = rs.Collation()
	}
	return types.MustCreateString(sqltypes.Text, types.LongTextBlobMax, collation)
}

// withoutEnum is the type of an ENUM's texts: united with anything, it is no ENUM any more.
func withoutEnum(t sql.Type) sql.Type {
	if e, ok := t.(sql.EnumType); ok {
		return types.MustCreateString(sqltypes.VarChar, max(1, int64(e.MaxTextResponseByteLength(nil))), e.Collation())
	}
	return t
}

// asText is t as VARCHAR instead of CHAR: a value of the other side keeps its spaces.
func asText(t sql.StringType) sql.Type {
	if t.Type() != sqltypes.Char {
		return t
	}
	return types.MustCreateString(sqltypes.VarChar, t.MaxCharacterLength(), t.Collation())
}

func numberType(l, r sql.Type) sql.Type {
	switch {
	case types.IsFloat(l) || types.IsFloat(r):
		return types.Float64
	case types.IsDecimal(l) || types.IsDecimal(r):
		lp, ls := decimalDigits(l)
		rp, rs := decimalDigits(r)
		scale := max(ls, rs)
		whole := min(max(lp-ls, rp-rs), types.DecimalTypeMaxPrecision-scale)
		return types.MustCreateColumnDecimalType(uint8(whole+scale), uint8(scale))
	case types.IsUnsigned(l) != types.IsUnsigned(r):
		unsigned := l
		if types.IsUnsigned(r) {
			unsigned = r
		}
		if width(unsigned) < 8 {
			return types.Int64
		}
		return types.MustCreateColumnDecimalType(20, 0)
	case width(l) >= width(r):
		return l
	}
	return r
}

// width of an integer type in bytes.
func width(t sql.Type) int {
	switch t.Type() {
	case sqltypes.Int8, sqltypes.Uint8:
		return 1
	case sqltypes.Int16, sqltypes.Uint16, sqltypes.Year:
		return 2
	case sqltypes.Int24, sqltypes.Uint24:
		return 3
	case sqltypes.Int32, sqltypes.Uint32:
		return 4
	}
	return 8
}

// decimalDigits are the precision and scale in which every value of t fits.
func decimalDigits(t sql.Type) (precision, scale int) {
	if d, ok := t.(sql.DecimalType); ok {
		return int(d.Precision()), int(d.Scale())
	}
	return [9]int{0, 3, 5, 8, 10, 10, 20, 20, 20}[width(t)], 0
}

func timeType(l, r sql.Type) sql.Type {
	digits := 0
	for _, t := range []sql.Type{l, r} {
		if d, ok := t.(sql.DatetimeType); ok {
			digits = max(digits, d.Precision())
		}
		if types.IsTimespan(t) {
			digits = 6
		}
	}
	switch {
	case types.IsTimestampType(l) && types.IsTimestampType(r):
		return types.MustCreateDatetimeType(sqltypes.Timestamp, digits)
	case types.IsTimespan(l) && types.IsTimespan(r):
		return l
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
}
