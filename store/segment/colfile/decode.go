package colfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/klauspost/compress/zstd"
)

// maxUnpacked bounds a decompressed page: the dictionary or the text of a whole block.
const maxUnpacked = 1 << 30

// pageHeader is what is needed of Parquet's.
type pageHeader struct {
	kind, encoding   int32
	size, packedSize int32
	values           int32
}

func readPageHeader(b []byte) (h pageHeader, rest []byte, err error) {
	r := compactReader{b: b}
	h.kind, h.encoding = -1, -1
	i32 := func(dst *int32, t byte) bool {
		if t != ctI32 {
			return false
		}
		x := r.varint()
		if x < math.MinInt32 || x > math.MaxInt32 {
			r.bad = true
		}
		*dst = int32(x)
		return true
	}
	r.fields(0, func(id int16, t byte) bool {
		switch id {
		case 1:
			return i32(&h.kind, t)
		case 2:
			return i32(&h.size, t)
		case 3:
			return i32(&h.packedSize, t)
		case 5, 7:
			if t != ctStruct {
				return false
			}
			r.fields(1, func(id int16, t byte) bool {
				switch id {
				case 1:
					return i32(&h.values, t)
				case 2:
					return i32(&h.encoding, t)
				}
				return false
			})
			return true
		}
		return false
	})
	if r.bad || h.size < 0 || h.packedSize < 0 || h.values < 0 || int64(h.packedSize) > int64(len(r.b)) || h.size > maxUnpacked {
		return h, nil, fmt.Errorf("%w: page header", ErrCorrupt)
	}
	return h, r.b, nil
}

// page of a chunk.
type page struct {
	pageHeader
	body     []byte // as stored
	from, to int    // rows
}

// decoder reads one chunk after another. What it holds serves the next one; the vectors lie in memory of the caller's.
type decoder struct {
	raw     []byte // room for a chunk and slack
	unzip   []byte // a page, and slack
	pages   []page
	codes   []uint16
	numbers []uint64 // the dictionary of a column of numbers

	c     *Column
	st    *Stats
	rows  int
	zstd  *zstd.Decoder
	dict  *page
	valid []uint64 // nil: no row is NULL
	nulls int      // so far
}

var decoders = sync.Pool{New: func() any { return &decoder{} }}

// pooledBytes is how large a buffer may be that a decoder keeps in the pool: what lies there counts to no budget.
const pooledBytes = 1 << 20

// release puts d into the pool.
func (d *decoder) release() {
	clear(d.pages) // their bodies lie in raw
	d.raw, d.unzip, d.codes, d.numbers, d.pages = pooled(d.raw), pooled(d.unzip), pooled(d.codes), pooled(d.numbers), pooled(d.pages)
	decoders.Put(d)
}

// pooled is s, unless it is large.
func pooled[T any](s []T) []T {
	var one T
	if uintptr(cap(s))*unsafe.Sizeof(one) > pooledBytes {
		return nil
	}
	return s
}

// decode makes the vector of rows of a chunk, all of them or those of the pages that b has, in memory from a. st is of all of the chunk.
func (d *decoder) decode(c *Column, st *Stats, all bool, rows int, b []byte, z *zstd.Decoder, a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	d.c, d.st, d.rows, d.zstd, d.dict, d.valid, d.nulls = c, st, rows, z, nil, nil, 0
	defer func() { d.c, d.st, d.dict, d.valid = nil, nil, nil, nil }()
	if err := d.list(b); err != nil {
		return v, nil, err
	}
	if all && st.Nulls == rows {
		if err := d.noValues(); err != nil {
			return v, nil, err
		}
		return vector.Nulls(c.Kind, int32(c.Scale), rows), nil, nil
	}
	switch c.Kind {
	case vector.Int:
		v, mem, err = d.ints(a)
	case vector.Uint, vector.Float:
		v, mem, err = d.words(a)
	case vector.Decimal128:
		v, mem, err = d.decimals128(a)
	case vector.Decimal256:
		v, mem, err = d.decimals256(a)
	default:
		v, mem, err = d.texts(a)
	}
	if err == nil && (d.nulls > st.Nulls || all && d.nulls < st.Nulls) {
		err = fmt.Errorf("%w: %d NULLs of %d", ErrCorrupt, d.nulls, st.Nulls)
	}
	if err != nil {
		if mem != nil {
			a.Free(mem)
		}
		return v, nil, err
	}
	if v.Valid != nil {
		v.Nulls = d.nulls
	}
	return v, mem, nil
}

