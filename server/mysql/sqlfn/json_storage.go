package sqlfn

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameJSONArrayOf makes an array of one document. No user can write its name unquoted.
const NameJSONArrayOf = "millrace json array of"

// jsonStorageFunctions tell what MySQL would need for a document. Here documents are stored as they were written.
func jsonStorageFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "json_storage_size", strict: true, typeOf: fixed(types.Int64), eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			value, err := jsonValue(args[0], 1, "json_storage_size")
			if err != nil {
				return nil, err
			}
			d := json.NewDecoder(bytes.NewReader(value))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				return nil, err
			}
			if v == nil || v == true || v == false {
				return int64(2), nil
			}
			size, _ := binaryJSONSize(v)
			return 1 + size, nil // with the byte of its type
		}}, 1, 1),
		scalarFunction(scalar{name: NameJSONArrayOf, strict: true, text: asArgument, typeOf: fixed(types.LongText), eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			value, err := jsonValue(args[0], 1, "json_table")
			if err != nil {
				return nil, err
			}
			return "[" + string(value) + "]", nil
		}}, 1, 1),
		scalarFunction(scalar{name: "json_storage_free", strict: true, typeOf: fixed(types.Int64), eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			_, err := jsonValue(args[0], 1, "json_storage_free")
			return int64(0), err
		}}, 1, 1),
	}
}

// binaryJSONSize is what v takes in MySQL's binary JSON, and the largest container's size in which it takes nothing, being
// written in the place of its offset: offsets are 16 bits wide in containers below 64 KiB, and 32 bits in larger ones.
func binaryJSONSize(v any) (size int64, inlined int) {
	switch v := v.(type) {
	case nil, bool:
		return 0, 2
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		switch {
		case err == nil && n >= math.MinInt16 && n <= math.MaxInt16:
			return 2, 2
		case err == nil && n >= math.MinInt32 && n <= math.MaxInt32:
			return 4, 1
		}
		return 8, 0
	case string:
		return varLength(len(v)) + int64(len(v)), 0
	case []any:
		return containerSize(v, nil), 0
	case map[string]any:
		values := make([]any, 0, len(v))
		keys := int64(0)
		for k, x := range v {
			keys += int64(len(k))
			values = append(values, x)
		}
		return containerSize(values, &keys), 0
	}
	return 0, 0
}

// containerSize is that of an array, or of an object whose keys have so many bytes.
func containerSize(values []any, keys *int64) int64 {
	header, keyEntry, valueEntry, level := int64(4), int64(4), int64(3), 2
	for {
		size := header + int64(len(values))*valueEntry
		if keys != nil {
			size += *keys + int64(len(values))*keyEntry
		}
		for _, v := range values {
			if n, inlined := binaryJSONSize(v); inlined < level {
				size += n
			}
		}
		if size <= math.MaxUint16 || level == 1 {
			return size
		}
		header, keyEntry, valueEntry, level = 8, 6, 5, 1
	}
}

// varLength is how many bytes a length takes, seven bits each.
func varLength(n int) int64 {
	size := int64(1)
	for ; n > 0x7f; n >>= 7 {
		size++
	}
	return size
}
