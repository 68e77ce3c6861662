package exec

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// textTable numbers texts, and decimals by their bytes. Up to 24 bytes lie in the slots of an
// open-addressing hash table, so that one look decides (ids, prefixed ones too, are seldom longer); longer ones are looked up
// behind it. A slot is half a line of the cache. A dictionary's entries are hashed once, on first sight.
type textTable struct {
	t       Type
	seed    maphash.Seed
	slots   []textSlot
	shift   uint8
	offsets []uint64 // of the texts in bytes, by number; one more
	text    []byte
	null    uint32

	dict    *vector.Dict // the present one
	codes   []uint32     // the numbers of its codes; noID: not met yet
	strange int          // how many were not met yet
	valid   []uint64
	key     []byte

	touched uint32
}

// textSlot holds a text of up to 24 bytes in a, b and c, or the hash of a longer one in a and where it
// lies in b.
type textSlot struct {
	a, b, c uint64
	len     uint32
	id      uint32 // one more than the number; 0: free
}

// inlineSlot is what fits a slot, inlineText what pack takes.
const (
	inlineSlot = 24
	inlineText = 16
)

func newTextTable(t Type) *textTable {
	h := &textTable{t: t, seed: maphash.MakeSeed(), offsets: []uint64{0}, null: noID}
	h.rehash(0)
	return h
}

func (h *textTable) len() int { return len(h.offsets) - 1 }

func (h *textTable) bytes() int64 {
	return 32*int64(cap(h.slots)) + 8*int64(cap(h.offsets)) + int64(cap(h.text)) + 4*int64(cap(h.codes))
}

func (h *textTable) fits() error {
	if h.t.Kind == vector.String && len(h.text) > maxText {
		return errText(int64(len(h.text)))
	}
	return nil
}

func (h *textTable) nullID() uint32 {
	if h.null == noID {
		h.null = uint32(h.len())
		h.offsets = append(h.offsets, uint64(len(h.text)))
	}
	return h.null
}

func (h *textTable) ids(v *vector.Vector, out []uint32) {
	n := len(out)
	if n == 0 {
		return
	}
	if v.Const {
		id := uint32(0)
		if v.IsNull(0) {
			id = h.nullID()
		} else {
			h.key = keyBytes(v, 0, h.key[:0])
			h.room(1)
			id = h.number(h.key)
		}
		fillWith(out, id)
		return
	}
	valid := validOf(v, n, &h.valid)
	if v.Dict != nil {
		h.ofDict(v, valid, out)
		return
	}
	h.room(n)
	if v.Kind == vector.String {
		h.ofTexts(v, valid, out)
		return
	}
	for i := range out {
		if valid != nil && !bitSet(valid, i) {
			out[i] = h.nullID()
			continue
		}
		h.key = keyBytes(v, i, h.key[:0])
		out[i] = h.number(h.key)
	}
}

// textRun is how many texts are hashed before the first is looked up.
const textRun = 256

// ofTexts numbers texts without a dictionary, in runs: all are hashed, then all first slots are
// touched, then each is looked up. The touches do not wait for each other, so that the memory
// works on many at once; looking up one after another would wait for each.
func (h *textTable) ofTexts(v *vector.Vector, valid []uint64, out []uint32) {
	var run [textRun]struct{ a, b, c, hash uint64 }
	slots, shift := h.slots, h.shift&63
	mask := uint64(len(slots) - 1)
	touched := uint32(0)
	for from := 0; from < len(out); from += textRun {
		n := min(textRun, len(out)-from)
		offsets := v.Offsets[from : from+n+1]
		for j := range n {
			s := v.Bytes[offsets[j]:offsets[j+1]]
			r := &run[j]
			switch {
			case len(s) > inlineSlot:
				r.hash = maphash.Bytes(h.seed, s)
			case len(s) > inlineText:
				r.a, r.b, r.c = packSlot(s)
				r.hash = hashSlot(r.a, r.b, r.c, uint32(len(s)))
			default:
				r.a, r.b = pack(s)
				r.c = 0
				r.hash = hashText(r.a, r.b, uint32(len(s)))
			}
		}
		for j := range n {
			touched += slots[run[j].hash>>shift].id
		}
		for j := range n {
			i := from + j
			if valid != nil && !bitSet(valid, i) {
				out[i] = h.nullID()
				continue
			}
			r := &run[j]
			size := offsets[j+1] - offsets[j]
			if size > inlineSlot {
				out[i] = h.long(v.Bytes[offsets[j]:offsets[j+1]], r.hash)
				continue
			}
			at := r.hash >> shift
			for {
				slot := &slots[at&mask]
				if slot.a == r.a && slot.b == r.b && slot.c == r.c && slot.len == size && slot.id != 0 {
					out[i] = slot.id - 1
					break
				}
				if slot.id == 0 {
					id := h.add(v.Bytes[offsets[j]:offsets[j+1]])
					*slot = textSlot{r.a, r.b, r.c, size, id + 1}
					out[i] = id
					break
				}
				at++
			}
		}
	}
	h.touched = touched // keeps the compiler from leaving the touches out
}

