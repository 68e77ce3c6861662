package exec

import (
	"encoding/binary"
	"math"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// appendSortKey appends bytes that compare as row i of v does among values of its type: NULL first,
// 0 and −0 alike; desc turns the order round. No such string is the beginning of another one of
// the same type, so keys of several columns can be put one behind the other.
func appendSortKey(dst []byte, v *vector.Vector, i int, desc bool) []byte {
	from := len(dst)
	if v.IsNull(i) {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		slot := at(v, i)
		switch v.Kind {
		case vector.Int:
			dst = binary.BigEndian.AppendUint64(dst, uint64(v.Int(i))^signBit)
		case vector.Uint:
			dst = binary.BigEndian.AppendUint64(dst, v.Uint64[slot])
		case vector.Float:
			dst = binary.BigEndian.AppendUint64(dst, sortableFloat(v.Float64[slot]))
		case vector.String:
			dst = appendSortText(dst, v.Text(i))
		default:
			x := decOf(v, i)
			dst = binary.BigEndian.AppendUint64(dst, x[3]^signBit)
			for w := 2; w >= 0; w-- {
				dst = binary.BigEndian.AppendUint64(dst, x[w])
			}
		}
	}
	if desc {
		for k := from; k < len(dst); k++ {
			dst[k] = ^dst[k]
		}
	}
	return dst
}

const signBit = 1 << 63

// sortableFloat orders the bits of doubles as unsigned integers.
func sortableFloat(f float64) uint64 {
	b := math.Float64bits(f + 0)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
}

// appendSortText ends text with two zero bytes; a zero byte inside is followed by 0xff.
func appendSortText(dst, s []byte) []byte {
	for _, c := range s {
		if dst = append(dst, c); c == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0, 0)
}

// decodeSortKey is the first value of a key, as a vector of one row.
func decodeSortKey(key []byte, t Type, desc bool) vector.Vector {
	flip := byte(0)
	if desc {
		flip = 0xff
	}
	if key[0]^flip == 0 {
		return nullVector(t, 1)
	}
	key = key[1:]
	word := func() uint64 {
		x := binary.BigEndian.Uint64(key)
		key = key[8:]
		if desc {
			x = ^x
		}
		return x
	}
	v := vector.Vector{Kind: t.Kind, Scale: t.Scale, Len: 1}
	switch t.Kind {
	case vector.Int:
		v.Int64 = []int64{int64(word() ^ signBit)}
	case vector.Uint:
		v.Uint64 = []uint64{word()}
	case vector.Float:
		b := word()
		if b&signBit != 0 {
			b &^= signBit
		} else {
			b = ^b
		}
		v.Float64 = []float64{math.Float64frombits(b)}
	case vector.String:
		var s []byte
		for i := 0; ; i++ {
			c := key[i] ^ flip
			if c == 0 {
				if i++; key[i]^flip == 0 {
					break
				}
			}
			s = append(s, c)
		}
		v.Offsets, v.Bytes = []uint32{0, uint32(len(s))}, s
	default:
		x := wideint.Int256{3: word() ^ signBit}
		for w := 2; w >= 0; w-- {
			x[w] = word()
		}
		if t.Kind == vector.Decimal128 {
			v.Dec128 = append(v.Dec128, x.Num128())
		} else {
			v.Dec256 = append(v.Dec256, x.Num())
		}
	}
	return v
}
