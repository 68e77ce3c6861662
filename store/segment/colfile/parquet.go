package colfile

import "millrace/internal/vector"

// written is what Parquet's metadata says of a chunk beyond ours.
type written struct {
	encodings    []int32
	codec        int32
	dictAt       int64 // -1: none
	dataAt       int64
	uncompressed int64
	bloomAt      int64 // of the filter's header; 0: none
	bloomSize    int32
}

// createdBy goes into every file.
const createdBy = "millrace version 1 (build columns)"

// appendParquet appends Parquet's FileMetaData.
func appendParquet(dst []byte, f *Info, chunks [][]written) []byte {
	c := compact{b: dst}
	c.begin()
	c.i32(1, 2)
	c.list(2, ctStruct, len(f.Columns)+1)
	c.begin()
	c.text(4, "schema")
	c.i32(5, int32(len(f.Columns)))
	c.end()
	for i := range f.Columns {
		c.schemaElement(&f.Columns[i])
	}
	rows := int64(0)
	for i := range f.Blocks {
		rows += int64(f.Blocks[i].Rows)
	}
	c.i64(3, rows)
	c.list(4, ctStruct, len(f.Blocks))
	for i := range f.Blocks {
		c.rowGroup(f, i, chunks[i])
	}
	c.text(6, createdBy)
	c.list(7, ctStruct, len(f.Columns))
	for range f.Columns {
		c.begin()
		c.empty(1) // the type's own order
		c.end()
	}
	c.end()
	return c.b
}

func (c *compact) schemaElement(col *Column) {
	typ, fixed := col.physical()
	c.begin()
	c.i32(1, typ)
	if fixed > 0 {
		c.i32(2, int32(fixed))
	}
	c.i32(3, 1) // optional
	c.text(4, col.Name)
	switch col.Logical {
	case Plain:
		if col.Kind == vector.Uint {
			c.i32(6, 14)
			c.structure(10)
			c.structure(10)
			c.field(1, ctByte)
			c.b = append(c.b, 64)
			c.boolean(2, false)
			c.end()
			c.end()
		}
	case Text:
		c.i32(6, 0)
		c.structure(10)
		c.empty(1)
		c.end()
	case JSON:
		c.i32(6, 19)
		c.structure(10)
		c.empty(12)
		c.end()
	case Date:
		c.i32(6, 6)
		c.structure(10)
		c.empty(6)
		c.end()
	case Millis, Micros, Wall:
		unit := int16(2)
		switch col.Logical {
		case Millis:
			unit = 1
			c.i32(6, 9)
		case Micros:
			c.i32(6, 10)
		}
		c.structure(10)
		c.structure(8)
		c.boolean(1, col.Logical != Wall)
		c.structure(2)
		c.empty(unit)
		c.end()
		c.end()
		c.end()
	case Number:
		c.i32(6, 5)
		c.i32(7, int32(col.Scale))
		c.i32(8, int32(col.Precision))
		c.structure(10)
		c.structure(5)
		c.i32(1, int32(col.Scale))
		c.i32(2, int32(col.Precision))
		c.end()
		c.end()
	}
	c.end()
}

func (c *compact) rowGroup(f *Info, at int, chunks []written) {
	b := &f.Blocks[at]
	var plain, packed int64
	for i := range b.Chunks {
		plain += chunks[i].uncompressed
		packed += b.Chunks[i].Size
	}
	c.begin()
	c.list(1, ctStruct, len(b.Chunks))
	for i := range b.Chunks {
		ch, w := &b.Chunks[i], &chunks[i]
		typ, _ := f.Columns[i].physical()
		c.begin()
		c.i64(2, 0)
		c.structure(3)
		c.i32(1, typ)
		c.list(2, ctI32, len(w.encodings))
		for _, e := range w.encodings {
			c.b = append(c.b, byte(e<<1)) // zigzag, all small
		}
		c.list(3, ctBinary, 1)
		c.element([]byte(f.Columns[i].Name))
		c.i32(4, w.codec)
		c.i64(5, int64(b.Rows))
		c.i64(6, w.uncompressed)
		c.i64(7, ch.Size)
		c.i64(9, w.dataAt)
		if w.dictAt >= 0 {
			c.i64(11, w.dictAt)
		}
		c.statistics(&f.Columns[i], &ch.Stats)
		if w.bloomAt > 0 {
			c.i64(14, w.bloomAt)
			c.i32(15, w.bloomSize)
		}
		c.end()
		c.end()
	}
	c.i64(2, plain)
	c.i64(3, int64(b.Rows))
	if len(b.Chunks) > 0 {
		c.i64(5, b.Chunks[0].At)
	}
	c.i64(6, packed)
	c.field(7, ctI16)
	c.b = append(c.b, zigzag16(at)...)
	c.end()
}

func zigzag16(x int) []byte {
	u := uint64(x) << 1
	if u < 0x80 {
		return []byte{byte(u)}
	}
	return []byte{byte(u) | 0x80, byte(u >> 7)}
}

// statistics of a chunk, in the physical type's plain encoding.
func (c *compact) statistics(col *Column, st *Stats) {
	c.structure(12)
	c.i64(3, int64(st.Nulls))
	lo, okLo := plainValue(col, st.Min, st.HasMin)
	hi, okHi := plainValue(col, st.Max, st.HasMax)
	if okLo && okHi {
		c.binary(5, hi)
		c.binary(6, lo)
		c.boolean(7, true)
		c.boolean(8, st.Exact)
	}
	c.end()
}

// plainValue turns a bound of ours into Parquet's.
func plainValue(col *Column, x []byte, has bool) ([]byte, bool) {
	if !has {
		return nil, false
	}
	typ, fixed := col.physical()
	switch {
	case typ == typeBytes:
		return x, true
	case typ == typeBoolean:
		return x[:1], true
	case typ == typeInt32:
		return x[:4], true
	case typ == typeInt64 || typ == typeDouble:
		return x[:8], true
	}
	out := make([]byte, fixed)
	for i := range out {
		out[i] = x[fixed-1-i]
	}
	return out, true
}
