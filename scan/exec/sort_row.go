package exec

import (
	"encoding/binary"
	"math"

	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Rows that wait to be sorted, or lie in a spill file, are a run of bytes: per column one byte, 0 for
// NULL, else 1 and the value; texts with their length as a varint before them. Spill files live as
// long as their statement, so the format has no version.

// appendRow encodes row i of cols.
func appendRow(dst []byte, cols []vector.Vector, i int) []byte {
	for c := range cols {
		v := &cols[c]
		if v.IsNull(i) {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		slot := at(v, i)
		switch v.Kind {
		case vector.Int:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Int(i)))
		case vector.Uint:
			dst = binary.LittleEndian.AppendUint64(dst, v.Uint64[slot])
		case vector.Float:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float64[slot]))
		case vector.Decimal128:
			x := v.Dec128[slot]
			dst = binary.LittleEndian.AppendUint64(dst, x.LowBits())
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x.HighBits()))
		case vector.Decimal256:
			for _, w := range v.Dec256[slot].Array() {
				dst = binary.LittleEndian.AppendUint64(dst, w)
			}
		case vector.String:
			s := v.Text(i)
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
		}
	}
	return dst
}

// decodeRow appends an encoded row to the builders and returns what lies behind it.
func decodeRow(b []byte, cols []builder) []byte {
	word := func() uint64 {
		x := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return x
	}
	for c := range cols {
		out := &cols[c]
		null := b[0] == 0
		b = b[1:]
		out.mark(null)
		out.n++
		switch out.t.Kind {
		case vector.Int:
			x := int64(0)
			if !null {
				x = int64(word())
			}
			out.ints = append(out.ints, x)
		case vector.Uint:
			x := uint64(0)
			if !null {
				x = word()
			}
			out.uints = append(out.uints, x)
		case vector.Float:
			x := 0.0
			if !null {
				x = math.Float64frombits(word())
			}
			out.floats = append(out.floats, x)
		case vector.Decimal128:
			var x decimal128.Num
			if !null {
				lo := word()
				x = decimal128.New(int64(word()), lo)
			}
			out.dec128 = append(out.dec128, x)
		case vector.Decimal256:
			var w [4]uint64
			if !null {
				for i := range w {
					w[i] = word()
				}
			}
			out.dec256 = append(out.dec256, decimal256.New(w[3], w[2], w[1], w[0]))
		case vector.String:
			if !null {
				n, k := binary.Uvarint(b)
				out.bytes = append(out.bytes, b[k:k+int(n)]...)
				b = b[k+int(n):]
			}
			out.offsets = append(out.offsets, uint32(len(out.bytes)))
		}
	}
	return b
}