// ofDict looks codes up.
func (h *textTable) ofDict(v *vector.Vector, valid []uint64, out []uint32) {
	if h.dict != v.Dict {
		h.dict, h.strange = v.Dict, v.Dict.Len()
		fillWith(grown(&h.codes, max(v.Dict.Len(), 1<<8))[:v.Dict.Len()], noID)
	}
	switch {
	case v.Code8 != nil:
		if valid == nil && h.knows(v.Code8, out) {
			return
		}
		ofCodes(h, v.Code8, valid, out)
	case v.Code16 != nil:
		ofCodes(h, v.Code16, valid, out)
	case v.Code32 != nil:
		ofCodes(h, v.Code32, valid, out)
	default: // one text
		ofCodes(h, make([]uint8, len(out)), valid, out)
	}
}

// knows looks codes up that are all known, which it says.
func (h *textTable) knows(codes []uint8, out []uint32) bool {
	known := (*[1 << 8]uint32)(h.codes)
	codes = codes[:len(out)]
	all := uint32(0)
	for i, c := range codes {
		id := known[c]
		out[i] = id
		all |= id
	}
	return all>>31 == 0 // noID has that bit, no number has
}

func ofCodes[T uint8 | uint16 | uint32](h *textTable, codes []T, valid []uint64, out []uint32) {
	codes = codes[:len(out)]
	known := h.codes[:h.dict.Len()]
	miss := 0
	if len(known) == 0 { // every row is NULL
		fillWith(out, h.nullID())
		return
	}
	for i, c := range codes {
		id := known[c]
		out[i] = id
		miss |= b2i(id == noID)
	}
	if miss == 0 && valid == nil {
		return
	}
	h.room(len(out))
	for i, c := range codes {
		switch {
		case valid != nil && !bitSet(valid, i):
			out[i] = h.nullID()
		case out[i] == noID:
			if known[c] == noID {
				known[c] = h.number(h.dict.Value(int(c)))
				h.strange--
			}
			out[i] = known[c]
		}
	}
}

// room makes sure that n more texts fit.
func (h *textTable) room(n int) {
	if 2*(h.len()+n) > len(h.slots) {
		h.rehash(n)
	}
}

func (h *textTable) rehash(n int) {
	old := h.slots
	size := tableSize(len(old), 2*(h.len()+n))
	h.slots, h.shift = vector.MakeHuge[textSlot](size), uint8(64-bits.TrailingZeros(uint(size)))
	mask := uint64(size - 1)
	for i := range old {
		s := &old[i]
		if s.id == 0 {
			continue
		}
		at := s.hash() >> (h.shift & 63)
		for h.slots[at&mask].id != 0 {
			at++
		}
		h.slots[at&mask] = *s
	}
}

// hash of a slot.
func (s *textSlot) hash() uint64 {
	switch {
	case s.len > inlineSlot:
		return s.a
	case s.len > inlineText:
		return hashSlot(s.a, s.b, s.c, s.len)
	}
	return hashText(s.a, s.b, s.len)
}

func hashText(a, b uint64, n uint32) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93^uint64(n)<<56)
	hi ^= lo
	hi2, lo2 := bits.Mul64(hi^a, 0xa0761d6478bd642f)
	return hi2 ^ lo2
}

