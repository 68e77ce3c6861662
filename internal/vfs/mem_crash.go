package vfs

import "math/rand/v2"

// CrashClone returns an independent file system as a power loss at this moment
// could leave it: what was synced is there, and of everything else each granule,
// each file size and each directory operation survives or not, as r decides.
// Every other clone keeps a prefix of the directory operations (as journalling
// file systems do), the others any subset. Locks, open files, faults and the
// size limit are not inherited.
//
// m may be in use meanwhile; the clone shows one instant.
func (m *Mem) CrashClone(r *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make(map[string]*memNode, len(m.durable))
	for p, n := range m.durable {
		names[p] = n
	}
	if r.IntN(2) == 0 {
		for _, op := range m.journal[:r.IntN(len(m.journal)+1)] {
			op.apply(names)
		}
	} else {
		for _, op := range m.journal {
			if r.IntN(2) == 0 {
				op.apply(names)
			}
		}
	}
	return m.rebuild(names, func(n *memNode) *memNode { return n.crash(r) })
}

// KillClone returns an independent file system as the death of the process
// alone leaves it: everything written is there, and what was not synced is still
// not synced.
func (m *Mem) KillClone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem()
	for d := range m.dirs {
		c.dirs[d] = true
	}
	nodes := map[*memNode]*memNode{}
	clone := func(n *memNode) *memNode {
		k := nodes[n]
		if k == nil {
			k = n.clone()
			nodes[n] = k
		}
		return k
	}
	for p, n := range m.cur {
		c.cur[p] = clone(n)
		c.used += n.alloc
	}
	for p, n := range m.durable {
		c.durable[p] = clone(n)
	}
	for _, op := range m.journal {
		op.node = clone(op.node)
		c.journal = append(c.journal, op)
	}
	return c
}

// clone shares the pages, which from now on are private to neither.
func (n *memNode) clone() *memNode {
	for i := range n.pages {
		n.pages[i].private = false
	}
	k := *n
	k.pages = append([]memPage(nil), n.pages...)
	return &k
}

func (m *Mem) rebuild(names map[string]*memNode, each func(*memNode) *memNode) *Mem {
	c := NewMem()
	for d := range m.dirs {
		c.dirs[d] = true
	}
	made := map[*memNode]*memNode{}
	for p, n := range names {
		k := made[n]
		if k == nil {
			k = each(n)
			made[n] = k
			c.used += k.alloc
		}
		c.cur[p] = k
		c.durable[p] = k
	}
	return c
}

// crash is the file after a power loss: all of it durable now.
func (n *memNode) crash(r *rand.Rand) *memNode {
	k := &memNode{size: n.durableSize, linked: true, mod: n.mod}
	if n.size != n.durableSize && r.IntN(2) == 0 {
		k.size = n.size
	}
	k.durableSize = k.size
	k.alloc = roundUp(k.size, pageBytes)
	k.pages = make([]memPage, min(int64(len(n.pages)), k.alloc/pageBytes))
	// A crash in the middle of a write leaves any mixture; usually, though,
	// nearly everything or nearly nothing had been written. All are tried.
	chance := []int{0, 1, 4, 7, 8}[r.IntN(5)]
	for i := range k.pages {
		pg := &n.pages[i]
		var survive uint8
		for g := range pageBytes / GranuleBytes {
			if bit := uint8(1) << g; (pg.dirty|pg.lost)&bit != 0 && r.IntN(8) < chance {
				survive |= bit
			}
		}
		p := pg.durable
		if survive != 0 {
			p = merge(pg.durable, pg.cur, survive)
		}
		if p != nil && int64(i+1)*pageBytes > k.size {
			c := *p // bytes behind the end read as zeroes if the file grows again
			clear(c[k.size-int64(i)*pageBytes:])
			p = &c
		}
		k.pages[i] = memPage{cur: p, durable: p}
	}
	return k
}
