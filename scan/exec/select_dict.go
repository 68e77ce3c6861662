package exec

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"millrace/internal/vector"
)

// oneText is the only column that e reads, if there is one and it is a text.
func oneText(schema []Type, e Expr) (int, bool) {
	cols := columnsOf(e, nil)
	if len(cols) == 0 {
		return 0, false
	}
	for _, c := range cols {
		if c != cols[0] {
			return 0, false
		}
	}
	return cols[0], schema[cols[0]].Kind == vector.String
}

// overEntries evaluates an expression of one text column for every entry of its dictionary and for
// NULL. What it does pays only if there are more rows than entries: the rows of a dictionary are
// counted first, and evaluated one by one until there were as many.
type overEntries struct {
	col    int
	p      *program
	batch  Batch
	dict   *vector.Dict
	rows   int  // of this dictionary so far
	ready  bool // results are there
	failed bool // some entry fails; whether a row has it is to be seen
}

func newOverEntries(schema []Type, e Expr, col int) (*overEntries, error) {
	c := &compiler{schema: schema, inDict: true}
	ev, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	o := &overEntries{col: col, p: &program{evs: []evaluator{ev}}}
	o.batch.Cols = make([]vector.Vector, len(schema))
	return o, nil
}

// want says whether results per entry are to be used for the rows of v, rows of them; each is called
// with the results (a run of entries, or NULL as one more) when they have to be made.
func (o *overEntries) want(v *vector.Vector, rows int, each func(r *vector.Vector, n int)) bool {
	if v.Dict == nil || v.Const {
		return false
	}
	if o.dict != v.Dict {
		o.dict, o.rows, o.ready, o.failed = v.Dict, 0, false, false
	}
	if o.ready || o.failed {
		return o.ready
	}
	o.rows += rows
	entries := v.Dict.Len()
	if entries > chunkRows && entries > o.rows {
		return false
	}
	run := func(v vector.Vector) bool {
		o.batch.Len, o.batch.Cols[o.col] = v.Len, v
		o.p.in.set(&o.batch)
		r, err := o.p.evs[0].eval(&o.p.in)
		if err != nil {
			return false
		}
		each(r, v.Len)
		return true
	}
	for at := 0; at < entries; at += chunkRows {
		end := min(entries, at+chunkRows)
		if !run(vector.Vector{Kind: vector.String, Len: end - at, Offsets: o.dict.Offsets[at : end+1], Bytes: o.dict.Bytes}) {
			o.failed = true
			return false
		}
	}
	if !run(nullVector(Type{Kind: vector.String}, 1)) {
		o.failed = true
		return false
	}
	o.ready = true
	return true
}

// dictSelector picks by a table of the truth of each dictionary entry.
type dictSelector struct {
	over  *overEntries
	plain selector
	table []uint8 // bit 0: true, bit 1: false; the last is that of NULL
	yes   []uint8 // 1 where the wanted truth is
	only  int     // the only such entry; −1: there are none or several
	want  bool
	made  *vector.Dict
	truth []int8
	valid []uint64
}

func newDictSelector(schema []Type, e Expr, col int, plain selector) (selector, error) {
	over, err := newOverEntries(schema, e, col)
	if err != nil {
		return nil, err
	}
	s := &dictSelector{over: over, plain: plain}
	if c, ok := e.(Compare); ok && (c.Op == EQ || c.Op == NE) {
		if col, k, op, ok := columnAndConst(c); ok && !k.Null {
			s.plain = &textEqual{col: col.Index, text: k.Bytes, not: op == NE, plain: plain}
		}
	}
	if l, ok := e.(Like); ok {
		if c := containsOf(l, plain); c != nil {
			s.plain = c
		}
	}
	return s, nil
}

func (s *dictSelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[s.over.col]
	n := len(rows)
	if rows == nil {
		n = b.Len
	}
	if s.over.dict != v.Dict {
		s.table, s.made = s.table[:0], nil
	}
	if !s.over.want(v, n, s.add) {
		return s.plain.pick(b, rows, want, dst)
	}
	if s.made != v.Dict || s.want != want {
		s.made, s.want = v.Dict, want
		bit := uint8(1 + b2i(!want))
		yes := grown(&s.yes, max(256, len(s.table)))
		clear(yes)
		hits := 0
		for i, t := range s.table {
			yes[i] = b2u8(t&bit != 0)
			if i < len(s.table)-1 && yes[i] != 0 {
				s.only = i
				hits++
			}
		}
		if hits != 1 {
			s.only = -1
		}
	}
	entries := len(s.table) - 1
	null := s.yes[entries] != 0
	k := 0
	switch {
	case entries == 0: // every row is NULL
		if null {
			k = copy(dst, orAll(rows, b.Len))
		}
		return k, nil
	case null && v.Valid != nil && v.Nulls != 0: // NULL has the wanted truth
		for _, i := range orAll(rows, b.Len) {
			hit := 1
			if !v.IsNull(int(i)) {
				hit = int(s.yes[codeOf(v, int(i))])
			}
			dst[k] = i
			k += hit
		}
		return k, nil
	case v.Code8 != nil && rows == nil && s.only >= 0:
		k = pickCode(v.Code8[:b.Len], uint8(s.only), dst)
	case v.Code8 != nil:
		k = pickCodes8(v.Code8, s.yes, b.Len, rows, dst)
	case v.Code16 != nil:
		k = pickCodes(v.Code16, s.yes, b.Len, rows, dst)
	case v.Code32 != nil:
		k = pickCodes(v.Code32, s.yes, b.Len, rows, dst)
	case s.yes[0] != 0:
		k = copy(dst, orAll(rows, b.Len))
	}
	return dropNulls(v, dst[:k]), nil
}

