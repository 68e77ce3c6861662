package exec

import "math/bits"

// pairTable numbers pairs of numbers in order of first sight: in a matrix while that is small, else
// in a hash table.
type pairTable struct {
	keys []uint64 // by number: the first of the pair in the high half

	matrix []uint32
	rows   uint32
	shift  uint8 // log2 of the matrix's columns

	slots []intSlot
	hash  uint8
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
		p.rehash(4 * len(p.keys))
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

func (p *pairTable) rehash(slots int) {
	size := 1 << bits.Len(uint(max(slots, 2*chunkRows)-1))
	p.slots, p.hash = make([]intSlot, size), uint8(64-bits.TrailingZeros(uint(size)))
	p.matrix = nil
	for i := range p.slots {
		p.slots[i].id = noID
	}
	mask := uint64(size - 1)
	for id, k := range p.keys {
		at := hashInt(int64(k)) >> (p.hash & 63)
		for p.slots[at&mask].id != noID {
			at++
		}
		p.slots[at&mask] = intSlot{int64(k), uint32(id)}
	}
}

func (p *pairTable) probe(a, b []uint32) {
	if 2*(len(p.keys)+len(a)) > len(p.slots) {
		p.rehash(4 * (len(p.keys) + len(a)))
	}
	mask := uint64(len(p.slots) - 1)
	for i, x := range a {
		k := int64(uint64(x)<<32 | uint64(b[i]))
		at := hashInt(k) >> (p.hash & 63)
		for {
			s := &p.slots[at&mask]
			if s.id == noID {
				*s = intSlot{k, p.add(uint64(k))}
				a[i] = s.id
				break
			}
			if s.key == k {
				a[i] = s.id
				break
			}
			at++
		}
	}
}
