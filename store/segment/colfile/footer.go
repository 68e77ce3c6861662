package colfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"millrace/internal/vector"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The trailer stands before Parquet's metadata, and so at a known distance from the end:
//
//	0  8  "MLRCOLMN"
//	8  4  version, little endian like all numbers
//	12 4  size of our footer, which lies before the trailer
//	16 4  CRC32C of our footer
//	20 4  CRC32C of bytes 0 to 19
const (
	trailerBytes = 24
	trailerMagic = "MLRCOLMN"
	version      = 5
	oldest       = 1
	parquetMagic = "PAR1"
	endBytes     = 8 // size of Parquet's metadata, and its magic
)

// Limits of what a footer may say.
const (
	maxFooterBytes  = 64 << 20
	maxParquetBytes = 64 << 20
	maxBlockRows    = 1 << 20
	maxStatBytes    = 1 << 10
)

func appendTrailer(dst []byte, footer []byte) []byte {
	at := len(dst)
	dst = append(dst, trailerMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(footer)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(footer, castagnoli))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// readTrailer returns the version, size and sum of the footer before it.
func readTrailer(b []byte) (v uint32, size int64, sum uint32, err error) {
	if string(b[:8]) != trailerMagic || crc32.Checksum(b[:20], castagnoli) != binary.LittleEndian.Uint32(b[20:]) {
		return 0, 0, 0, fmt.Errorf("%w: trailer", ErrCorrupt)
	}
	if v = binary.LittleEndian.Uint32(b[8:]); v < oldest || v > version {
		return 0, 0, 0, fmt.Errorf("%w: %d", ErrVersion, v)
	}
	size = int64(binary.LittleEndian.Uint32(b[12:]))
	if size > maxFooterBytes {
		return 0, 0, 0, fmt.Errorf("%w: footer of %d bytes", ErrCorrupt, size)
	}
	return v, size, binary.LittleEndian.Uint32(b[16:]), nil
}

// Flags of a block and of a chunk's bounds.
const (
	flagDense = 1 << iota
	flagComplete
	flagTimed
)

const (
	flagMin = 1 << iota
	flagMax
	flagExact
	flagSum
	flagBloom
	flagZstd   // since version 2
	flagPages  // since version 4
	flagTally  // since version 4
	flagSummed // since version 5
	flagSums   // since version 5
)

func appendBytes(dst, x []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(x)))
	return append(dst, x...)
}

// appendFooter appends what a file says of itself.
func appendFooter(dst []byte, f *Info) []byte {
	dst = append(dst, f.Topic[:]...)
	dst = appendBytes(dst, []byte(f.TopicName))
	dst = binary.AppendUvarint(dst, f.ID)
	packed := byte(0)
	if f.Zstd {
		packed = 1
	}
	dst = append(dst, packed)
	dst = binary.AppendVarint(dst, f.Created)
	dst = binary.AppendUvarint(dst, uint64(len(f.Columns)))
	for i := range f.Columns {
		c := &f.Columns[i]
		dst = appendBytes(dst, []byte(c.Name))
		dst = appendBytes(dst, []byte(c.Key))
		dst = append(dst, byte(c.Kind), byte(c.Logical), c.Precision, c.Scale)
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Blocks)))
	for i := range f.Blocks {
		b := &f.Blocks[i]
		flags := byte(0)
		for j, on := range []bool{b.Dense, b.Complete, b.Timed} {
			if on {
				flags |= 1 << j
			}
		}
		dst = append(dst, flags)
		dst = binary.AppendUvarint(dst, uint64(b.Partition))
		dst = binary.AppendUvarint(dst, uint64(b.From))
		dst = binary.AppendUvarint(dst, uint64(b.End-b.From))
		dst = binary.AppendUvarint(dst, uint64(b.Rows))
		dst = binary.AppendUvarint(dst, b.Copy)
		dst = binary.AppendUvarint(dst, b.Committed)
		dst = binary.AppendUvarint(dst, uint64(b.RawBytes))
		dst = binary.AppendVarint(dst, b.MinTime)
		dst = binary.AppendVarint(dst, b.MaxTime)
		for j := range b.Chunks {
			dst = appendChunk(dst, &b.Chunks[j])
		}
	}
	return dst
}

