package sqlfn

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"millrace/blobexpand/jsonval"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/spatial"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// jsonAtom is an SQL value as a member or element of JSON, as MySQL makes it: documents as they are, text as a string even
// if it spells JSON, numbers with all digits, times and bytes as strings of their own forms, NULL as null.
func jsonAtom(ctx *sql.Context, v any, e sql.Expression) (jsonval.Value, error) {
	t := e.Type()
	switch v := v.(type) {
	case nil:
		return jsonval.Value("null"), nil
	case sql.JSONWrapper:
		text, err := sqltable.TextOfJSON(v)
		return jsonval.Value(text), err
	case bool:
		// Columns that hold what was compared are integers to MySQL.
		if _, column := e.(*expression.GetField); column {
			return strconv.AppendInt(nil, int64(flag(v)), 10), nil
		}
		return strconv.AppendBool(nil, v), nil
	case float64:
		return jsonDouble(v), nil
	case float32:
		return jsonDouble(float64(v)), nil
	case decimal.Decimal:
		return jsonval.Value(v.StringFixed(decimalPlaces(v, t))), nil
	case time.Time:
		return jsonTime(v, types.IsDateType(t)), nil
	case types.Timespan:
		return jsonval.AppendQuoted(nil, spanText(v)), nil
	case types.GeometryValue:
		return jsonGeometry(ctx, v, t)
	}
	if binary, code := binaryCode(t); binary {
		b, err := bytesOf(ctx, v, t)
		if err != nil {
			return nil, err
		}
		return jsonval.AppendQuoted(nil, fmt.Sprintf("base64:type%d:%s", code, base64.StdEncoding.EncodeToString(b))), nil
	}
	if w, ok := integerOf(v); ok && !types.IsEnum(t) && !types.IsSet(t) {
		if w.negative {
			return strconv.AppendUint([]byte{'-'}, w.abs, 10), nil
		}
		return strconv.AppendUint(nil, w.abs, 10), nil
	}
	s, err := ToText(ctx, v, t)
	return jsonval.AppendQuoted(nil, s), err
}

// jsonDouble is f with a point or an exponent, so that it stays a double.
func jsonDouble(f float64) jsonval.Value {
	v := sqltable.AppendDouble(nil, f, 64)
	if !bytes.ContainsAny(v, ".e") {
		v = append(v, ".0"...)
	}
	return v
}

// decimalPlaces are those of a decimal's type where it has some, so that a value is spelled alike wherever it was
// computed; more if the value has more.
func decimalPlaces(d decimal.Decimal, t sql.Type) int32 {
	places := max(0, -d.Exponent())
	if dt, ok := t.(sql.DecimalType); ok && dt.Scale() < types.DecimalTypeMaxScale {
		places = max(places, int32(dt.Scale()))
	}
	return places
}

func jsonTime(t time.Time, date bool) jsonval.Value {
	layout, zero := "2006-01-02 15:04:05.000000", "0000-00-00 00:00:00.000000"
	if date {
		layout, zero = layout[:10], zero[:10]
	}
	if t.Year() <= 0 { // the zero date, which has no other spelling in Go
		return jsonval.AppendQuoted(nil, zero)
	}
	return jsonval.AppendQuoted(nil, t.Format(layout))
}

// spanText is a time of day with its six digits.
func spanText(v types.Timespan) string {
	micros := int64(v)
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	seconds := micros / 1e6
	return fmt.Sprintf("%s%02d:%02d:%02d.%06d", sign, seconds/3600, seconds/60%60, seconds%60, micros%1e6)
}

func jsonGeometry(ctx *sql.Context, v types.GeometryValue, t sql.Type) (jsonval.Value, error) {
	e, err := spatial.NewAsGeoJSON(expression.NewLiteral(v, t))
	if err != nil {
		return nil, err
	}
	out, err := e.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	j, ok := out.(sql.JSONWrapper)
	if !ok {
		return nil, sqlerr.New(3146, "22032", "Invalid data type for JSON data: %s", t)
	}
	text, err := sqltable.TextOfJSON(j)
	return jsonval.Value(text), err
}

// binaryCode says whether values of a type are bytes, which JSON holds in base64 behind the number of their type.
func binaryCode(t sql.Type) (bool, int) {
	switch t.Type() {
	case sqltypes.Blob:
		return true, 252
	case sqltypes.Binary:
		return true, 254
	case sqltypes.VarBinary:
		return true, 15
	case sqltypes.Bit:
		return true, 16
	}
	return false, 0
}

func bytesOf(ctx *sql.Context, v any, t sql.Type) ([]byte, error) {
	if w, ok := integerOf(v); ok { // BIT(n)
		size := 8
		if b, ok := t.(types.BitType); ok {
			size = (int(b.NumberOfBits()) + 7) / 8
		}
		out := make([]byte, size)
		for i := range out {
			out[size-1-i] = byte(w.abs >> (8 * i))
		}
		return out, nil
	}
	if b, ok := v.([]byte); ok {
		return b, nil
	}
	s, err := ToText(ctx, v, t)
	return []byte(s), err
}

// jsonName is a value as the name of a member.
func jsonName(ctx *sql.Context, v any, e sql.Expression) (string, error) {
	if v == nil {
		return "", sqlerr.New(3158, "22032", "JSON documents may not contain NULL member names.")
	}
	if binary, _ := binaryCode(e.Type()); binary {
		return "", sqlerr.New(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET 'binary'.")
	}
	return ToText(ctx, v, e.Type())
}

// jsonResult is a document that a function made, if it is not too long and there is memory for it.
func jsonResult(ctx *sql.Context, function string, d *jsonval.Document, memory Memory) (any, error) {
	size := d.Size()
	if size > maxFunctionBytes {
		return tooLong(ctx, function), nil
	}
	if err := memory.Admits(size); err != nil {
		return nil, err
	}
	text := d.Value()
	if len(text) > maxFunctionBytes {
		return tooLong(ctx, function), nil
	}
	return jsonMade(text)
}

// jsonMade is the text of a document that was made.
func jsonMade(v jsonval.Value) (any, error) {
	if v.Depth() > jsonval.MaxDepth {
		return nil, sqlerr.New(3157, "22032", "The JSON document exceeds the maximum depth.")
	}
	return sqltable.JSONText(v), nil
}
