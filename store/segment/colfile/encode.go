package colfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"millrace/internal/vector"

	"github.com/klauspost/compress/zstd"
)

// Parquet's numbers.
const (
	typeBoolean = 0
	typeInt32   = 1
	typeInt64   = 2
	typeDouble  = 5
	typeBytes   = 6
	typeFixed   = 7

	encPlain       = 0
	encRLE         = 3
	encDelta       = 5
	encDeltaLength = 6
	encRLEDict     = 8

	pageData = 0
	pageDict = 2

	codecNone = 0
	codecZstd = 6
)

// pageBytes is about what a data page holds. Less costs headers; more makes readers of
// single rows read more.
const pageBytes = 128 << 10

// maxPageHeader bounds the header of a page.
const maxPageHeader = 1 << 10

// maxPageRows is for columns of which nearly nothing is stored.
const maxPageRows = 32 << 10

// intDecimalDigits is up to which precision decimals are stored as integers.
const intDecimalDigits = 18

// physical is how a column is stored: Parquet's type, and the size of fixed ones.
func (c *Column) physical() (typ int32, fixed int) {
	switch c.Kind {
	case vector.Int:
		switch c.Logical {
		case Bool:
			return typeBoolean, 0
		case Int32, Date:
			return typeInt32, 0
		}
		return typeInt64, 0
	case vector.Uint:
		return typeInt64, 0
	case vector.Float:
		return typeDouble, 0
	case vector.Decimal128:
		if c.Precision <= intDecimalDigits {
			return typeInt64, 0
		}
		return typeFixed, 16
	case vector.Decimal256:
		return typeFixed, 32
	}
	return typeBytes, 0
}

// trialBytes of a chunk's pages are compressed to see whether it pays: if they shrink by less than one part in trialShare, the chunk
// is not compressed, since reading is several times faster then.
const (
	trialBytes = 256 << 10
	trialShare = 7
)

// encoder makes chunks. Not safe for concurrent use.
type encoder struct {
	zstd *zstd.Encoder      // nil: nothing is compressed
	emit func([]byte) error // takes what is finished
	pace func() error       // called once a page, unless nil

	head    []byte
	body    []byte
	packed  []byte
	ints    []int64
	levels  []uint8
	lengths []int64
	nums    numbers
	// On trial, what there is of the chunk: pages as they are, and compressed.
	trial [2]form
	on    bool

	chunkInfo
}

// form is one way to write a chunk.
type form struct {
	pages  []byte
	dataAt int64 // of the first data page
	list   []Page
}

// chunkInfo says how the chunk was written.
type chunkInfo struct {
	encodings    []int32
	codec        int32
	dict         bool  // there is a dictionary, at its beginning
	dataAt       int64 // within the chunk
	size         int64
	uncompressed int64
	pages        []Page
}

// chunk encodes a column.
func (e *encoder) chunk(c *Column, v *vector.Vector) error {
	coded := v.Kind == vector.String && v.Dict != nil && !v.Const
	e.nums.of(c, v)
	e.chunkInfo = chunkInfo{codec: codecNone, dict: coded || e.nums.on, dataAt: -1}
	if e.on = e.zstd != nil; e.on {
		for i := range e.trial {
			e.trial[i] = form{pages: e.trial[i].pages[:0], dataAt: -1}
		}
	}
	typ, _ := c.physical()
	switch {
	case coded:
		e.encodings = []int32{encPlain, encRLE, encRLEDict}
		if err := e.dictionary(v.Dict); err != nil {
			return err
		}
	case e.nums.on:
		e.encodings = []int32{encPlain, encRLE, encRLEDict}
		if err := e.numberDictionary(typ); err != nil {
			return err
		}
	case typ == typeBytes:
		e.encodings = []int32{encRLE, encDeltaLength}
	case typ == typeInt32 || typ == typeInt64:
		e.encodings = []int32{encRLE, encDelta}
	default:
		e.encodings = []int32{encRLE, encPlain}
	}
	for from := 0; from < v.Len; {
		to := e.pageEnd(c, v, from)
		if err := e.page(c, v, from, to); err != nil {
			return err
		}
		if e.pace != nil {
			if err := e.pace(); err != nil {
				return err
			}
		}
		from = to
	}
	if e.on {
		return e.decide()
	}
	return nil
}