// list finds the pages.
func (d *decoder) list(b []byte) error {
	d.pages = d.pages[:0]
	for at := 0; at < d.rows; {
		h, rest, err := readPageHeader(b)
		if err != nil {
			return err
		}
		if d.zstd == nil && h.size != h.packedSize {
			return fmt.Errorf("%w: page size", ErrCorrupt)
		}
		p := page{pageHeader: h, body: rest[:h.packedSize], from: at}
		b = rest[h.packedSize:]
		switch {
		case h.kind == pageDict && len(d.pages) == 0 && d.dict == nil:
			d.dict = &p
			continue
		case h.kind != pageData || h.values == 0 || int(h.values) > d.rows-at:
			return fmt.Errorf("%w: page of kind %d with %d values", ErrCorrupt, h.kind, h.values)
		}
		at += int(h.values)
		p.to = at
		d.pages = append(d.pages, p)
	}
	return nil
}

// unpacked is a page's body as it was before it was compressed. It holds until the next one's.
func (d *decoder) unpacked(p *page) ([]byte, error) {
	if d.zstd == nil {
		return p.body, nil
	}
	d.unzip = sized(d.unzip, int(p.size)+slack)
	b, err := d.zstd.DecodeAll(p.body, d.unzip[:0])
	if err != nil || len(b) != int(p.size) {
		return nil, fmt.Errorf("%w: compressed page", ErrCorrupt)
	}
	return b, nil
}

// values begins a page: what stands behind its levels, and how many rows have a value.
func (d *decoder) values(p *page) (b []byte, n int, err error) {
	if b, err = d.unpacked(p); err != nil {
		return nil, 0, err
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, 0, fmt.Errorf("%w: levels", ErrCorrupt)
	}
	size := int(binary.LittleEndian.Uint32(b))
	if n, err = d.levels(b[4:4+size], p); err != nil {
		return nil, 0, err
	}
	d.nulls += p.to - p.from - n
	return b[4+size:], n, nil
}

// levels reads which of a page's rows have a value, and counts them.
func (d *decoder) levels(b []byte, p *page) (n int, err error) {
	rows := p.to - p.from
	run, k := binary.Uvarint(b)
	switch {
	case k > 0 && run == uint64(rows)<<1 && len(b) == k+1 && b[k] == 1: // all of them
		if d.valid != nil {
			vector.SetBits(d.valid, p.from, rows)
		}
		return rows, nil
	case d.valid == nil && d.st.Nulls == 0:
		return 0, fmt.Errorf("%w: a NULL", ErrCorrupt)
	case k > 0 && run&1 == 1 && run>>1 == uint64(rows+7)/8 && uint64(len(b)-k) >= run>>1:
		n = copyLevels(d.valid, p.from, b[k:], rows)
		return n, nil
	}
	levels := make([]uint8, rows)
	if err := readHybrid(levels, b, 1); err != nil {
		return 0, err
	}
	for i, l := range levels {
		n += int(l & 1)
		if at := p.from + i; d.valid != nil {
			d.valid[at>>6] |= uint64(l&1) << (at & 63)
		}
	}
	return n, nil
}

// copyLevels copies n bits of b to valid from bit at on, where there are zeros, and counts them. valid may be nil.
func copyLevels(valid []uint64, at int, b []byte, n int) (set int) {
	for i := 0; i < n; i += 64 {
		var x uint64
		if len(b) >= 8 {
			x = binary.LittleEndian.Uint64(b)
			b = b[8:]
		} else {
			for k, c := range b {
				x |= uint64(c) << (8 * k)
			}
			b = nil
		}
		if n-i < 64 {
			x &= 1<<(n-i) - 1
		}
		set += bits.OnesCount64(x)
		if valid == nil {
			continue
		}
		valid[at>>6] |= x << (at & 63)
		if at&63 != 0 && x>>(64-at&63) != 0 {
			valid[at>>6+1] |= x >> (64 - at&63)
		}
		at += 64
	}
	return set
}

// noValues reads the levels of a column of NULLs.
func (d *decoder) noValues() error {
	for i := range d.pages {
		if _, n, err := d.values(&d.pages[i]); err != nil || n > 0 {
			return fmt.Errorf("%w: a value", ErrCorrupt)
		}
	}
	return nil
}

// room takes memory from a for a column's validity and more, and puts the validity in place.
func (d *decoder) room(a vector.Allocator, more int) (mem, rest []byte) {
	if d.st.Nulls == 0 {
		if more == 0 {
			return nil, nil
		}
		mem = a.Alloc(more)
		return mem, mem
	}
	words := (d.rows + 63) / 64
	mem = a.Alloc(vector.Room[uint64](words) + more)
	rest = mem
	d.valid = vector.Carve[uint64](&rest, words)
	clear(d.valid)
	return mem, rest
}