// hashSlot is hashText of 17 to 24 bytes.
func hashSlot(a, b, c uint64, n uint32) uint64 {
	h := hashText(a, b, n) ^ c
	hi, lo := bits.Mul64(h, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// packSlot is pack for 17 to 24 bytes.
func packSlot(s []byte) (a, b, c uint64) {
	a = binary.LittleEndian.Uint64(s)
	b = binary.LittleEndian.Uint64(s[8:])
	c = binary.LittleEndian.Uint64(s[len(s)-8:])
	return a, b, c >> (8 * (inlineSlot - uint(len(s))) & 63)
}

// pack makes the slot of a text of up to 16 bytes.
func pack(s []byte) (a, b uint64) {
	switch {
	case len(s) >= 8:
		a = binary.LittleEndian.Uint64(s)
		b = binary.LittleEndian.Uint64(s[len(s)-8:])
		b >>= 8 * (16 - uint(len(s)))
	case len(s) >= 4:
		lo := uint64(binary.LittleEndian.Uint32(s))
		hi := uint64(binary.LittleEndian.Uint32(s[len(s)-4:]))
		a = lo | hi>>(8*(8-uint(len(s))))<<32
	default:
		for i := len(s) - 1; i >= 0; i-- {
			a = a<<8 | uint64(s[i])
		}
	}
	return a, b
}

// number is the number of a text, for which there is room.
func (h *textTable) number(s []byte) uint32 {
	want := textSlot{len: uint32(len(s))}
	switch {
	case len(s) > inlineSlot:
		return h.long(s, maphash.Bytes(h.seed, s))
	case len(s) > inlineText:
		want.a, want.b, want.c = packSlot(s)
	default:
		want.a, want.b = pack(s)
	}
	mask := uint64(len(h.slots) - 1)
	for at := want.hash() >> (h.shift & 63); ; at++ {
		slot := &h.slots[at&mask]
		if slot.id == 0 {
			id := h.add(s)
			want.id = id + 1
			*slot = want
			return id
		}
		if want.id = slot.id; *slot == want {
			return slot.id - 1
		}
	}
}

// long is number of a text that does not fit into a slot.
func (h *textTable) long(s []byte, hash uint64) uint32 {
	mask := uint64(len(h.slots) - 1)
	n := uint32(len(s))
	for at := hash >> (h.shift & 63); ; at++ {
		slot := &h.slots[at&mask]
		if slot.id == 0 {
			where := uint64(len(h.text))
			id := h.add(s)
			*slot = textSlot{a: hash, b: where, len: n, id: id + 1}
			return id
		}
		if slot.a == hash && slot.len == n && string(h.text[slot.b:slot.b+uint64(n)]) == string(s) {
			return slot.id - 1
		}
	}
}

func (h *textTable) add(s []byte) uint32 {
	if len(h.text)+len(s) > cap(h.text) {
		h.text = slices.Grow(h.text, max(len(h.text), len(s), 4096))
	}
	if len(h.offsets) == cap(h.offsets) {
		h.offsets = slices.Grow(h.offsets, max(len(h.offsets), 256))
	}
	h.text = append(h.text, s...)
	h.offsets = append(h.offsets, uint64(len(h.text)))
	return uint32(len(h.offsets) - 2)
}

func (h *textTable) value(id int) []byte { return h.text[h.offsets[id]:h.offsets[id+1]] }

func (h *textTable) values() vector.Vector {
	n := h.len()
	v := vector.Vector{Kind: h.t.Kind, Scale: h.t.Scale, Len: n}
	if h.null != noID {
		var valid []uint64
		v.Valid = onesOf(n, &valid)
		setValid(v.Valid, int(h.null), false)
		v.Nulls = 1
	}
	if h.t.Kind == vector.String {
		v.Offsets, v.Bytes = make([]uint32, n+1), h.text
		for i, o := range h.offsets {
			v.Offsets[i] = uint32(o)
		}
		return v
	}
	for i := range n {
		var x wideint.Int256
		if s := h.value(i); len(s) == 32 {
			for w := range x {
				x[w] = binary.LittleEndian.Uint64(s[8*w:])
			}
		}
		if h.t.Kind == vector.Decimal128 {
			v.Dec128 = append(v.Dec128, x.Num128())
		} else {
			v.Dec256 = append(v.Dec256, x.Num())
		}
	}
	return v
}