// pageEnd is where the page that begins with row from ends.
func (e *encoder) pageEnd(c *Column, v *vector.Vector, from int) int {
	most := min(v.Len, from+maxPageRows)
	_, fixed := c.physical()
	switch {
	case v.Const || v.Dict != nil || e.nums.on:
	case v.Kind == vector.String:
		start := v.Offsets[from]
		for to := from + 1; to < most; to++ {
			if v.Offsets[to]-start >= pageBytes {
				return to
			}
		}
	case fixed > 0:
		return min(most, from+pageBytes/fixed)
	case v.Int64 != nil, v.Uint64 != nil, v.Float64 != nil, v.Dec128 != nil:
		return min(most, from+pageBytes/8)
	}
	return most
}

func (e *encoder) dictionary(d *vector.Dict) error {
	e.body = e.body[:0]
	for i := range d.Len() {
		x := d.Value(i)
		e.body = binary.LittleEndian.AppendUint32(e.body, uint32(len(x)))
		e.body = append(e.body, x...)
	}
	return e.put(pageDict, d.Len(), encPlain, nil)
}

// put adds a page whose body is body, and text behind it.
func (e *encoder) put(kind int32, values int, encoding int32, text []byte) error {
	size := len(e.body) + len(text)
	if size > math.MaxInt32-maxPageHeader {
		return fmt.Errorf("colfile: a page of %d bytes", size)
	}
	if e.on || e.codec == codecZstd {
		e.body = append(e.body, text...)
		text = nil
		e.packed = e.zstd.EncodeAll(e.body, e.packed[:0])
	}
	e.header(kind, values, encoding, size, size)
	e.uncompressed += int64(len(e.head) + size)
	switch {
	case e.on:
		e.trial[0].add(kind, values, e.head, e.body)
		e.header(kind, values, encoding, size, len(e.packed))
		e.trial[1].add(kind, values, e.head, e.packed)
		if len(e.trial[0].pages) >= trialBytes {
			return e.decide()
		}
		return nil
	case e.codec == codecZstd:
		e.header(kind, values, encoding, size, len(e.packed))
		return e.write(kind, values, e.head, e.packed)
	}
	return e.write(kind, values, e.head, e.body, text)
}

// decide ends the trial.
func (e *encoder) decide() error {
	e.on = false
	f := &e.trial[0]
	if n := len(f.pages); len(e.trial[1].pages) <= n-n/trialShare {
		f, e.codec = &e.trial[1], codecZstd
	}
	e.dataAt, e.size, e.pages = f.dataAt, int64(len(f.pages)), f.list
	return e.emit(f.pages)
}

func (f *form) add(kind int32, values int, head, body []byte) {
	if kind == pageData && f.dataAt < 0 {
		f.dataAt = int64(len(f.pages))
	}
	f.pages = append(append(f.pages, head...), body...)
	f.list = append(f.list, pageOf(kind, values, head, body))
}

func (e *encoder) write(kind int32, values int, parts ...[]byte) error {
	if kind == pageData && e.dataAt < 0 {
		e.dataAt = e.size
	}
	e.pages = append(e.pages, pageOf(kind, values, parts...))
	for _, p := range parts {
		e.size += int64(len(p))
		if err := e.emit(p); err != nil {
			return err
		}
	}
	return nil
}

// pageOf is what the footer says of a page.
func pageOf(kind int32, values int, parts ...[]byte) (p Page) {
	if kind == pageData {
		p.Rows = int32(values)
	}
	for _, b := range parts {
		p.Size += int32(len(b))
		p.CRC = crc32.Update(p.CRC, castagnoli, b)
	}
	return p
}

// header makes that of a page.
func (e *encoder) header(kind int32, values int, encoding int32, size, packed int) {
	h := compact{b: e.head[:0]}
	h.begin()
	h.i32(1, kind)
	h.i32(2, int32(size))
	h.i32(3, int32(packed))
	if kind == pageData {
		h.structure(5)
		h.i32(1, int32(values))
		h.i32(2, encoding)
		h.i32(3, encRLE)
		h.i32(4, encRLE)
		h.end()
	} else {
		h.structure(7)
		h.i32(1, int32(values))
		h.i32(2, encoding)
		h.end()
	}
	h.end()
	e.head = h.b
}

