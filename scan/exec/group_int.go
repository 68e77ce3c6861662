package exec

import (
	"math"
	"math/bits"

	"millrace/internal/vector"
)

// intTable numbers integers, and floats by their bits. As long as the values lie close together it
// is an array; else a hash table with open addressing, the keys in its slots.
type intTable struct {
	t     Type
	limit uint64 // the widest range that gets an array

	vals []int64 // by number
	null uint32  // the number of NULL; none: noID

	direct []uint32 // number of low+i
	low    int64

	slots []intSlot
	shift uint8 // 64 − log2 of the slots

	wide   []int64
	valid  []uint64
	validV []uint64
	floats []float64
	uints  []uint64
}

type intSlot struct {
	key int64
	id  uint32 // noID: free
}

const noID = math.MaxUint32

// Arrays are used for ranges up to the rows to be expected, within these bounds.
const (
	directLeast = 1 << 16
	directMost  = 1 << 22
)

func newIntTable(t Type, rows int) *intTable {
	return &intTable{t: t, limit: uint64(min(max(rows, directLeast), directMost)), null: noID}
}

func (h *intTable) len() int { return len(h.vals) }

func (h *intTable) bytes() int64 {
	return 8*int64(cap(h.vals)) + 4*int64(cap(h.direct)) + 16*int64(cap(h.slots))
}

func (h *intTable) ids(v *vector.Vector, out []uint32) {
	n := len(out)
	if n == 0 {
		return
	}
	x := h.widened(v, n)
	valid := validOf(v, n, &h.valid)
	h.numbers(x, valid, out)
}

// widened is v's values as integers.
func (h *intTable) widened(v *vector.Vector, n int) []int64 {
	switch h.t.Kind {
	case vector.Uint:
		out := grown(&h.wide, n)
		for i, x := range plainOf(v.Uint64, v, n, &h.uints) {
			out[i] = int64(x)
		}
		return out
	case vector.Float:
		out := grown(&h.wide, n)
		for i, x := range plainOf(v.Float64, v, n, &h.floats) {
			out[i] = int64(floatKey(x))
		}
		return out
	}
	return intsOf(v, n, &h.wide)
}

// numbers is ids over integers; valid nil: none is NULL.
func (h *intTable) numbers(x []int64, valid []uint64, out []uint32) {
	x = x[:len(out)]
	if h.slots == nil && !h.cover(x, valid) {
		h.hash(4 * len(h.vals))
	}
	if h.slots != nil {
		h.probe(x, valid, out)
		return
	}
	direct, low := h.direct, uint64(h.low)
	var miss uint32
	for i, k := range x {
		id := uint32(noID)
		if at := uint64(k) - low; at < uint64(len(direct)) {
			id = direct[at]
		}
		out[i] = id
		miss |= uint32(b2i(id == noID))
	}
	if miss == 0 && valid == nil {
		return
	}
	for i, id := range out {
		if valid != nil && !bitSet(valid, i) {
			out[i] = h.nullID()
			continue
		}
		if id == noID {
			slot := &h.direct[uint64(x[i])-low]
			if *slot == noID {
				*slot = h.add(x[i])
			}
			out[i] = *slot
		}
	}
}

func (h *intTable) add(x int64) uint32 {
	h.vals = append(h.vals, x)
	return uint32(len(h.vals) - 1)
}

func (h *intTable) nullID() uint32 {
	if h.null == noID {
		h.null = h.add(0)
	}
	return h.null
}

// cover makes the array reach all values; false when they lie too far apart.
func (h *intTable) cover(x []int64, valid []uint64) bool {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	if valid == nil {
		for _, k := range x {
			lo, hi = min(lo, k), max(hi, k)
		}
	} else {
		for i, k := range x {
			if bitSet(valid, i) {
				lo, hi = min(lo, k), max(hi, k)
			}
		}
	}
	if lo > hi {
		return true // all NULL
	}
	if h.direct != nil {
		end := h.low + int64(len(h.direct)) - 1
		if lo >= h.low && hi <= end {
			return true
		}
		lo, hi = min(lo, h.low), max(hi, end)
	}
	span := uint64(hi) - uint64(lo)
	if span >= h.limit {
		return false
	}
	// Room to grow on both sides, so that slowly moving values do not copy the array each time.
	room := min(span/2+64, h.limit)
	const sign = 1 << 63 // turns the order of BIGINTs into that of unsigned numbers
	low := lo - int64(min(room, uint64(lo)^sign))
	high := hi + int64(min(room, ^(uint64(hi)^sign)))
	direct := make([]uint32, uint64(high)-uint64(low)+1)
	fillWith(direct, noID)
	if h.direct != nil {
		copy(direct[h.low-low:], h.direct)
	}
	h.direct, h.low = direct, low
	return true
}

// hash turns to a hash table with at least so many slots.
func (h *intTable) hash(slots int) {
	size := 1 << bits.Len(uint(max(slots, 2*chunkRows)-1))
	h.slots, h.shift = make([]intSlot, size), uint8(64-bits.TrailingZeros(uint(size)))
	h.direct = nil
	for i := range h.slots {
		h.slots[i].id = noID
	}
	for id, x := range h.vals {
		if uint32(id) != h.null {
			h.insert(x, uint32(id))
		}
	}
}

func hashInt(x int64) uint64 {
	hi, lo := bits.Mul64(uint64(x)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func (h *intTable) insert(x int64, id uint32) {
	mask := uint64(len(h.slots) - 1)
	for at := hashInt(x) >> (h.shift & 63); ; at = (at + 1) & mask {
		if s := &h.slots[at&mask]; s.id == noID {
			*s = intSlot{x, id}
			return
		}
	}
}

func (h *intTable) probe(x []int64, valid []uint64, out []uint32) {
	if 2*(len(h.vals)+len(x)) > len(h.slots) {
		h.hash(4 * (len(h.vals) + len(x)))
	}
	slots, shift := h.slots, h.shift
	mask := uint64(len(slots) - 1)
	for i, k := range x {
		if valid != nil && !bitSet(valid, i) {
			out[i] = h.nullID()
			continue
		}
		at := hashInt(k) >> (shift & 63)
		for {
			s := &slots[at&mask]
			if s.id == noID {
				id := h.add(k)
				*s = intSlot{k, id}
				out[i] = id
				break
			}
			if s.key == k {
				out[i] = s.id
				break
			}
			at++
		}
	}
}

func (h *intTable) values() vector.Vector {
	v := vector.Vector{Kind: h.t.Kind, Scale: h.t.Scale, Len: len(h.vals)}
	switch h.t.Kind {
	case vector.Int:
		v.Int64 = h.vals
	case vector.Uint:
		v.Uint64 = make([]uint64, len(h.vals))
		for i, x := range h.vals {
			v.Uint64[i] = uint64(x)
		}
	case vector.Float:
		v.Float64 = make([]float64, len(h.vals))
		for i, x := range h.vals {
			v.Float64[i] = math.Float64frombits(uint64(x))
		}
	}
	if h.null != noID {
		v.Valid = onesOf(len(h.vals), &h.validV)
		setValid(v.Valid, int(h.null), false)
		v.Nulls = 1
	}
	return v
}
