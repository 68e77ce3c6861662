package exec

import (
	"math/bits"
	"slices"
)

// pairTable numbers pairs of numbers in order of first sight: in a matrix while that is small, else
// in a hash table.
type pairTable struct {
	keys []uint64 // by number: the first of the pair in the high half

	matrix []uint32
	rows   uint32
	shift  uint8 // log2 of the matrix's columns

	slots   []intSlot
	hash    uint8
	touched uint32
}

// matrixMost is the largest matrix, in cells.
const matrixMost = 1 << 16

func newPairTable() *pairTable { return &pairTable{} }

func (p *pairTable) len() int { return len(p.keys) }

func (p *pairTable) bytes() int64 {
	return 8*int64(cap(p.keys)) + 4*int64(cap(p.matrix)) + 16*int64(cap(p.slots))
}

// ids replaces a[k] by the number of the pair (a[k], b[k]).
func (p *pairTable) ids(a, b []uint32) {
	b = b[:len(a)]
	if p.slots == nil && !p.cover(a, b) {
		p.rehash(len(a))
	}
	if p.slots != nil {
		p.probe(a, b)
		return
	}
	m, shift := p.matrix, p.shift&31
	for i, x := range a {
		at := x<<shift | b[i]
		id := m[at]
		if id == noID {
			id = p.add(uint64(x)<<32 | uint64(b[i]))
			m[at] = id
		}
		a[i] = id
	}
}

func (p *pairTable) add(k uint64) uint32 {
	if len(p.keys) == cap(p.keys) {
		p.keys = slices.Grow(p.keys, max(len(p.keys), 256))
	}
	p.keys = append(p.keys, k)
	return uint32(len(p.keys) - 1)
}

// cover makes the matrix large enough; false when it would be too large.
func (p *pairTable) cover(a, b []uint32) bool {
	var high, wide uint32
	for i, x := range a {
		high, wide = max(high, x), max(wide, b[i])
	}
	if p.matrix != nil && high < p.rows && wide>>p.shift == 0 {
		return true
	}
	high, wide = max(high+1, p.rows, 4), max(wide, 1<<p.shift-1, 3)
	shift := uint8(bits.Len32(wide))
	rows := uint32(1) << bits.Len32(high-1)
	if uint64(rows)<<shift > matrixMost {
		return false
	}
	p.rows, p.shift = rows, shift
	p.matrix = make([]uint32, rows<<shift)
	fillWith(p.matrix, noID)
	for id, k := range p.keys {
		p.matrix[uint32(k>>32)<<shift|uint32(k)] = uint32(id)
	}
	return true
}

// rehash turns to a hash table, or to a larger one, with room for n more.
func (p *pairTable) rehash(n int) {
	p.slots, p.hash = intSlots(len(p.slots), len(p.keys)+n)
	p.matrix = nil
	mask := uint64(len(p.slots) - 1)
	for id, k := range p.keys {
		at := hashInt(int64(k)) >> (p.hash & 63)
		for p.slots[at&mask].id != 0 {
			at++
		}
		p.slots[at&mask] = intSlot{int64(k), uint32(id) + 1}
	}
}

func (p *pairTable) probe(a, b []uint32) {
	if 8*(len(p.keys)+len(a)) > 5*len(p.slots) {
		p.rehash(len(a))
	}
	slots, shift := p.slots, p.hash
	mask := uint64(len(slots) - 1)
	var keys [keyRun]int64
	var home [keyRun]uint64
	for from := 0; from < len(a); from += keyRun {
		run := keys[:min(keyRun, len(a)-from)]
		for j := range run {
			run[j] = int64(uint64(a[from+j])<<32 | uint64(b[from+j]))
		}
		p.touched += touch(slots, shift, run, &home)
		for j, k := range run {
			for at := home[j]; ; at++ {
				s := &slots[at&mask]
				if s.key == k && s.id != 0 {
					a[from+j] = s.id - 1
					break
				}
				if s.id == 0 {
					id := p.add(uint64(k))
					*s = intSlot{k, id + 1}
					a[from+j] = id
					break
				}
			}
		}
	}
}
