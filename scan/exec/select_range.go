package exec

import (
	"math"
	"sort"

	"millrace/internal/vector"
)

// intRange picks integers in [lo, hi], or, if not, outside. Every comparison with a constant is
// one, and comparisons of one column that must all hold become one together.
type intRange struct {
	col    int
	lo, hi int64
	not    bool
}

// plain turns the outside of a half-open range into the range on the other side.
func (r *intRange) plain() {
	if !r.not {
		return
	}
	switch {
	case r.hi == math.MaxInt64 && r.lo > math.MinInt64:
		r.lo, r.hi, r.not = math.MinInt64, r.lo-1, false
	case r.lo == math.MinInt64 && r.hi < math.MaxInt64:
		r.lo, r.hi, r.not = r.hi+1, math.MaxInt64, false
	}
}

// meet makes r both ranges; false when that is not one range.
func (r *intRange) meet(o *intRange) bool {
	if r.col != o.col || r.not || o.not {
		return false
	}
	r.lo, r.hi = max(r.lo, o.lo), min(r.hi, o.hi)
	return true
}

func (r *intRange) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[r.col]
	outside := r.not == want
	k := 0
	switch {
	case v.Ascends && rows == nil && !outside && !v.Const:
		from := sort.Search(b.Len, func(i int) bool { return v.Int(i) >= r.lo })
		to := from + sort.Search(b.Len-from, func(i int) bool { return v.Int(from+i) > r.hi })
		return copy(dst, allRows[from:to]), nil
	case v.Const || v.Int8 == nil && v.Int16 == nil && v.Int32 == nil && v.Int64 == nil:
		x := v.Int(0)
		if (r.lo <= x && x <= r.hi) == !outside {
			if rows == nil {
				rows = allRows[:b.Len]
			}
			k = copy(dst, rows)
		}
		if v.Const && v.IsNull(0) {
			return 0, nil
		}
		if v.Const {
			return k, nil
		}
	case v.Int8 != nil:
		k = pickRange[int8, uint8](v.Int8, v.Base, r, outside, math.MinInt8, math.MaxInt8, b.Len, rows, dst)
	case v.Int16 != nil:
		k = pickRange[int16, uint16](v.Int16, v.Base, r, outside, math.MinInt16, math.MaxInt16, b.Len, rows, dst)
	case v.Int32 != nil:
		k = pickRange[int32, uint32](v.Int32, v.Base, r, outside, math.MinInt32, math.MaxInt32, b.Len, rows, dst)
	default:
		k = pickRange[int64, uint64](v.Int64, 0, r, outside, math.MinInt64, math.MaxInt64, b.Len, rows, dst)
	}
	return dropNulls(v, dst[:k]), nil
}

// minus is x−base, cut to BIGINT.
func minus(x, base int64) int64 {
	d := x - base
	switch {
	case base > 0 && d > x:
		return math.MinInt64
	case base < 0 && d < x:
		return math.MaxInt64
	}
	return d
}

// pickRange compares in the slots' own width: one subtraction and one unsigned comparison decide
// about both bounds. What is outside is a range, too, if numbers go round.
func pickRange[T int8 | int16 | int32 | int64, U uint8 | uint16 | uint32 | uint64](
	vals []T, base int64, r *intRange, outside bool, least, most int64, n int, rows, dst []int32,
) int {
	lo, hi := minus(r.lo, base), minus(r.hi, base)
	switch {
	case lo > hi || lo > most || hi < least: // nothing is inside
		if !outside {
			return 0
		}
		return copy(dst, orAll(rows, n))
	case lo <= least && hi >= most: // nothing is outside
		if outside {
			return 0
		}
		return copy(dst, orAll(rows, n))
	}
	from, span := T(max(lo, least)), U(T(min(hi, most)))-U(T(max(lo, least)))
	if outside {
		from, span = T(min(hi, most))+1, ^span-1
	}
	start := U(from)
	k := 0
	out := (*[chunkRows]int32)(dst[:chunkRows])
	if rows == nil {
		for i, x := range vals[:n] {
			out[k&(chunkRows-1)] = int32(i)
			k += b2i(U(x)-start <= span)
		}
		return k
	}
	for _, i := range rows {
		out[k&(chunkRows-1)] = i
		k += b2i(U(vals[i])-start <= span)
	}
	return k
}

func orAll(rows []int32, n int) []int32 {
	if rows == nil {
		return allRows[:n]
	}
	return rows
}

// floatRange picks floats in [lo, hi], or outside.
type floatRange struct {
	col    int
	lo, hi float64
	not    bool
}

func (r *floatRange) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[r.col]
	inside := b2i(r.not != want)
	k := 0
	switch {
	case v.Const:
		x := v.Float64[0]
		if v.IsNull(0) || b2i(r.lo <= x && x <= r.hi) != inside {
			return 0, nil
		}
		return copy(dst, orAll(rows, b.Len)), nil
	case rows == nil:
		out := (*[chunkRows]int32)(dst[:chunkRows])
		for i, x := range v.Float64[:b.Len] {
			out[k&(chunkRows-1)] = int32(i)
			k += b2i(b2i(r.lo <= x)&b2i(x <= r.hi) == inside)
		}
	default:
		for _, i := range rows {
			x := v.Float64[i]
			dst[k] = i
			k += b2i(b2i(r.lo <= x)&b2i(x <= r.hi) == inside)
		}
	}
	return dropNulls(v, dst[:k]), nil
}

// intSet is IN over an integer column.
type intSet struct {
	col  int
	null bool // the list held a NULL: nothing is ever false
	low  int64
	bits []uint64 // over [low, low+64·len)
	set  map[int64]struct{}
	ints []int64
}

// intSetOf is the kernel of an IN over an integer column, nil if it is none.
func intSetOf(e In) selector {
	c, ok := e.Arg.(Col)
	if !ok || c.T.Kind != vector.Int {
		return nil
	}
	s := &intSet{col: c.Index, null: e.Null, set: map[int64]struct{}{}}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, k := range e.List {
		if k.Null {
			s.null = true
			continue
		}
		s.set[k.Int] = struct{}{}
		lo, hi = min(lo, k.Int), max(hi, k.Int)
	}
	if len(s.set) == 0 {
		lo, hi = 0, 0
	}
	if span := uint64(hi) - uint64(lo); span < 1<<18 {
		s.low, s.bits = lo, make([]uint64, span>>6+1)
		for x := range s.set {
			at := uint64(x) - uint64(lo)
			s.bits[at>>6] |= 1 << (at & 63)
		}
	}
	return s
}

func (s *intSet) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	if s.null && !want {
		return 0, nil
	}
	v := &b.Cols[s.col]
	k := 0
	x := intsOf(v, b.Len, &s.ints)
	if s.bits != nil {
		for _, i := range orAll(rows, b.Len) {
			at := uint64(x[i]) - uint64(s.low)
			hit := uint64(0)
			if w := at >> 6; w < uint64(len(s.bits)) {
				hit = s.bits[w] >> (at & 63) & 1
			}
			dst[k] = i
			k += b2i(hit == 1 == want)
		}
	} else {
		for _, i := range orAll(rows, b.Len) {
			_, hit := s.set[x[i]]
			dst[k] = i
			k += b2i(hit == want)
		}
	}
	if v.Const {
		if v.IsNull(0) {
			return 0, nil
		}
		return k, nil
	}
	return dropNulls(v, dst[:k]), nil
}
