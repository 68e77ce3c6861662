package exec

import "math/bits"

// pairSet is a set of pairs of small numbers: a bitmap of second numbers for each first one as long as
// that is small, else a hash table.
type pairSet struct {
	bits  [][]uint64
	words int
	table *pairTable
	a     []uint32
}

// bitmapMost is the largest size of the bitmaps, in words.
const bitmapMost = 4 << 20

func (p *pairSet) bytes() int64 {
	n := 8*int64(p.words) + 24*int64(cap(p.bits))
	if p.table != nil {
		n += p.table.bytes()
	}
	return n
}

// add takes pairs in; second numbers are below most.
func (p *pairSet) add(a, b []uint32, most int) {
	if p.table == nil {
		for i, g := range a {
			w := int(b[i] >> 6)
			if int(g) >= len(p.bits) {
				p.bits = extend(p.bits, int(g)+1)
			}
			m := p.bits[g]
			if w >= len(m) {
				// Sized for the numbers given out so far, but no more than twice what is needed: most
				// groups may have few.
				size := min(max(most>>6+1, w+1), 2*w+2)
				p.words += size - len(m)
				m = append(make([]uint64, 0, size), m...)[:size]
				p.bits[g] = m
			}
			m[w] |= 1 << (b[i] & 63)
		}
		if p.words > bitmapMost {
			p.spread()
		}
		return
	}
	own := grown(&p.a, len(a))
	copy(own, a)
	p.table.ids(own, b)
}

// spread turns the bitmaps into a table.
func (p *pairSet) spread() {
	t := newPairTable()
	p.each(func(a, b []uint32) { t.ids(a, b) })
	p.table, p.bits, p.words = t, nil, 0
}

// each calls f for runs of pairs, which it may overwrite.
func (p *pairSet) each(f func(a, b []uint32)) {
	a, b := make([]uint32, 0, chunkRows), make([]uint32, 0, chunkRows)
	put := func(x, y uint32) {
		if a, b = append(a, x), append(b, y); len(a) == chunkRows {
			f(a, b)
			a, b = a[:0], b[:0]
		}
	}
	if p.table != nil {
		for _, k := range p.table.keys {
			put(uint32(k>>32), uint32(k))
		}
	}
	for g, m := range p.bits {
		for w, word := range m {
			for ; word != 0; word &= word - 1 {
				put(uint32(g), uint32(w<<6+bits.TrailingZeros64(word)))
			}
		}
	}
	if len(a) > 0 {
		f(a, b)
	}
}

// count adds up the pairs of each first number.
func (p *pairSet) count(n []int64) {
	if p.table != nil {
		for _, k := range p.table.keys {
			n[k>>32]++
		}
	}
	for g, m := range p.bits {
		for _, word := range m {
			n[g] += int64(bits.OnesCount64(word))
		}
	}
}
