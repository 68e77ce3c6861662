package scan

import (
	"bytes"
	"hash/maphash"
	"math"
)

// latestKeys maps keys to the newest offset at which each was seen, for the keys whose hash is in
// a range. When there is no more room the range is cut in half and what is outside it is forgotten; more goes on
// behind it, so that every key is seen in full by exactly one pass. Keys are told apart by their bytes; the hash
// only finds them, and its seed is chosen per table.
type latestKeys struct {
	seed   maphash.Seed
	lo, hi uint64 // hashes in [lo, hi], closed
	limit  int64  // bytes of slots and arena; while they grow, the old ones are there too

	slots []latestSlot // a power of two; open addressing
	n     int
	arena []byte
}

type latestSlot struct {
	hash      uint64
	offset    int64
	at        int64 // of the key in the arena
	size      int32
	used      bool
	tombstone bool
}

const (
	latestSlotBytes = 32
	minLatestSlots  = 1 << 6
)

func newLatestKeys(limit int64) *latestKeys {
	return &latestKeys{
		seed: maphash.MakeSeed(), hi: math.MaxUint64, limit: limit,
		slots: make([]latestSlot, minLatestSlots),
	}
}

// more empties the table for the next range of hashes; false when the present one was the last.
func (t *latestKeys) more() bool {
	if t.hi == math.MaxUint64 {
		return false
	}
	width := t.hi - t.lo
	t.lo = t.hi + 1
	t.hi = t.lo + min(width, math.MaxUint64-t.lo)
	clear(t.slots)
	t.n, t.arena = 0, t.arena[:0]
	return true
}

// put notes a key at offset, which is above those noted before.
func (t *latestKeys) put(key []byte, offset int64, tombstone bool) {
	h := maphash.Bytes(t.seed, key)
	if h < t.lo || h > t.hi {
		return
	}
	s := t.slot(h, key)
	if !s.used {
		for !t.room(len(key)) {
			t.halve()
			if h > t.hi {
				return
			}
		}
		if t.full() {
			t.rehash(2 * len(t.slots))
		}
		s = t.slot(h, key)
		*s = latestSlot{hash: h, at: int64(len(t.arena)), size: int32(len(key)), used: true}
		t.arena = append(t.arena, key...)
		t.n++
	}
	s.offset, s.tombstone = offset, tombstone
}

// slot is where the key is, or belongs.
func (t *latestKeys) slot(h uint64, key []byte) *latestSlot {
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if !s.used || s.hash == h && bytes.Equal(t.key(s), key) {
			return s
		}
	}
}

func (t *latestKeys) key(s *latestSlot) []byte { return t.arena[s.at:][:s.size] }

// full: one more key needs more slots.
func (t *latestKeys) full() bool { return t.n+1 > len(t.slots)/8*7 }

// room says whether a new key of so many bytes fits. One always does.
func (t *latestKeys) room(size int) bool {
	slots := len(t.slots)
	if t.full() {
		slots *= 2
	}
	return t.lo == t.hi || t.n == 0 || int64(slots)*latestSlotBytes+int64(len(t.arena)+size) <= t.limit
}

// halve cuts the range of hashes in half and forgets the keys that are no longer in it.
func (t *latestKeys) halve() {
	t.hi = t.lo + (t.hi-t.lo)/2
	t.rehash(len(t.slots))
}

// rehash makes so many slots of the present ones and drops what is out of range.
func (t *latestKeys) rehash(slots int) {
	old := t.slots
	arena := t.arena
	t.slots, t.n = make([]latestSlot, slots), 0
	t.arena = make([]byte, 0, len(arena))
	mask := uint64(slots - 1)
	for i := range old {
		s := &old[i]
		if !s.used || s.hash > t.hi {
			continue
		}
		at := s.hash & mask
		for t.slots[at].used {
			at = (at + 1) & mask
		}
		key := arena[s.at:][:s.size]
		t.slots[at] = *s
		t.slots[at].at = int64(len(t.arena))
		t.arena = append(t.arena, key...)
		t.n++
	}
}
