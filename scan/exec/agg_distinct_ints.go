package exec

import (
	"math/bits"

	"millrace/internal/vector"
)

// intBits is a set of integers that lie close together, one bit each: to count the different ones among them needs no numbers.
type intBits struct {
	low  int64
	bits []uint64
}

// intBitsMost is the widest range, in words: a quarter of a million integers of it are no more than a table of them would be.
const intBitsMost = 1 << 19

// add takes n integers of v in, none NULL; false when they lie too far apart: then some may be in it and some not.
func (s *intBits) add(v *vector.Vector, n int) bool {
	switch {
	case n == 0:
		return true
	case v.Const:
		return s.cover(v.Int(0), v.Int(0)) && addBits(s, []int64{v.Int(0)}, 0)
	case v.Int8 != nil:
		return addBits(s, v.Int8[:n], v.Base)
	case v.Int16 != nil:
		return addBits(s, v.Int16[:n], v.Base)
	case v.Int32 != nil:
		return addBits(s, v.Int32[:n], v.Base)
	case v.Int64 != nil:
		return addBits(s, v.Int64[:n], 0)
	}
	return addBits(s, []int64{v.Base}, 0)
}

func addBits[T int8 | int16 | int32 | int64](s *intBits, vals []T, base int64) bool {
	for len(vals) > 0 {
		set, off := s.bits, uint64(base)-uint64(s.low)
		met := len(vals)
		for i, x := range vals {
			at := uint64(int64(x)) + off
			w := at >> 6
			if w >= uint64(len(set)) {
				met = i
				break
			}
			set[w] |= 1 << (at & 63)
		}
		if vals = vals[met:]; len(vals) > 0 {
			lo, hi := bounds(vals, base)
			if !s.cover(lo, hi) {
				return false
			}
		}
	}
	return true
}

// cover makes room for [lo, hi]; false when that is too much.
func (s *intBits) cover(lo, hi int64) bool {
	lo &^= 63
	if len(s.bits) > 0 {
		lo, hi = min(lo, s.low), max(hi, s.low+int64(len(s.bits))*64-1)
	}
	words := (uint64(hi)-uint64(lo))>>6 + 1
	if words > intBitsMost || hi > 1<<62 || lo < -1<<62 {
		return false
	}
	if s.bits != nil && lo == s.low && words <= uint64(len(s.bits)) {
		return true
	}
	// With room on both sides, so that it is seldom done again.
	most := max(words, min(2*words, intBitsMost))
	front := int64((most - words) / 2)
	if s.bits != nil && lo == s.low {
		front = 0
	}
	wide := make([]uint64, most)
	if s.bits != nil {
		copy(wide[(s.low-lo)>>6+front:], s.bits)
	}
	s.low, s.bits = lo-front*64, wide
	return true
}

func (s *intBits) count() int64 {
	n := 0
	for _, w := range s.bits {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

// each calls f with vectors of up to chunkRows of the integers.
func (s *intBits) each(f func(v *vector.Vector, n int)) {
	vals := make([]int64, 0, chunkRows)
	flush := func() {
		v := vector.Vector{Kind: vector.Int, Len: len(vals), Int64: vals}
		f(&v, len(vals))
		vals = vals[:0]
	}
	for w, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			if vals = append(vals, s.low+int64(w)<<6+int64(bits.TrailingZeros64(word))); len(vals) == chunkRows {
				flush()
			}
		}
	}
	if len(vals) > 0 {
		flush()
	}
}
