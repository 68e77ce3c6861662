package colfile

import (
	"encoding/binary"
	"fmt"
	"math"

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

// decoder reads one chunk.
type decoder struct {
	c       *Column
	rows    int
	zstd    *zstd.Decoder
	at      int // rows so far
	valid   []uint64
	nulls   int
	levels  []uint8
	scratch []byte
	lengths []int64

	ints    []int64
	floats  []float64
	dec128  []decimal128.Num
	dec256  []decimal256.Num
	dict    *vector.Dict
	numbers []uint64 // the dictionary of a column of numbers
	code8   []uint8
	code16  []uint16
	code32  []uint32
	offs    []uint32
	data    []byte
}

// decode makes the vector of a chunk's bytes.
func decode(c *Column, rows int, b []byte, z *zstd.Decoder) (*vector.Vector, error) {
	d := decoder{c: c, rows: rows, zstd: z, valid: make([]uint64, (rows+63)/64)}
	switch c.Kind {
	case vector.Int:
		d.ints = make([]int64, rows)
	case vector.Uint:
		d.ints = make([]int64, rows)
	case vector.Float:
		d.floats = make([]float64, rows)
	case vector.Decimal128:
		d.dec128 = make([]decimal128.Num, rows)
		if c.Precision <= intDecimalDigits {
			d.ints = make([]int64, rows)
		}
	case vector.Decimal256:
		d.dec256 = make([]decimal256.Num, rows)
	case vector.String:
		d.offs = make([]uint32, 1, rows+1)
	}
	for first := true; d.at < rows; first = false {
		h, rest, err := readPageHeader(b)
		if err != nil {
			return nil, err
		}
		body, err := d.unpacked(rest[:h.packedSize], int(h.size))
		if err != nil {
			return nil, err
		}
		b = rest[h.packedSize:]
		switch {
		case h.kind == pageDict && first && c.Kind == vector.String:
			err = d.dictionary(body, int(h.values))
		case h.kind == pageDict && first:
			err = d.numberDictionary(body, int(h.values))
		case h.kind == pageData && int(h.values) <= rows-d.at && h.values > 0:
			err = d.page(body, int(h.values), h.encoding)
		default:
			err = fmt.Errorf("%w: page of kind %d with %d values", ErrCorrupt, h.kind, h.values)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.take(), nil
}

func (d *decoder) unpacked(b []byte, size int) ([]byte, error) {
	if d.zstd == nil {
		if len(b) != size {
			return nil, fmt.Errorf("%w: page size", ErrCorrupt)
		}
		return b, nil
	}
	var err error
	d.scratch, err = d.zstd.DecodeAll(b, d.scratch[:0])
	if err != nil || len(d.scratch) != size {
		return nil, fmt.Errorf("%w: compressed page", ErrCorrupt)
	}
	return d.scratch, nil
}

func (d *decoder) dictionary(b []byte, n int) error {
	if n < 1 || n > len(b)/4 {
		return fmt.Errorf("%w: dictionary of %d", ErrCorrupt, n)
	}
	dict := &vector.Dict{Offsets: make([]uint32, 1, n+1), Bytes: make([]byte, 0, len(b)-4*n)}
	for range n {
		if len(b) < 4 {
			return fmt.Errorf("%w: dictionary", ErrCorrupt)
		}
		size := binary.LittleEndian.Uint32(b)
		if uint64(size) > uint64(len(b)-4) {
			return fmt.Errorf("%w: dictionary", ErrCorrupt)
		}
		dict.Bytes = append(dict.Bytes, b[4:4+size]...)
		dict.Offsets = append(dict.Offsets, uint32(len(dict.Bytes)))
		b = b[4+size:]
	}
	d.dict = dict
	switch {
	case n <= 1<<8:
		d.code8 = make([]uint8, d.rows)
	case n <= 1<<16:
		d.code16 = make([]uint16, d.rows)
	default:
		d.code32 = make([]uint32, d.rows)
	}
	return nil
}

func (d *decoder) page(b []byte, n int, encoding int32) error {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return fmt.Errorf("%w: levels", ErrCorrupt)
	}
	size := int(binary.LittleEndian.Uint32(b))
	values, err := d.readLevels(b[4:4+size], n)
	if err != nil {
		return err
	}
	b = b[4+size:]
	d.nulls += n - values
	from, to := d.at, d.at+n
	d.at = to
	typ, fixed := d.c.physical()
	switch {
	case encoding == encRLEDict && d.numbers != nil:
		return d.numberPage(b, from, to, values)
	case encoding == encRLEDict && d.dict != nil:
		if len(b) < 1 || b[0] > 32 {
			return fmt.Errorf("%w: width of codes", ErrCorrupt)
		}
		width, b := uint(b[0]), b[1:]
		switch {
		case d.code8 != nil:
			return codesOf(d.code8[from:to], b, width, values, d.levels, d.dict.Len())
		case d.code16 != nil:
			return codesOf(d.code16[from:to], b, width, values, d.levels, d.dict.Len())
		}
		return codesOf(d.code32[from:to], b, width, values, d.levels, d.dict.Len())
	case encoding == encDeltaLength && typ == typeBytes && d.dict == nil:
		return d.texts(b, values)
	case encoding == encDelta && (typ == typeInt32 || typ == typeInt64):
		if _, err := readDelta(d.ints[from:from+values], b, typ == typeInt32); err != nil {
			return err
		}
		scatter(d.ints[from:to], values, d.levels)
		return nil
	case encoding != encPlain:
	case typ == typeBoolean && len(b) >= (values+7)/8:
		for i := range values {
			d.ints[from+i] = int64(b[i>>3] >> (i & 7) & 1)
		}
		scatter(d.ints[from:to], values, d.levels)
		return nil
	case typ == typeDouble && len(b) >= 8*values:
		for i := range values {
			d.floats[from+i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		scatter(d.floats[from:to], values, d.levels)
		return nil
	case fixed == 16 && len(b) >= 16*values:
		for i := range values {
			d.dec128[from+i] = decimal128.New(int64(binary.BigEndian.Uint64(b[16*i:])), binary.BigEndian.Uint64(b[16*i+8:]))
		}
		scatter(d.dec128[from:to], values, d.levels)
		return nil
	case fixed == 32 && len(b) >= 32*values:
		for i := range values {
			x := b[32*i:]
			d.dec256[from+i] = decimal256.New(binary.BigEndian.Uint64(x), binary.BigEndian.Uint64(x[8:]),
				binary.BigEndian.Uint64(x[16:]), binary.BigEndian.Uint64(x[24:]))
		}
		scatter(d.dec256[from:to], values, d.levels)
		return nil
	}
	return fmt.Errorf("%w: page of encoding %d", ErrCorrupt, encoding)
}

// readLevels reads which of the next n rows have a value, and counts them.
func (d *decoder) readLevels(b []byte, n int) (values int, err error) {
	d.levels = sized(d.levels, n)
	if run, k := binary.Uvarint(b); k > 0 && run == uint64(n)<<1 && len(b) == k+1 && b[k] == 1 {
		// All of them. Levels are looked at only where they say more than the counts.
		for at := d.at; at < d.at+n; {
			if at&63 == 0 && at+64 <= d.at+n {
				d.valid[at>>6] = ^uint64(0)
				at += 64
				continue
			}
			d.valid[at>>6] |= 1 << (at & 63)
			at++
		}
		if d.c.Kind == vector.String {
			for i := range d.levels {
				d.levels[i] = 1
			}
		}
		return n, nil
	}
	if err := readHybrid(d.levels, b, 1); err != nil {
		return 0, err
	}
	for i, l := range d.levels {
		values += int(l)
		at := d.at + i
		d.valid[at>>6] |= uint64(l) << (at & 63)
	}
	return values, nil
}

func codesOf[T uint8 | uint16 | uint32](dst []T, b []byte, width uint, values int, levels []uint8, count int) error {
	if err := readHybrid(dst[:values], b, width); err != nil {
		return err
	}
	if width > 0 && 1<<width > count {
		for _, c := range dst[:values] {
			if int(c) >= count {
				return fmt.Errorf("%w: code %d of %d", ErrCorrupt, c, count)
			}
		}
	}
	scatter(dst, values, levels)
	return nil
}

// scatter moves the first values of dst to the rows that have one.
func scatter[T any](dst []T, values int, levels []uint8) {
	if values == len(dst) {
		return
	}
	var zero T
	for i := len(dst) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			dst[i] = zero
			continue
		}
		values--
		dst[i] = dst[values]
	}
}

func (d *decoder) texts(b []byte, values int) error {
	d.lengths = sized(d.lengths, values)
	rest, err := readDelta(d.lengths, b, true)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, n := range d.lengths {
		if n < 0 {
			return fmt.Errorf("%w: length of a text", ErrCorrupt)
		}
		total += n
	}
	if total > int64(len(rest)) || int64(len(d.data))+total > math.MaxUint32 {
		return fmt.Errorf("%w: lengths of texts", ErrCorrupt)
	}
	at, k := uint32(len(d.data)), 0
	for _, l := range d.levels {
		if l != 0 {
			at += uint32(d.lengths[k])
			k++
		}
		d.offs = append(d.offs, at)
	}
	d.data = append(d.data, rest[:total]...)
	return nil
}

func (d *decoder) take() *vector.Vector {
	valid := d.valid
	if d.nulls == 0 {
		valid = nil
	}
	var v vector.Vector
	switch d.c.Kind {
	case vector.Int:
		v = vector.OfInts(d.ints, valid)
	case vector.Uint:
		out := make([]uint64, d.rows)
		for i, x := range d.ints {
			out[i] = uint64(x)
		}
		v = vector.OfUints(out, valid)
	case vector.Float:
		v = vector.OfFloats(d.floats, valid)
	case vector.Decimal128:
		if d.ints != nil {
			for i, x := range d.ints {
				d.dec128[i] = decimal128.FromI64(x)
			}
		}
		v = vector.OfDec128(d.dec128, int32(d.c.Scale), valid)
	case vector.Decimal256:
		v = vector.OfDec256(d.dec256, int32(d.c.Scale), valid)
	default:
		switch {
		case d.dict == nil:
			v = plainTexts(d.offs, d.data, valid, d.nulls)
		case d.code8 != nil:
			v = vector.OfCodes(d.code8, d.dict, valid)
		case d.code16 != nil:
			v = vector.OfCodes(d.code16, d.dict, valid)
		default:
			v = vector.OfCodes(d.code32, d.dict, valid)
		}
	}
	return &v
}

// plainTexts is text without a dictionary: who wrote it found that none pays.
func plainTexts(offs []uint32, data []byte, valid []uint64, nulls int) vector.Vector {
	n := len(offs) - 1
	if nulls == n && n > 0 {
		return vector.Nulls(vector.String, 0, n)
	}
	if data == nil {
		data = []byte{}
	}
	return vector.Vector{Kind: vector.String, Len: n, Valid: valid, Nulls: nulls, Offsets: offs, Bytes: data}
}