func appendChunk(dst []byte, c *Chunk) []byte {
	flags := uint64(0)
	for j, on := range []bool{c.HasMin, c.HasMax, c.Exact, c.HasSum, c.BloomSize > 0, c.Zstd, len(c.Pages) > 0, c.TallySize > 0, c.Summed, c.SumsSize > 0} {
		if on {
			flags |= 1 << j
		}
	}
	dst = binary.AppendUvarint(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(c.At))
	dst = binary.AppendUvarint(dst, uint64(c.Size))
	dst = binary.LittleEndian.AppendUint32(dst, c.CRC)
	dst = binary.AppendUvarint(dst, uint64(c.Nulls))
	if c.HasMin {
		dst = appendBytes(dst, c.Min)
	}
	if c.HasMax {
		dst = appendBytes(dst, c.Max)
	}
	if c.HasSum {
		dst = appendBytes(dst, c.Sum)
	}
	if c.BloomSize > 0 {
		dst = binary.AppendUvarint(dst, uint64(c.BloomAt))
		dst = binary.AppendUvarint(dst, uint64(c.BloomSize))
		dst = binary.LittleEndian.AppendUint32(dst, c.BloomCRC)
		for _, sum := range c.BloomPieces {
			dst = binary.LittleEndian.AppendUint32(dst, sum)
		}
	}
	if len(c.Pages) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(c.Pages)))
		for _, p := range c.Pages {
			dst = binary.AppendUvarint(dst, uint64(p.Rows))
			dst = binary.AppendUvarint(dst, uint64(p.Size))
			dst = binary.LittleEndian.AppendUint32(dst, p.CRC)
		}
	}
	if c.TallySize > 0 {
		dst = binary.AppendUvarint(dst, uint64(c.TallySize))
		if c.TallySize <= maxInlineTally {
			dst = append(dst, c.Tally...)
		} else {
			dst = binary.AppendUvarint(dst, uint64(c.TallyAt))
			dst = binary.LittleEndian.AppendUint32(dst, c.TallyCRC)
		}
	}
	if c.SumsSize > 0 {
		dst = binary.AppendUvarint(dst, uint64(c.SumsAt))
		dst = binary.AppendUvarint(dst, uint64(c.SumsSize))
		dst = binary.LittleEndian.AppendUint32(dst, c.SumsCRC)
	}
	return dst
}

// footerReader reads a footer; the first fault sticks. It counts bytes instead of cutting b, since each pointer that is written
// costs the collector's care.
type footerReader struct {
	in  []byte
	at  int // how far it came
	bad string
}

// left is how many bytes are left.
func (r *footerReader) left() int { return len(r.in) - r.at }

func (r *footerReader) fail(what string) {
	if r.bad == "" {
		r.bad = what
	}
	r.at = len(r.in)
}

func (r *footerReader) uint(what string, most uint64) uint64 {
	x, n := binary.Uvarint(r.in[r.at:])
	if n <= 0 || x > most {
		r.fail(what)
		return 0
	}
	r.at += n
	return x
}

func (r *footerReader) int(what string) int64 {
	x, n := binary.Varint(r.in[r.at:])
	if n <= 0 {
		r.fail(what)
		return 0
	}
	r.at += n
	return x
}

func (r *footerReader) raw(what string, n int) []byte {
	if n > r.left() {
		r.fail(what)
		return make([]byte, min(n, 32)) // callers look at a few bytes only
	}
	x := r.in[r.at : r.at+n : r.at+n]
	r.at += n
	return x
}

func (r *footerReader) bytes(what string, most uint64) []byte {
	n := r.uint(what, most)
	if n > uint64(r.left()) {
		r.fail(what)
		return nil
	}
	return r.raw(what, int(n))
}

func (r *footerReader) u32(what string) uint32 {
	return binary.LittleEndian.Uint32(r.raw(what, 4))
}

// parseFooter reads a footer of a version; where data ends at dataEnd.
func parseFooter(b []byte, v uint32, dataEnd int64) (*Info, error) {
	r := footerReader{in: b}
	f := &Info{}
	copy(f.Topic[:], r.raw("topic", 16))
	f.TopicName = string(r.bytes("topic name", 1<<10))
	f.ID = r.uint("id", 1<<62)
	f.Zstd = r.raw("zstd", 1)[0] != 0
	if v >= 3 {
		f.Created = r.int("time")
	}
	n := r.uint("columns", uint64(r.left())/6)
	f.Columns = make([]Column, 0, n)
	keys := make(map[string]bool, n)
	for range n {
		c := Column{Name: string(r.bytes("name", 1<<12)), Key: string(r.bytes("key", 1<<20))}
		t := r.raw("type", 4)
		c.Kind, c.Logical, c.Precision, c.Scale = vector.Kind(t[0]), Logical(t[1]), t[2], t[3]
		if r.bad == "" && (c.check() != nil || keys[c.Key]) {
			r.fail("column")
		}
		keys[c.Key] = true
		f.Columns = append(f.Columns, c)
	}
	n = r.uint("blocks", uint64(r.left())/10)
	f.Blocks = make([]Block, 0, min(n, 1<<10))
	for range n {
		if r.bad != "" {
			break
		}
		flags := r.raw("flags", 1)[0]
		blk := Block{
			Dense: flags&flagDense != 0, Complete: flags&flagComplete != 0, Timed: flags&flagTimed != 0,
			Partition: int32(r.uint("partition", 1<<31-1)),
			From:      int64(r.uint("first offset", 1<<62)),
		}
		blk.End = blk.From + int64(r.uint("offsets", 1<<62-1))
		blk.Rows = int(r.uint("rows", maxBlockRows))
		blk.Copy = r.uint("copy", 1<<63)
		blk.Committed = r.uint("commit", 1<<63)
		blk.RawBytes = int64(r.uint("bytes", 1<<62))
		blk.MinTime, blk.MaxTime = r.int("time"), r.int("time")
		if int64(blk.Rows) > blk.End-blk.From || blk.Dense && int64(blk.Rows) != blk.End-blk.From {
			r.fail("rows")
		}
		if r.left()/7 < len(f.Columns) {
			r.fail("chunks")
			break
		}
		blk.Chunks = make([]Chunk, len(f.Columns))
		for j := range blk.Chunks {
			r.chunk(&blk.Chunks[j], &f.Columns[j], blk.Rows, v, dataEnd)
			if v == 1 {
				blk.Chunks[j].Zstd = f.Zstd
			}
		}
		f.Blocks = append(f.Blocks, blk)
	}
	if r.bad == "" && r.left() > 0 {
		r.fail("end")
	}
	if r.bad != "" {
		return nil, fmt.Errorf("%w: footer: %s", ErrCorrupt, r.bad)
	}
	return f, nil
}

