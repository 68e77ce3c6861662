package store

import "hash/maphash"

// keyTable maps keys to the newest offset at which each was seen, in bounded memory: it keeps
// hashes of 128 bits, not keys. Two keys with the same hash would cost the older one its
// record; among 2^40 keys the odds of that are below 1 in 10^14.
type keyTable struct {
	seeds [2]maphash.Seed // chosen per table: nobody can make keys collide on purpose
	slots []keySlot       // a power of two; open addressing
	n     int
	limit int // slots, at most, while room is asked for
}

// keySlot is empty while its offset is -1.
type keySlot struct {
	hash   [2]uint64
	offset int64
}

const (
	keySlotBytes = 24
	minKeySlots  = 1 << 10
)

// newKeyTable returns a table that asks for no more than about limit bytes.
func newKeyTable(limit int64) *keyTable {
	t := &keyTable{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, limit: minKeySlots}
	for int64(2*t.limit)*keySlotBytes <= limit {
		t.limit *= 2
	}
	t.reset()
	return t
}

// reset empties the table and gives its memory up.
func (t *keyTable) reset() {
	t.slots, t.n = emptySlots(minKeySlots), 0
}

func emptySlots(n int) []keySlot {
	s := make([]keySlot, n)
	for i := range s {
		s[i].offset = -1
	}
	return s
}

// room says whether n more keys fit within the limit.
func (t *keyTable) room(n int) bool { return t.n+n <= t.limit/8*7 }

func (t *keyTable) find(key []byte) (*keySlot, [2]uint64) {
	h := [2]uint64{maphash.Bytes(t.seeds[0], key), maphash.Bytes(t.seeds[1], key)}
	return t.slot(h), h
}

// slot is where h is, or belongs.
func (t *keyTable) slot(h [2]uint64) *keySlot {
	mask := uint64(len(t.slots) - 1)
	for i := h[0] & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.offset < 0 || s.hash == h {
			return s
		}
	}
}

// put notes the key at offset, which is not below those noted before. It grows beyond the limit
// if it must; room is asked first.
func (t *keyTable) put(key []byte, offset int64) {
	s, h := t.find(key)
	if s.offset < 0 {
		if t.n++; t.n > len(t.slots)/8*7 {
			t.grow()
			s = t.slot(h)
		}
		s.hash = h
	}
	s.offset = offset
}

func (t *keyTable) grow() {
	old := t.slots
	t.slots = emptySlots(2 * len(old))
	for i := range old {
		if old[i].offset >= 0 {
			*t.slot(old[i].hash) = old[i]
		}
	}
}

// newest is the newest offset noted for key; -1 if it was not seen.
func (t *keyTable) newest(key []byte) int64 {
	s, _ := t.find(key)
	return s.offset
}
