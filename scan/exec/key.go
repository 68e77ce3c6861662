package exec

import (
	"encoding/binary"
	"math"

	"millrace/internal/vector"
)

// keyBytes appends bytes that are equal exactly when the values are (of one type, not NULL).
func keyBytes(v *vector.Vector, i int, dst []byte) []byte {
	slot := at(v, i)
	switch v.Kind {
	case vector.Int:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int(i)))
	case vector.Uint:
		return binary.LittleEndian.AppendUint64(dst, v.Uint64[slot])
	case vector.Float:
		return binary.LittleEndian.AppendUint64(dst, floatKey(v.Float64[slot]))
	case vector.String:
		return append(dst, v.Text(i)...)
	}
	for _, w := range decOf(v, i) {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// floatKey is the same for 0 and −0.
func floatKey(x float64) uint64 { return math.Float64bits(x + 0) }
