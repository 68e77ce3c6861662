package vector

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Take gathers rows of v into a vector of their own; a negative row is NULL (an outer join's
// row without a match). Codes keep their dictionary. Panics with ErrTextSize where plain
// text would pass 4 GiB: callers take some thousand rows at a time.
func Take(v *Vector, rows []int32) Vector {
	n := len(rows)
	absent := 0
	for _, r := range rows {
		if r < 0 {
			absent++
		}
	}
	if n > 0 && (absent == n || v.Len == 0) {
		return Nulls(v.Kind, v.Scale, n)
	}
	if v.Const && absent == 0 {
		out := *v
		out.Len = n
		if v.Valid != nil && v.Nulls != 0 {
			out.Nulls = n * (v.CountNulls() / max(v.Len, 1))
		}
		return out
	}
	out := Vector{Kind: v.Kind, Scale: v.Scale, Len: n, Base: v.Base, Dict: v.Dict}
	if absent > 0 || v.HasNulls() {
		valid := make([]uint64, words(n))
		for i, r := range rows {
			if r >= 0 && !v.IsNull(int(r)) {
				valid[i>>6] |= 1 << (i & 63)
			}
		}
		out.Valid, out.Nulls = nullsOf(valid, n)
		if out.Nulls == n && n > 0 {
			return Nulls(v.Kind, v.Scale, n)
		}
	}
	if v.Const || absent > 0 {
		safe := make([]int32, n)
		if !v.Const {
			for i, r := range rows {
				safe[i] = max(r, 0)
			}
		}
		rows = safe
	}
	switch {
	case v.Int8 != nil:
		out.Int8 = gather(v.Int8, rows)
	case v.Int16 != nil:
		out.Int16 = gather(v.Int16, rows)
	case v.Int32 != nil:
		out.Int32 = gather(v.Int32, rows)
	case v.Int64 != nil:
		out.Int64 = gather(v.Int64, rows)
	case v.Uint64 != nil:
		out.Uint64 = gather(v.Uint64, rows)
	case v.Float64 != nil:
		out.Float64 = gather(v.Float64, rows)
	case v.Dec128 != nil:
		out.Dec128 = gather[decimal128.Num](v.Dec128, rows)
	case v.Dec256 != nil:
		out.Dec256 = gather[decimal256.Num](v.Dec256, rows)
	case v.Code8 != nil:
		out.Code8 = gather(v.Code8, rows)
	case v.Code16 != nil:
		out.Code16 = gather(v.Code16, rows)
	case v.Code32 != nil:
		out.Code32 = gather(v.Code32, rows)
	case v.Offsets != nil:
		out.Offsets, out.Bytes = gatherTexts(v, rows)
	case v.Kind == Int: // a Const without a buffer
		out.Int64, out.Base = make([]int64, n), 0
		for i := range out.Int64 {
			out.Int64[i] = v.Base
		}
	}
	return out
}

func gather[T any](src []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = src[r]
	}
	return out
}

func gatherTexts(v *Vector, rows []int32) (offsets []uint32, bytes []byte) {
	offsets = make([]uint32, len(rows)+1)
	total := uint64(0)
	for i, r := range rows {
		total += uint64(v.Offsets[r+1] - v.Offsets[r])
		offsets[i+1] = uint32(total)
	}
	if total > math.MaxUint32 {
		panic(ErrTextSize)
	}
	bytes = make([]byte, 0, total)
	for _, r := range rows {
		bytes = append(bytes, v.Bytes[v.Offsets[r]:v.Offsets[r+1]]...)
	}
	return offsets, bytes
}
