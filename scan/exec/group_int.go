package exec

import (
	"math"
	"math/bits"
	"slices"

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

	slots   []intSlot
	shift   uint8 // 64 − log2 of the slots
	touched uint32

	wide   []int64
	valid  []uint64
	validV []uint64
	floats []float64
	uints  []uint64
}

type intSlot struct {
	key int64
	id  uint32 // one more than the number; 0: free
}

const noID = math.MaxUint32

// Arrays are used for ranges up to the rows to be expected, within these bounds.
const (
	directLeast = 1 << 16
	directMost  = 1 << 22
	sparse      = 128 // slots a value that an array may have
)

func newIntTable(t Type, rows int) *intTable {
	return &intTable{t: t, limit: uint64(min(max(rows, directLeast), directMost)), null: noID}
}

func (h *intTable) len() int { return len(h.vals) }

func (*intTable) fits() error { return nil }
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
		h.hash(len(x))
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
	if len(h.vals) == cap(h.vals) {
		h.vals = slices.Grow(h.vals, max(len(h.vals), 256))
	}
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
	if span >= h.limit || span >= directLeast && span/sparse > uint64(len(h.vals)+len(x)) {
		return false
	}
	// Room to grow on both sides, so that slowly moving values do not copy the array each time.
	room := min(span/2+64, h.limit/4)
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

// hash turns to a hash table, or to a larger one, with room for n more.
func (h *intTable) hash(n int) {
	h.slots, h.shift = intSlots(len(h.slots), len(h.vals)+n)
	h.direct = nil
	slots, mask := h.slots, uint64(len(h.slots)-1)
	for id, x := range h.vals {
		if uint32(id) == h.null {
			continue
		}
		at := hashInt(x) >> (h.shift & 63)
		for slots[at&mask].id != 0 {
			at++
		}
		slots[at&mask] = intSlot{x, uint32(id) + 1}
	}
}

// intSlots makes a larger table with room for n keys, at most five in eight slots: a smaller table costs fewer
// misses of the caches and of the page tables than the collisions cost.
func intSlots(now, n int) ([]intSlot, uint8) {
	size := tableSize(now, n*8/5+1)
	return vector.MakeHuge[intSlot](size), uint8(64 - bits.TrailingZeros(uint(size)))
}

// tableSize is a power of two of at least so many slots: four times as many as now while that is
// little, then twice.
func tableSize(now, least int) int {
	size := max(now, 1024)
	for size < least || size == now {
		if size < 1<<18 {
			size *= 4
		} else {
			size *= 2
		}
	}
	return size
}

func hashInt(x int64) uint64 {
	hi, lo := bits.Mul64(uint64(x)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func (h *intTable) probe(x []int64, valid []uint64, out []uint32) {
	if 8*(len(h.vals)+len(x)) > 5*len(h.slots) {
		h.hash(len(x))
	}
	slots, shift := h.slots, h.shift&63
	mask := uint64(len(slots) - 1)
	last, lastID := int64(0), uint32(noID) // sorted and repeated keys need no look
	var home [keyRun]uint64
	for from := 0; from < len(x); from += keyRun {
		run := x[from:min(from+keyRun, len(x))]
		if len(slots) > nearSlots {
			h.touched += touch(slots, shift, run, &home)
		} else {
			for j, k := range run {
				home[j] = hashInt(k) >> shift
			}
		}
		for j, k := range run {
			i := from + j
			if valid != nil && !bitSet(valid, i) {
				out[i] = h.nullID()
				continue
			}
			if k != last || lastID == noID {
				for at := home[j]; ; at++ {
					s := &slots[at&mask]
					if s.key == k && s.id != 0 {
						lastID = s.id - 1
						break
					}
					if s.id == 0 {
						lastID = h.add(k)
						*s = intSlot{k, lastID + 1}
						break
					}
				}
				last = k
			}
			out[i] = lastID
		}
	}
}

// keyRun is how many keys are hashed before the first is looked up, nearSlots how many slots the
// nearer caches hold, where that does not pay.
const (
	keyRun    = 256
	nearSlots = 1 << 13
)

// touch hashes keys and reads their first slots, which do not wait for each other: the memory works on
// many at once, while looking up would wait for each. The sum keeps the reads from being left out.
func touch(slots []intSlot, shift uint8, keys []int64, home *[keyRun]uint64) uint32 {
	sum := uint32(0)
	for j, k := range keys {
		at := hashInt(k) >> (shift & 63)
		home[j&(keyRun-1)] = at
		sum += slots[at].id
	}
	return sum
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