// codeOf is the code of row i.
func codeOf(v *vector.Vector, i int) int {
	switch {
	case v.Code8 != nil:
		return int(v.Code8[i])
	case v.Code16 != nil:
		return int(v.Code16[i])
	case v.Code32 != nil:
		return int(v.Code32[i])
	}
	return 0
}

func (s *dictSelector) add(r *vector.Vector, n int) {
	t := truthsOf(r, n, &s.truth)
	valid := validOf(r, n, &s.valid)
	for i := range n {
		bits := uint8(0)
		if valid == nil || bitSet(valid, i) {
			bits = uint8(2 - b2i(t[i] != 0))
		}
		s.table = append(s.table, bits)
	}
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func pickCodes8(codes, yes []uint8, n int, rows, dst []int32) int {
	table := (*[256]uint8)(yes)
	out := (*[chunkRows]int32)(dst[:chunkRows])
	k := 0
	if rows == nil {
		for i, c := range codes[:n] {
			out[k&(chunkRows-1)] = int32(i)
			k += int(table[c])
		}
		return k
	}
	for _, i := range rows {
		out[k&(chunkRows-1)] = i
		k += int(table[codes[i]])
	}
	return k
}

// pickCode picks the rows of one code. Eight are compared at once, sixty-four make a word of bits, and of those that are set
// come the rows.
func pickCode(codes []uint8, code uint8, dst []int32) int {
	const (
		ones = 0x0101010101010101
		low  = 0x7f * ones
		high = 0x80 * ones
		fold = 0x0102040810204080 // brings the lowest bits of eight bytes together in the highest one
	)
	pattern := uint64(code) * ones
	equal := func(b []uint8) uint64 {
		x := binary.LittleEndian.Uint64(b) ^ pattern
		return (^(x&low + low | x) & high) >> 7 * fold >> 56
	}
	out := (*[chunkRows]int32)(dst[:chunkRows])
	k, from := 0, 0
	for ; len(codes) >= 64; from += 64 {
		c := codes[:64]
		hits := equal(c) | equal(c[8:])<<8 | equal(c[16:])<<16 | equal(c[24:])<<24 |
			equal(c[32:])<<32 | equal(c[40:])<<40 | equal(c[48:])<<48 | equal(c[56:])<<56
		for ; hits != 0; hits &= hits - 1 {
			out[k&(chunkRows-1)] = int32(from + bits.TrailingZeros64(hits))
			k++
		}
		codes = codes[64:]
	}
	for i, c := range codes {
		out[k&(chunkRows-1)] = int32(from + i)
		k += b2i(c == code)
	}
	return k
}

func pickCodes[T uint16 | uint32](codes []T, yes []uint8, n int, rows, dst []int32) int {
	out := (*[chunkRows]int32)(dst[:chunkRows])
	k := 0
	if rows == nil {
		for i, c := range codes[:n] {
			out[k&(chunkRows-1)] = int32(i)
			k += int(yes[c])
		}
		return k
	}
	for _, i := range rows {
		out[k&(chunkRows-1)] = i
		k += int(yes[codes[i]])
	}
	return k
}

// textEqual compares a column of texts without a dictionary with a constant.
type textEqual struct {
	col   int
	text  []byte
	not   bool
	plain selector
}

func (s *textEqual) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[s.col]
	if v.Const || v.Dict != nil {
		return s.plain.pick(b, rows, want, dst)
	}
	equal := s.not != want
	size := uint32(len(s.text))
	k := 0
	if size >= 8 {
		// The last eight bytes first: ids begin alike.
		last := binary.LittleEndian.Uint64(s.text[size-8:])
		for _, i := range orAll(rows, b.Len) {
			from, to := v.Offsets[i], v.Offsets[i+1]
			hit := false
			if to-from == size && binary.LittleEndian.Uint64(v.Bytes[to-8:]) == last {
				hit = string(v.Bytes[from:to]) == string(s.text)
			}
			dst[k] = i
			k += b2i(hit == equal)
		}
		return dropNulls(v, dst[:k]), nil
	}
	for _, i := range orAll(rows, b.Len) {
		from, to := v.Offsets[i], v.Offsets[i+1]
		hit := to-from == size && bytes.Equal(v.Bytes[from:to], s.text)
		dst[k] = i
		k += b2i(hit == equal)
	}
	return dropNulls(v, dst[:k]), nil
}