func (r *footerReader) chunk(c *Chunk, col *Column, rows int, v uint32, dataEnd int64) {
	var flags uint64
	if v < 5 {
		flags = uint64(r.raw("flags", 1)[0])
	} else {
		flags = r.uint("flags", 2*flagSums-1)
	}
	c.At = int64(r.uint("chunk", uint64(dataEnd)))
	c.Size = int64(r.uint("chunk size", uint64(dataEnd-c.At)))
	c.CRC = r.u32("sum")
	c.Nulls = int(r.uint("nulls", uint64(rows)))
	value := func() []byte {
		x := r.bytes("bound", maxStatBytes)
		if want := valueBytes(col); r.bad == "" && want > 0 && len(x) != want {
			r.fail("bound")
		}
		return x
	}
	if c.HasMin = flags&flagMin != 0; c.HasMin {
		c.Min = value()
	}
	if c.HasMax = flags&flagMax != 0; c.HasMax {
		c.Max = value()
	}
	c.Exact, c.Zstd = flags&flagExact != 0, flags&flagZstd != 0
	if c.HasSum = flags&flagSum != 0; c.HasSum {
		if c.Sum = r.bytes("sum", 32); len(c.Sum) != 32 {
			r.fail("sum")
		}
	}
	if flags&flagBloom != 0 {
		c.BloomAt = int64(r.uint("filter", uint64(dataEnd)))
		c.BloomSize = int64(r.uint("filter size", uint64(min(maxBloom, dataEnd-c.BloomAt))))
		c.BloomCRC = r.u32("filter's sum")
		if c.BloomSize%bloomBlock != 0 || c.BloomSize == 0 {
			r.fail("filter size")
		}
		if v >= 5 && r.bad == "" {
			c.BloomPieces = make([]uint32, bloomPieces(c.BloomSize))
			for i := range c.BloomPieces {
				c.BloomPieces[i] = r.u32("filter's sum")
			}
		}
	}
	if flags&flagPages != 0 {
		r.pages(c, rows)
	}
	if flags&flagTally != 0 {
		c.TallySize = int64(r.uint("tally size", maxTally))
		if c.TallySize <= maxInlineTally {
			c.Tally = r.raw("tally", int(c.TallySize))
		} else {
			c.TallyAt = int64(r.uint("tally", uint64(dataEnd)))
			c.TallyCRC = r.u32("tally's sum")
			if c.TallySize > dataEnd-c.TallyAt {
				r.fail("tally size")
			}
		}
	}
	if c.Summed = flags&flagSummed != 0; c.Summed && !col.Summable() {
		r.fail("sums of such a column")
	}
	if flags&flagSums != 0 {
		c.SumsAt = int64(r.uint("sums", uint64(dataEnd)))
		c.SumsSize = int64(r.uint("sums' size", uint64(min(maxSums, dataEnd-c.SumsAt))))
		c.SumsCRC = r.u32("sums' sum")
		if c.SumsSize == 0 || c.TallySize == 0 {
			r.fail("sums' size")
		}
	}
}

// pages reads where a chunk's pages are.
func (r *footerReader) pages(c *Chunk, rows int) {
	n := r.uint("pages", uint64(r.left())/6)
	c.Pages = make([]Page, n)
	size := int64(0)
	for i := range c.Pages {
		p := &c.Pages[i]
		p.Rows, p.Size = int32(r.uint("page", uint64(rows))), int32(r.uint("page size", 1<<31-1))
		p.CRC = r.u32("page's sum")
		size += int64(p.Size)
		rows -= int(p.Rows)
		if p.Rows == 0 && i > 0 || p.Size == 0 {
			r.fail("page")
		}
	}
	if size != c.Size || rows != 0 || n == 0 {
		r.fail("pages")
	}
}

// valueBytes is the size of a bound; 0: any.
func valueBytes(c *Column) int {
	switch c.Kind {
	case vector.Int, vector.Uint, vector.Float:
		return 8
	case vector.Decimal128, vector.Decimal256:
		return 32
	}
	return 0
}
