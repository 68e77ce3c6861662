package exec

import (
	"context"
	"hash/maphash"
	"math/bits"

	"millrace/internal/vector"
)

// joinTable is the build side of a join: its rows, chained by equal keys. Rows with a NULL among their
// keys match nothing and are in no chain. Immutable once built, so that many may probe it.
type joinTable struct {
	cols  []vector.Vector // of the build side's child; behind the last row stands one of NULLs
	keys  []vector.Vector
	rows  int
	nulls []int32 // rows with NULL among their keys
	// unique says that no two rows have the same keys.
	unique bool

	seed  maphash.Seed
	slots []joinSlot
	shift uint8
	next  []int32 // the next row of the same key; -1: none
	size  int64   // bytes, about
}

// joinSlot is a key: its hash and the first row that has it.
type joinSlot struct {
	hash  uint64
	first int32 // -1: free
	last  int32
}

// newJoinTable chains rows of keys. cols have one row more.
func newJoinTable(cols, keys []vector.Vector, rows int) *joinTable {
	t := &joinTable{cols: cols, keys: keys, rows: rows, seed: maphash.MakeSeed(), unique: len(keys) > 0}
	size := 1 << bits.Len(uint(max(2*rows, 16)-1))
	t.slots, t.shift = make([]joinSlot, size), uint8(64-bits.TrailingZeros(uint(size)))
	for i := range t.slots {
		t.slots[i].first = -1
	}
	t.next = make([]int32, rows)
	ptrs := make([]*vector.Vector, len(keys))
	for i := range keys {
		ptrs[i] = &keys[i]
	}
	h := &keyHasher{seed: t.seed}
	mask := uint64(size - 1)
	for from := 0; from < rows; from += chunkRows {
		n := min(chunkRows, rows-from)
		for i := range keys {
			s := keys[i].Slice(from, from+n)
			ptrs[i] = &s
		}
		hashes, null := h.of(ptrs, n)
		for k := range n {
			row := int32(from + k)
			t.next[row] = -1
			if null != nil && bitSet(null, k) {
				t.nulls = append(t.nulls, row)
				continue
			}
			at := hashes[k] >> (t.shift & 63)
			for {
				s := &t.slots[at&mask]
				if s.first < 0 {
					*s = joinSlot{hashes[k], row, row}
					break
				}
				if s.hash == hashes[k] && t.equal(int(s.first), ptrs, k) {
					t.unique = false
					t.next[s.last] = row
					s.last = row
					break
				}
				at++
			}
		}
	}
	t.size = int64(len(t.slots))*16 + int64(len(t.next))*4
	return t
}

// equal compares the keys of a build row with row k of keys, none NULL.
func (t *joinTable) equal(row int, keys []*vector.Vector, k int) bool {
	for i, v := range keys {
		if compareRows(&t.keys[i], row, v, k) != 0 {
			return false
		}
	}
	return true
}

// maybe is equal but for what is NULL.
func (t *joinTable) maybe(row int, keys []*vector.Vector, k int) bool {
	for i, v := range keys {
		if !t.keys[i].IsNull(row) && !v.IsNull(k) && compareRows(&t.keys[i], row, v, k) != 0 {
			return false
		}
	}
	return true
}

// joinProbe looks rows up, for one goroutine.
type joinProbe struct {
	t     *joinTable
	h     keyHasher
	first []int32

	// Of a single dictionary-coded key each code is looked up once: memo by code, -2: not yet.
	dict  *vector.Dict
	memo  []int32
	valid []uint64

	tried int // rows by unknown
}

func newJoinProbe(t *joinTable) *joinProbe {
	return &joinProbe{t: t, h: keyHasher{seed: t.seed}}
}

// firsts is, for each of n rows of keys, the first build row with the same keys; -1: none.
func (p *joinProbe) firsts(keys []*vector.Vector, n int) []int32 {
	out := grown(&p.first, n)
	if len(keys) == 1 && keys[0].Dict != nil && !keys[0].Const {
		p.ofDict(keys[0], out)
		return out
	}
	hashes, null := p.h.of(keys, n)
	for k := range out {
		if null != nil && bitSet(null, k) {
			out[k] = -1
			continue
		}
		out[k] = p.find(hashes[k], keys, k)
	}
	return out
}

func (p *joinProbe) find(hash uint64, keys []*vector.Vector, k int) int32 {
	t := p.t
	mask := uint64(len(t.slots) - 1)
	at := hash >> (t.shift & 63)
	for {
		s := &t.slots[at&mask]
		if s.first < 0 || s.hash == hash && t.equal(int(s.first), keys, k) {
			return s.first
		}
		at++
	}
}

