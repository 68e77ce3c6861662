package vector

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// MaxDict is how many strings a dictionary has that Texts builds: codes fit 16 bits. A larger
// one would save little, and cost a miss of the cache per row.
const MaxDict = 1 << 16

// Texts builds vectors of kind String, with a dictionary made on the way while that
// pays: when most texts turn out to differ it goes on without one, and does not try again
// for some vectors. The zero value is ready. Not safe for concurrent use.
//
// Between two Takes less than 4 GiB of text may be put.
type Texts struct {
	plain bool
	puts  int // rows put, as long as there is a dictionary
	next  int // one more than the last of them

	// With a dictionary: codes of rows (0 from next on), and an open-addressing table of entries: the
	// upper half of the text's hash over its code + 1; 0 is free.
	codes []uint16
	table []uint64
	count int // different strings
	seed  [2]uint64

	offs []uint32 // of the dictionary's strings, or (plain) of the rows so far
	data []byte
	// spareOffs and spareData are for the other of these two, kept from one vector that was lent to the next.
	spareOffs []uint32
	spareData []byte

	room            int // rows asked for
	skip, skipNext  int // vectors to come that start plain
	lastOf, lastLen int // what the last plain vector took: rows, bytes
}

// Reserve says that about so many rows will come.
func (t *Texts) Reserve(rows int) {
	if rows <= t.room {
		return
	}
	t.room = rows
	if t.plain {
		t.offs = extended(t.offs, rows+1)
	} else {
		t.lengthen(rows)
	}
}

func extended[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s
	}
	out := make([]T, len(s), n)
	copy(out, s)
	return out
}

// lengthen makes room for codes of rows rows.
func (t *Texts) lengthen(rows int) {
	if rows > len(t.codes) {
		codes := make([]uint16, rows)
		copy(codes, t.codes)
		t.codes = codes
	}
}

// Put makes text that of a row. Rows ascend; the ones left out have some text, for NULLs.
// The text is copied.
func (t *Texts) Put(row int, text []byte) {
	if t.plain {
		t.putPlain(row, text)
		return
	}
	if t.table == nil {
		t.start()
		t.Put(row, text)
		return
	}
	if row >= len(t.codes) {
		t.lengthen(max(row+1, 2*len(t.codes), 64))
	}
	t.puts++
	t.next = row + 1
	h := t.hash(text)
	mask := uint64(len(t.table) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		e := t.table[at]
		if e == 0 {
			t.insert(row, text, h, at)
			return
		}
		if (e^h)>>32 != 0 {
			continue
		}
		code := uint32(e) - 1
		if string(t.data[t.offs[code]:t.offs[code+1]]) == string(text) {
			t.codes[row] = uint16(code)
			return
		}
	}
}

// firstTable is the size of a new table.
const firstTable = 64

// start begins a dictionary, or none where it did not pay lately.
func (t *Texts) start() {
	if t.skip > 0 {
		t.skip--
		t.toPlain()
		return
	}
	if t.seed[0] == 0 {
		// Unknown outside, so that nobody can choose texts that collide.
		t.seed = [2]uint64{rand.Uint64() | 1, rand.Uint64()}
	}
	t.table = make([]uint64, firstTable)
	t.offs = append(t.offs[:0], 0)
}

// insert adds a string to the dictionary at a free place of the table.
func (t *Texts) insert(row int, text []byte, h, at uint64) {
	if t.count == MaxDict || !t.pays() {
		t.next = row // which has no code
		t.skipNext = min(2*t.skipNext+1, maxSkip)
		t.skip = t.skipNext
		t.toPlain()
		t.putPlain(row, text)
		return
	}
	t.count++
	t.table[at] = h&^math.MaxUint32 | uint64(t.count)
	t.data = append(t.data, text...)
	t.offs = append(t.offs, uint32(len(t.data)))
	t.codes[row] = uint16(t.count - 1)
	if 2*t.count > len(t.table) {
		t.rehash()
	}
}

// maxSkip bounds for how many vectors no dictionary is tried.
const maxSkip = 63

// pays is asked before a new string is added. In no particular order, MaxDict strings would have
// been put 8,757 times until 8,192 of them were seen, 18,850 times until 16,384, 45,400
// times until 32,768; where it is less than about that, there are more of them.
func (t *Texts) pays() bool {
	switch t.count {
	case 1 << 13:
		return t.puts > 8450
	case 1 << 14:
		return t.puts > 18000
	case 1 << 15:
		return t.puts > 43500
	}
	return true
}

func (t *Texts) rehash() {
	table := make([]uint64, 4*len(t.table))
	mask := uint64(len(table) - 1)
	for code := range t.count {
		h := t.hash(t.data[t.offs[code]:t.offs[code+1]])
		at := h & mask
		for table[at] != 0 {
			at = (at + 1) & mask
		}
		table[at] = h&^math.MaxUint32 | uint64(code+1)
	}
	t.table = table
}

