package columns

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"millrace/internal/vector"
	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// maxStatBytes bounds the strings kept as bounds. A longer least one is cut, a longer greatest
// one is not kept at all.
const maxStatBytes = 64

// statsOf looks at all of a column.
func statsOf(v *vector.Vector) exec.Stats {
	t := exec.Type{Kind: v.Kind, Scale: v.Scale}
	st := exec.Stats{Nulls: v.CountNulls(), Exact: true}
	if st.Nulls == v.Len {
		return st
	}
	st.HasMin, st.HasMax = true, true
	st.Min.T, st.Max.T = t, t
	switch v.Kind {
	case vector.Int:
		intStats(v, &st)
	case vector.Uint:
		st.Min.Uint, st.Max.Uint = extremes(v, v.Uint64, cmp.Compare[uint64])
	case vector.Float:
		st.Min.Float, st.Max.Float = extremes(v, v.Float64, cmp.Compare[float64])
	case vector.Decimal128:
		lo, hi := extremes(v, v.Dec128, decimal128.Num.Cmp)
		st.Min.Dec, st.Max.Dec = decimal256.FromDecimal128(lo), decimal256.FromDecimal128(hi)
		var sum decimal256.Num
		eachValid(v, func(i int) { sum = sum.Add(decimal256.FromDecimal128(v.Dec128[i])) })
		if v.Const {
			sum = sum.Mul(decimal256.FromI64(int64(v.Len)))
		}
		st.HasSum = true
		st.Sum = exec.Const{T: exec.Type{Kind: vector.Decimal256, Scale: v.Scale}, Dec: sum}
	case vector.Decimal256:
		st.Min.Dec, st.Max.Dec = extremes(v, v.Dec256, decimal256.Num.Cmp)
	case vector.String:
		textStats(v, &st)
	}
	return st
}

// eachValid calls f with the slots that are not NULL; of a constant vector with its only one.
func eachValid(v *vector.Vector, f func(slot int)) {
	if v.Const {
		f(0)
		return
	}
	if v.Valid == nil {
		for i := range v.Len {
			f(i)
		}
		return
	}
	for i := range v.Len {
		if at := v.First + i; v.Valid[at>>6]&(1<<(at&63)) != 0 {
			f(i)
		}
	}
}

func extremes[T any](v *vector.Vector, values []T, compare func(a, b T) int) (lo, hi T) {
	first := true
	eachValid(v, func(i int) {
		x := values[i]
		if first {
			first, lo, hi = false, x, x
			return
		}
		if compare(x, lo) < 0 {
			lo = x
		}
		if compare(x, hi) > 0 {
			hi = x
		}
	})
	return lo, hi
}

func intStats(v *vector.Vector, st *exec.Stats) {
	var lo, hi, sum int64
	exact := true
	switch {
	case v.Int8 != nil:
		lo, hi, sum, _ = slotStats(v, v.Int8)
	case v.Int16 != nil:
		lo, hi, sum, _ = slotStats(v, v.Int16)
	case v.Int32 != nil:
		lo, hi, sum, _ = slotStats(v, v.Int32)
	default:
		lo, hi, sum, exact = slotStats(v, v.Int64)
	}
	st.Min.Int, st.Max.Int = v.Base+lo, v.Base+hi
	n := int64(v.Len - st.Nulls)
	total := decimal256.FromI64(sum)
	if !exact {
		total = decimal256.Num{}
		eachValid(v, func(i int) { total = total.Add(decimal256.FromI64(v.Int64[i])) })
	}
	if v.Const {
		total = total.Mul(decimal256.FromI64(n))
	}
	total = total.Add(decimal256.FromI64(v.Base).Mul(decimal256.FromI64(n)))
	st.HasSum = true
	st.Sum = exec.Const{T: exec.Type{Kind: vector.Decimal256}, Dec: total}
}

// slotStats are those of the slots, without the base; exact is false where the sum overflowed.
func slotStats[T int8 | int16 | int32 | int64](v *vector.Vector, slots []T) (lo, hi, sum int64, exact bool) {
	first, exact := true, true
	eachValid(v, func(i int) {
		x := int64(slots[i])
		if first {
			first, lo, hi = false, x, x
		}
		lo, hi = min(lo, x), max(hi, x)
		s := sum + x
		if (s > sum) != (x > 0) && x != 0 {
			exact = false
		}
		sum = s
	})
	return lo, hi, sum, exact
}

func textStats(v *vector.Vector, st *exec.Stats) {
	var lo, hi []byte
	first := true
	see := func(x []byte) {
		if first {
			first, lo, hi = false, x, x
			return
		}
		if bytes.Compare(x, lo) < 0 {
			lo = x
		}
		if bytes.Compare(x, hi) > 0 {
			hi = x
		}
	}
	switch {
	case v.Dict != nil && !v.Const:
		// Each string is compared once. Not all need stand in a row: the vector may be a part of another.
		used := make([]uint64, (v.Dict.Len()+63)/64)
		switch {
		case v.Code8 != nil:
			markCodes(used, v, v.Code8)
		case v.Code16 != nil:
			markCodes(used, v, v.Code16)
		default:
			markCodes(used, v, v.Code32)
		}
		for c := range v.Dict.Len() {
			if used[c>>6]>>(c&63)&1 != 0 {
				see(v.Dict.Value(c))
			}
		}
	case v.Const:
		see(v.Text(0))
	default:
		// Most lie strictly between the two already by their first bytes.
		var least, most uint64
		for i := range v.Len {
			if v.Valid != nil && v.IsNull(i) {
				continue
			}
			x := v.Bytes[v.Offsets[i]:v.Offsets[i+1]]
			if k := firstBytes(x); first || k <= least || k >= most {
				see(x)
				least, most = firstBytes(lo), firstBytes(hi)
			}
		}
	}
	if len(lo) > maxStatBytes {
		lo = lo[:maxStatBytes]
		st.Exact = false
	}
	st.Min.Bytes = bytes.Clone(lo)
	if len(hi) > maxStatBytes {
		st.HasMax, st.Exact, st.Max.Bytes = false, false, nil
		return
	}
	st.Max.Bytes = bytes.Clone(hi)
}

// firstBytes are the first eight, zeros where there are fewer, as a number: where two differ they say how the texts compare.
func firstBytes(x []byte) uint64 {
	if len(x) >= 8 {
		return binary.BigEndian.Uint64(x)
	}
	k := uint64(0)
	for i, c := range x {
		k |= uint64(c) << (56 - 8*i)
	}
	return k
}

// markCodes sets the bit of each code that stands in a row.
func markCodes[T uint8 | uint16 | uint32](used []uint64, v *vector.Vector, codes []T) {
	eachValid(v, func(i int) { used[codes[i]>>6] |= 1 << (codes[i] & 63) })
}