// page appends rows [from, to).
func (e *encoder) page(c *Column, v *vector.Vector, from, to int) error {
	n := to - from
	s := v.Slice(from, to)
	v = &s
	// The definition levels: one bit a row.
	e.body = append(e.body[:0], 0, 0, 0, 0)
	e.levels = sized(e.levels, n)
	values := n
	if v.HasNulls() {
		values = 0
		for i := range e.levels {
			e.levels[i] = 1
			if v.IsNull(i) {
				e.levels[i] = 0
			} else {
				values++
			}
		}
	} else {
		for i := range e.levels {
			e.levels[i] = 1
		}
	}
	e.body = appendHybrid(e.body, e.levels, 1)
	binary.LittleEndian.PutUint32(e.body, uint32(len(e.body)-4))
	var text []byte // behind the body
	all := values == n
	encoding := int32(encPlain)
	typ, fixed := c.physical()
	switch {
	case e.nums.on:
		encoding = encRLEDict
		width := uint(bits.Len(uint(len(e.nums.values) - 1)))
		e.body = append(e.body, byte(width))
		if values > 0 {
			e.body = appendHybrid(e.body, present(e.nums.codes[from:to], e.levels, all), width)
		}
	case e.dict:
		encoding = encRLEDict
		width := uint(bits.Len(uint(max(v.Dict.Len()-1, 0))))
		e.body = append(e.body, byte(width))
		switch {
		case values == 0:
		case v.Code8 != nil:
			e.body = appendHybrid(e.body, present(v.Code8, e.levels, all), width)
		case v.Code16 != nil:
			e.body = appendHybrid(e.body, present(v.Code16, e.levels, all), width)
		default:
			e.body = appendHybrid(e.body, present(v.Code32, e.levels, all), width)
		}
	case typ == typeBytes:
		encoding = encDeltaLength
		e.lengths = e.lengths[:0]
		for i := range n {
			if e.levels[i] != 0 {
				e.lengths = append(e.lengths, int64(len(v.Text(i))))
			}
		}
		e.body = appendDelta(e.body, e.lengths, true)
		if all && !v.Const && v.Dict == nil {
			text = v.Bytes[v.Offsets[0]:v.Offsets[n]]
			break
		}
		for i := range n {
			if e.levels[i] != 0 {
				e.body = append(e.body, v.Text(i)...)
			}
		}
	case typ == typeInt32 || typ == typeInt64:
		encoding = encDelta
		e.ints = e.ints[:0]
		for i := range n {
			if e.levels[i] == 0 {
				continue
			}
			j := i
			if v.Const {
				j = 0
			}
			var x int64
			switch v.Kind {
			case vector.Int:
				x = v.Int(i)
			case vector.Uint:
				x = int64(v.Uint64[j])
			default:
				x = int64(v.Dec128[j].LowBits())
			}
			e.ints = append(e.ints, x)
		}
		e.body = appendDelta(e.body, e.ints, typ == typeInt32)
	case typ == typeBoolean:
		p := packer{b: e.body}
		for i := range n {
			if e.levels[i] != 0 {
				p.put(uint64(v.Int(i)&1), 1)
			}
		}
		p.flush()
		e.body = p.b
	default:
		for i := range n {
			if e.levels[i] == 0 {
				continue
			}
			j := i
			if v.Const {
				j = 0
			}
			switch {
			case typ == typeDouble:
				e.body = binary.LittleEndian.AppendUint64(e.body, math.Float64bits(v.Float64[j]))
			case fixed == 16:
				x := v.Dec128[j]
				e.body = binary.BigEndian.AppendUint64(e.body, uint64(x.HighBits()))
				e.body = binary.BigEndian.AppendUint64(e.body, x.LowBits())
			default:
				x := v.Dec256[j].Array()
				for k := 3; k >= 0; k-- {
					e.body = binary.BigEndian.AppendUint64(e.body, x[k])
				}
			}
		}
	}
	return e.put(pageData, n, encoding, text)
}

// present leaves out the rows that are NULL.
func present[T any](codes []T, levels []uint8, all bool) []T {
	if all {
		return codes
	}
	out := make([]T, 0, len(codes))
	for i, c := range codes {
		if levels[i] != 0 {
			out = append(out, c)
		}
	}
	return out
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