// of is the vector but for its values.
func (d *decoder) of() vector.Vector {
	return vector.Vector{Kind: d.c.Kind, Scale: int32(d.c.Scale), Len: d.rows, Valid: d.valid}
}

func (d *decoder) ints(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	width, base := 8, int64(0)
	if d.st.HasMin && d.st.HasMax {
		lo, hi := int64(binary.LittleEndian.Uint64(d.st.Min)), int64(binary.LittleEndian.Uint64(d.st.Max))
		if lo == hi && d.st.Nulls == 0 {
			return vector.OfInts([]int64{lo}, nil).Repeat(d.rows), nil, nil
		}
		base, width = vector.Narrow(lo, hi)
	}
	mem, rest := d.room(a, vector.Room[uint8](d.rows*width))
	ascends := false
	switch v = d.of(); width {
	case 1:
		v.Int8 = vector.Carve[int8](&rest, d.rows)
		ascends, err = intPages[uint8](d, v.Int8, base)
	case 2:
		v.Int16 = vector.Carve[int16](&rest, d.rows)
		ascends, err = intPages[uint16](d, v.Int16, base)
	case 4:
		v.Int32 = vector.Carve[int32](&rest, d.rows)
		ascends, err = intPages[uint32](d, v.Int32, base)
	default:
		v.Int64 = vector.Carve[int64](&rest, d.rows)
		_, err = intPages[uint64](d, v.Int64, base)
	}
	v.Base = base
	if err == nil && v.Valid == nil {
		v.Ascends = ascends || v.Ascending()
	}
	return v, mem, err
}

// intPages reads integers less base into slots, which are as wide as T is. ascends says that they ascend; without it they
// may all the same.
func intPages[T slot, S any](d *decoder, slots []S, base int64) (ascends bool, err error) {
	dst := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(slots))), len(slots))
	typ, _ := d.c.physical()
	table, err := tableOf[T](d, uint64(base))
	if err != nil {
		return false, err
	}
	// Of 64 bits within a narrower range no difference overflows.
	run := deltas[T]{base: base, last: math.MinInt64, ascends: table == nil && typ == typeInt64}
	err = eachPage(d, dst, func(p *page, part []T, b []byte) (err error) {
		switch {
		case p.encoding == encRLEDict && table != nil:
			return lookUp(d, part, b, table)
		case p.encoding == encDelta && (typ == typeInt32 || typ == typeInt64):
			if _, err = run.read(part, b); err == nil && typ == typeInt32 && unsafe.Sizeof(part[0]) == 8 {
				for i, x := range part {
					part[i] = T(int64(int32(x))) // differences of 32 bits wrap around
				}
			}
			return err
		case p.encoding == encPlain && typ == typeBoolean && len(b) >= (len(part)+7)/8:
			unpack(part, b, 1)
			for i := range part {
				part[i] -= T(base)
			}
			return nil
		}
		return p.encodingError()
	})
	return run.ascends, err
}

// eachPage has read fill the values of each page, and moves them to the rows that have one.
func eachPage[T slot](d *decoder, dst []T, read func(p *page, part []T, b []byte) error) error {
	for i := range d.pages {
		p := &d.pages[i]
		b, n, err := d.values(p)
		if err != nil {
			return err
		}
		part := dst[p.from:p.to]
		if err := read(p, part[:n], b); err != nil {
			return err
		}
		if n < len(part) {
			scatter(part, n, d.valid, p.from)
		}
	}
	return nil
}

func (p *page) encodingError() error {
	return fmt.Errorf("%w: page of encoding %d", ErrCorrupt, p.encoding)
}

// scatter moves the first n values of dst to the rows that have one; dst[0] is row from. The others become zeros.
func scatter[T slot](dst []T, n int, valid []uint64, from int) {
	k := n
	for i := len(dst) - 1; i >= 0; i-- {
		at := from + i
		bit := int(valid[at>>6] >> (at & 63) & 1)
		k -= bit
		dst[i] = dst[k] * T(bit)
	}
}

// tableOf is the dictionary of a column of numbers, less base; nil without one.
func tableOf[T slot](d *decoder, base uint64) ([]T, error) {
	if d.dict == nil {
		return nil, nil
	}
	if err := d.numberDictionary(); err != nil {
		return nil, err
	}
	table := make([]T, len(d.numbers))
	for i, x := range d.numbers {
		table[i] = T(x - base)
	}
	return table, nil
}