// toPlain gives up the dictionary and spells the rows so far out.
func (t *Texts) toPlain() {
	codes, dictOffs, dictData := t.codes[:t.next], t.offs, t.data
	t.plain = true
	t.table, t.count = nil, 0
	t.offs, t.data = extended(t.spareOffs[:0], max(t.room, len(codes))+1), extended(t.spareData[:0], max(len(dictData), t.guess()))
	t.offs = append(t.offs, 0)
	t.spareOffs, t.spareData = dictOffs, dictData
	for _, c := range codes {
		if len(dictOffs) > 1 {
			t.data = append(t.data, dictData[dictOffs[c]:dictOffs[c+1]]...)
		}
		t.offs = append(t.offs, uint32(len(t.data)))
	}
}

// guess is about how many bytes of plain text will come.
func (t *Texts) guess() int {
	if t.lastOf == 0 {
		return 0
	}
	return int(int64(t.lastLen) * int64(t.room) / int64(t.lastOf) * 9 / 8)
}

func (t *Texts) putPlain(row int, text []byte) {
	for len(t.offs) <= row {
		t.offs = append(t.offs, uint32(len(t.data)))
	}
	t.data = append(t.data, text...)
	t.offs = append(t.offs, uint32(len(t.data)))
}

// Take gives rows as a vector and starts anew. valid is as the Of functions have it.
func (t *Texts) Take(rows int, valid []uint64) Vector {
	v := t.vector(rows, valid, false)
	t.reset()
	return v
}

// Lend is Take of a vector whose memory stays the builder's: nothing else may be called while the vector is in use, and then
// Reset. So the memory of one vector serves the next.
func (t *Texts) Lend(rows int, valid []uint64) Vector { return t.vector(rows, valid, true) }

func (t *Texts) vector(rows int, valid []uint64, lent bool) Vector {
	if rows == 0 {
		return Vector{Kind: String, Offsets: []uint32{0}, Bytes: []byte{}}
	}
	if !t.plain {
		if t.puts == 0 {
			if valid != nil && CountValid(valid, 0, rows) == 0 {
				return Nulls(String, 0, rows)
			}
			t.toPlain()
		} else if t.count > smallDict && 2*t.count > t.puts {
			t.toPlain()
		}
	}
	if t.plain {
		for len(t.offs) <= rows {
			t.offs = append(t.offs, uint32(len(t.data)))
		}
		t.lastOf, t.lastLen = rows, len(t.data)
		return plainTexts(t.offs[:rows+1:rows+1], t.data[:len(t.data):len(t.data)], valid)
	}
	t.skipNext = 0
	t.lengthen(rows)
	if lent {
		return OfCodes(t.codes[:rows], &Dict{Offsets: t.offs, Bytes: t.data}, valid)
	}
	dict := &Dict{
		Offsets: append(make([]uint32, 0, len(t.offs)), t.offs...),
		Bytes:   append(make([]byte, 0, len(t.data)), t.data...),
	}
	codes := t.codes[:rows]
	if t.count > 1<<8 {
		codes = append(make([]uint16, 0, rows), codes...)
	}
	return OfCodes(codes, dict, valid)
}

// Reset starts anew after Lend. All memory is kept.
func (t *Texts) Reset() {
	if t.plain {
		t.offs, t.spareOffs = t.spareOffs, t.offs
		t.data, t.spareData = t.spareData, t.data
	}
	clear(t.codes[:min(t.next, len(t.codes))])
	t.restart(math.MaxInt)
}

// smallDict strings cost so little that a dictionary stays even if all differ.
const smallDict = 16

// maxKept bounds what is kept from one vector to the next, in bytes of each buffer.
const maxKept = 1 << 20

func (t *Texts) reset() {
	if t.plain {
		t.offs, t.data = nil, nil // given away
	}
	clear(t.codes[:min(t.next, len(t.codes))])
	if len(t.codes) > maxKept/2 {
		t.codes = nil
	}
	if cap(t.data) > maxKept {
		t.data = nil
	}
	t.spareOffs, t.spareData = nil, nil
	t.restart(maxKept)
}

// restart forgets the rows, and the table if it is larger than that.
func (t *Texts) restart(most int) {
	t.offs, t.data = t.offs[:0], t.data[:0]
	t.plain, t.puts, t.next, t.count, t.room = false, 0, 0, 0, 0
	if t.table != nil {
		if len(t.table) > most/8 {
			t.table = nil
		} else {
			clear(t.table)
			t.offs = append(t.offs, 0)
		}
	}
	if t.skip > 0 {
		t.table = nil // start decides
	}
}

// hash mixes by folded products; the seed is the builder's own.
func (t *Texts) hash(b []byte) uint64 {
	var x, y uint64
	n := len(b)
	h := t.seed[0]
	switch {
	case n > 16:
		rest := b
		for len(rest) > 16 {
			h = mix(binary.LittleEndian.Uint64(rest)^h, binary.LittleEndian.Uint64(rest[8:])^t.seed[1])
			rest = rest[16:]
		}
		x, y = binary.LittleEndian.Uint64(b[n-16:]), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x = uint64(b[0])<<16 | uint64(b[n>>1])<<8 | uint64(b[n-1])
	}
	return mix(mix(x^h, y^t.seed[1])^uint64(n), 0x9e3779b97f4a7c15)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