// triesBetweenLooks is how many rows unknown compares before it looks whether the statement has ended.
const triesBetweenLooks = 4096

// unknown says whether some build row may equal row k of keys as far as the NULLs of both hide it, where none is equal. Every row of one
// side may have to be compared with every one of the other.
func (p *joinProbe) unknown(ctx context.Context, keys []*vector.Vector, k int) (bool, error) {
	null := false
	for _, v := range keys {
		null = null || v.IsNull(k)
	}
	rows := len(p.t.nulls)
	if null {
		rows = p.t.rows
	}
	for i := range rows {
		row := i
		if !null {
			row = int(p.t.nulls[i])
		}
		if p.t.maybe(row, keys, k) {
			return true, nil
		}
		if p.tried++; p.tried%triesBetweenLooks == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func (p *joinProbe) ofDict(v *vector.Vector, out []int32) {
	if p.dict != v.Dict {
		p.dict = v.Dict
		fillWith(grown(&p.memo, max(v.Dict.Len(), 1)), -2)
	}
	missed := false
	switch {
	case v.Code8 != nil:
		missed = memoOf(p.memo, v.Code8, out)
	case v.Code16 != nil:
		missed = memoOf(p.memo, v.Code16, out)
	case v.Code32 != nil:
		missed = memoOf(p.memo, v.Code32, out)
	default:
		fillWith(out, p.memo[0])
		missed = len(out) > 0 && p.memo[0] == -2
	}
	if missed {
		p.resolve(v, out)
	}
	if valid := validOf(v, len(out), &p.valid); valid != nil {
		for k := range out {
			out[k] |= int32(valid[k>>6]>>(k&63)&1) - 1 // −1 where it is NULL
		}
	}
}

// memoOf reads what is known of codes, and says whether something is not.
func memoOf[T uint8 | uint16 | uint32](memo []int32, codes []T, out []int32) bool {
	missed := int32(0)
	codes = codes[:len(out)]
	for k, c := range codes {
		m := memo[c]
		out[k] = m
		missed |= int32(b2i(m == -2))
	}
	return missed != 0
}

// resolve looks the codes up that were not met before.
func (p *joinProbe) resolve(v *vector.Vector, out []int32) {
	for k, m := range out {
		if m != -2 {
			continue
		}
		code := codeOf(v, k)
		if p.memo[code] == -2 {
			one := vector.Vector{Kind: vector.String, Len: 1, Dict: v.Dict, Code32: []uint32{uint32(code)}}
			hashes, _ := p.h.of([]*vector.Vector{&one}, 1)
			p.memo[code] = p.find(hashes[0], []*vector.Vector{&one}, 0)
		}
		out[k] = p.memo[code]
	}
}

// keyHasher hashes rows of several keys; equal values of one type have equal hashes.
type keyHasher struct {
	seed   maphash.Seed
	hashes []uint64
	nulls  []uint64
	wide   []int64
	uints  []uint64
	floats []float64
	key    []byte
}

// of hashes n rows. null has a bit for each row with a NULL key; nil: there is none. Valid
// until the next call.
func (h *keyHasher) of(keys []*vector.Vector, n int) (hashes, null []uint64) {
	hashes = grown(&h.hashes, n)
	clear(hashes)
	for _, v := range keys {
		if v.HasNulls() {
			if null == nil {
				null = grown(&h.nulls, words(n))
				clear(null)
			}
			for k := range n {
				if v.IsNull(k) {
					null[k>>6] |= 1 << (k & 63)
				}
			}
		}
		switch v.Kind {
		case vector.Int:
			for k, x := range intsOf(v, n, &h.wide) {
				hashes[k] = mixHash(hashes[k], hashInt(x))
			}
		case vector.Uint:
			for k, x := range plainOf(v.Uint64, v, n, &h.uints) {
				hashes[k] = mixHash(hashes[k], hashInt(int64(x)))
			}
		case vector.Float:
			for k, x := range plainOf(v.Float64, v, n, &h.floats) {
				hashes[k] = mixHash(hashes[k], hashInt(int64(floatKey(x))))
			}
		default:
			for k := range n {
				if null != nil && bitSet(null, k) {
					continue
				}
				h.key = keyBytes(v, k, h.key[:0])
				hashes[k] = mixHash(hashes[k], h.bytes(h.key))
			}
		}
	}
	return hashes, null
}

func (h *keyHasher) bytes(s []byte) uint64 {
	if len(s) <= inlineText {
		a, b := pack(s)
		return hashText(a, b, uint32(len(s)))
	}
	return maphash.Bytes(h.seed, s)
}

func mixHash(a, b uint64) uint64 { return (bits.RotateLeft64(a, 29) ^ b) * 0x9e3779b97f4a7c15 }