// lookUp reads codes of a table.
func lookUp[T slot](d *decoder, dst []T, b []byte, table []T) error {
	d.codes = sized(d.codes, len(dst))
	if err := readCodes(d.codes, b, len(table)); err != nil {
		return err
	}
	for i, c := range d.codes {
		dst[i] = table[c]
	}
	return nil
}

// readCodes reads codes of a dictionary of count, before which their width stands.
func readCodes[T slot](dst []T, b []byte, count int) error {
	if len(dst) == 0 {
		return nil
	}
	var one T
	if len(b) < 1 || b[0] > 32 || int(b[0]) > 8*int(unsafe.Sizeof(one)) {
		return fmt.Errorf("%w: width of codes", ErrCorrupt)
	}
	width := uint(b[0])
	if err := readHybrid(dst, b[1:], width); err != nil {
		return err
	}
	if most := slices.Max(dst); uint64(most) >= uint64(count) {
		return fmt.Errorf("%w: code %d of %d", ErrCorrupt, most, count)
	}
	return nil
}

// words reads unsigned integers and doubles.
func (d *decoder) words(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	mem, rest := d.room(a, vector.Room[uint64](d.rows))
	v = d.of()
	all := vector.Carve[uint64](&rest, d.rows)
	if d.c.Kind == vector.Uint {
		v.Uint64 = all
		_, err = intPages[uint64](d, all, 0)
	} else {
		v.Float64 = unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(all))), d.rows)
		err = d.doubles(all)
	}
	if err == nil && v.Valid == nil && same(all) {
		one := v.Slice(0, 1)
		one, _ = vector.Place(&one, vector.Heap{})
		a.Free(mem)
		return one.Repeat(d.rows), nil, nil
	}
	return v, mem, err
}

func (d *decoder) doubles(dst []uint64) error {
	table, err := tableOf[uint64](d, 0)
	if err != nil {
		return err
	}
	return eachPage(d, dst, func(p *page, part []uint64, b []byte) error {
		switch {
		case p.encoding == encRLEDict && table != nil:
			return lookUp(d, part, b, table)
		case p.encoding == encPlain && len(b) >= 8*len(part):
			for i := range part {
				part[i] = binary.LittleEndian.Uint64(b[8*i:])
			}
			return nil
		}
		return p.encodingError()
	})
}

// same says whether all are equal.
func same[T comparable](all []T) bool {
	for _, x := range all {
		if x != all[0] {
			return false
		}
	}
	return true
}

// decimals128 are rare enough to be made in the heap first.
func (d *decoder) decimals128(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	valid := d.validity()
	out := make([]decimal128.Num, d.rows)
	if d.c.Precision <= intDecimalDigits {
		ints := make([]int64, d.rows)
		if _, err := intPages[uint64](d, ints, 0); err != nil {
			return v, nil, err
		}
		for i, x := range ints {
			out[i] = decimal128.FromI64(x)
		}
	} else if err := d.fixed(16, func(i int, x []byte) {
		out[i] = decimal128.New(int64(binary.BigEndian.Uint64(x)), binary.BigEndian.Uint64(x[8:]))
	}); err != nil {
		return v, nil, err
	}
	v = vector.OfDec128(out, int32(d.c.Scale), valid)
	v, mem = vector.Place(&v, a)
	return v, mem, nil
}

func (d *decoder) decimals256(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	valid := d.validity()
	out := make([]decimal256.Num, d.rows)
	if err := d.fixed(32, func(i int, x []byte) {
		out[i] = decimal256.New(binary.BigEndian.Uint64(x), binary.BigEndian.Uint64(x[8:]),
			binary.BigEndian.Uint64(x[16:]), binary.BigEndian.Uint64(x[24:]))
	}); err != nil {
		return v, nil, err
	}
	v = vector.OfDec256(out, int32(d.c.Scale), valid)
	v, mem = vector.Place(&v, a)
	return v, mem, nil
}

// validity puts it into the heap.
func (d *decoder) validity() []uint64 {
	if d.st.Nulls > 0 {
		d.valid = make([]uint64, (d.rows+63)/64)
	}
	return d.valid
}

// fixed reads values of some bytes.
func (d *decoder) fixed(size int, put func(row int, x []byte)) error {
	for i := range d.pages {
		p := &d.pages[i]
		b, n, err := d.values(p)
		if err != nil {
			return err
		}
		if p.encoding != encPlain || len(b) < n*size {
			return p.encodingError()
		}
		for row := p.from; row < p.to; row++ {
			if d.valid == nil || d.valid[row>>6]>>(row&63)&1 != 0 {
				put(row, b[:size])
				b = b[size:]
			}
		}
	}
	return nil
}
