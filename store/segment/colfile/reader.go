package colfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// Reader is an open file. Safe for concurrent use.
type Reader struct {
	Info
	Size    int64 // of the file
	Version int   // of the format

	f    vfs.File
	path string
}

// firstRead is about how much of a file's end is read at once.
const firstRead = 64 << 10

// Open reads a file's footer. Errors wrap ErrCorrupt or ErrVersion, or are the file system's.
func Open(fs vfs.FS, path string) (*Reader, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{f: f, path: path}
	if err := r.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return r, nil
}

func (r *Reader) open() error {
	size, err := r.f.Size()
	if err != nil {
		return err
	}
	r.Size = size
	least := int64(len(parquetMagic) + trailerBytes + endBytes)
	if size < least {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, size)
	}
	buf := make([]byte, min(size, firstRead))
	at := size - int64(len(buf))
	if _, err := r.f.ReadAt(buf, at); err != nil {
		return err
	}
	end := buf[len(buf)-endBytes:]
	meta := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != parquetMagic || meta > maxParquetBytes || meta > size-least {
		return fmt.Errorf("%w: no Parquet file", ErrCorrupt)
	}
	trailer := size - endBytes - meta - trailerBytes
	if trailer < at {
		more := make([]byte, size-trailer)
		if _, err := r.f.ReadAt(more, trailer); err != nil {
			return err
		}
		buf, at = more, trailer
	}
	v, n, sum, err := readTrailer(buf[trailer-at:][:trailerBytes])
	if err != nil {
		return err
	}
	if n > trailer-int64(len(parquetMagic)) {
		return fmt.Errorf("%w: footer of %d bytes", ErrCorrupt, n)
	}
	footer := make([]byte, n)
	if trailer-n >= at {
		copy(footer, buf[trailer-n-at:])
	} else if _, err := r.f.ReadAt(footer, trailer-n); err != nil {
		return err
	}
	if crc32.Checksum(footer, castagnoli) != sum {
		return fmt.Errorf("%w: footer's sum", ErrCorrupt)
	}
	info, err := parseFooter(footer, v, trailer-n)
	if err != nil {
		return err
	}
	r.Info, r.Version = *info, int(v)
	return nil
}

// Close the file. Vectors that were read stay.
func (r *Reader) Close() error { return r.f.Close() }

// Path that the file was opened by.
func (r *Reader) Path() string { return r.path }

// unzip is shared: a decoder without concurrency has no state between calls.
var unzip = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked))
})

// Read returns a column of a block in memory from a: mem, which the caller gives back with a.Free; nil: there is none. ahead is
// what Ahead returned for it, nil: nothing. Errors wrap ErrCorrupt, or are the file system's.
func (r *Reader) Read(block, column int, ahead *vfs.Ahead, a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	c := &r.Blocks[block].Chunks[column]
	d := decoders.Get().(*decoder)
	defer d.release()
	buf, ok := ahead.Bytes()
	if !ok {
		d.raw = sized(d.raw, int(c.Size)+slack)
		buf = d.raw[:c.Size]
		if err := r.readAt(buf, c.At); err != nil {
			return v, nil, err
		}
	}
	if err := r.check(buf, c.At, c.CRC); err != nil {
		return v, nil, err
	}
	return r.decode(d, block, column, r.Blocks[block].Rows, buf, a)
}

// Ahead begins to read a column of a block, past the page cache; nil where that cannot be, and WillNeed can.
func (r *Reader) Ahead(reads *vfs.Reads, block, column int) *vfs.Ahead {
	c := &r.Blocks[block].Chunks[column]
	return reads.Start(r.f, c.At, int(c.Size))
}

// Pages says whether rows [from, to) of a column of a block can be read without all others.
func (r *Reader) Pages(block, column, from, to int) bool {
	c := &r.Blocks[block].Chunks[column]
	dict, _, size, _, _ := c.pagesOf(from, to)
	return size > 0 && dict+size < c.Size
}

// decode makes the vector of rows of a chunk of whole pages.
func (r *Reader) decode(d *decoder, block, column, rows int, b []byte, a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	c := &r.Blocks[block].Chunks[column]
	var z *zstd.Decoder
	if c.Zstd {
		if z, err = unzip(); err != nil {
			return v, nil, err
		}
	}
	if v, mem, err = d.decode(&r.Columns[column], &c.Stats, r.Blocks[block].Rows == rows, rows, b, z, a); err != nil {
		return v, nil, fmt.Errorf("%s: block %d, column %q: %w", r.path, block, r.Columns[column].Name, err)
	}
	return v, mem, nil
}

// ReadRows returns rows [from, to) of a column of a block, in the heap, and reads no more pages than it must: it is for few rows. Not ok:
// where the pages are is not known.
func (r *Reader) ReadRows(block, column, from, to int) (v vector.Vector, ok bool, err error) {
	c := &r.Blocks[block].Chunks[column]
	dict, at, size, first, last := c.pagesOf(from, to)
	if size == 0 {
		return v, false, nil
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	d.raw = sized(d.raw, int(dict+size)+slack)
	buf := d.raw[:dict+size]
	if at == dict {
		err = r.readAt(buf, c.At)
	} else if err = r.readAt(buf[dict:], c.At+at); err == nil && dict > 0 {
		err = r.readAt(buf[:dict], c.At)
	}
	if err != nil {
		return v, true, err
	}
	sum := buf
	rows, begin := 0, 0
	for i, p := range c.Pages {
		if p.Rows > 0 && (i < first || i >= last) {
			if i < first {
				begin += int(p.Rows)
			}
			continue
		}
		if crc32.Checksum(sum[:p.Size], castagnoli) != p.CRC {
			return v, true, fmt.Errorf("%s: block %d, column %q: %w: page's sum", r.path, block, r.Columns[column].Name, ErrCorrupt)
		}
		sum = sum[p.Size:]
		rows += int(p.Rows)
	}
	if v, _, err = r.decode(d, block, column, rows, buf, vector.Heap{}); err != nil {
		return v, true, err
	}
	return v.Slice(from-begin, to-begin), true, nil
}

// pagesOf says where the pages of rows [from, to) are: the size of the dictionary before the first page, 0: there is none; where in the chunk those pages begin, and their
// size, 0: not known; and which pages they are.
func (c *Chunk) pagesOf(from, to int) (dict, at, size int64, first, last int) {
	row, here := 0, int64(0)
	for i, p := range c.Pages {
		switch {
		case p.Rows == 0:
			dict = int64(p.Size)
		case row+int(p.Rows) <= from:
		case row >= to:
			return dict, at, size, first, last
		default:
			if size == 0 {
				first, at = i, here
			}
			size += int64(p.Size)
			last = i + 1
		}
		row += int(p.Rows)
		here += int64(p.Size)
	}
	return dict, at, size, first, last
}

// WillNeed has the system begin to read rows [from, to) of a column of a block.
func (r *Reader) WillNeed(block, column, from, to int) {
	c := &r.Blocks[block].Chunks[column]
	dict, at, size, _, _ := c.pagesOf(from, to)
	if size == 0 || dict+size == c.Size {
		vfs.WillNeed(r.f, c.At, c.Size)
		return
	}
	vfs.WillNeed(r.f, c.At, dict)
	vfs.WillNeed(r.f, c.At+at, size)
}

// WillNeedTally does so with the tally of a column of a block.
func (r *Reader) WillNeedTally(block, column int) {
	if c := &r.Blocks[block].Chunks[column]; c.TallySize > maxInlineTally {
		vfs.WillNeed(r.f, c.TallyAt, c.TallySize)
	}
}

// HasTally says whether a column of a block has a tally. Known: files of its version have them.
func (r *Reader) HasTally(block, column int) (has, known bool) {
	return r.Blocks[block].Chunks[column].TallySize > 0, r.Version >= 4
}

// Bloom returns the filter of a column of a block; nil when it has none.
func (r *Reader) Bloom(block, column int) (Bloom, error) {
	c := &r.Blocks[block].Chunks[column]
	if c.BloomSize == 0 {
		return nil, nil
	}
	b := make(Bloom, c.BloomSize)
	return b, r.read(b, c.BloomAt, c.BloomCRC)
}

// piece is where the piece of a column's filter is in which a value with that hash would be; false: the filter is read as a whole, or
// there is none.
func (r *Reader) piece(c *Chunk, hash uint64) (i int, at, size int64, ok bool) {
	if c.BloomPieces == nil {
		return 0, 0, 0, false
	}
	i = bloomPlace(hash, c.BloomSize) / bloomPiece
	at = int64(i) * bloomPiece
	return i, c.BloomAt + at, min(bloomPiece, c.BloomSize-at), true
}

// BloomMayContain looks a value up in the filter of a column of a block and reads no more of it than it must; not ok: the file
// does not say where its pieces are, or there is none.
func (r *Reader) BloomMayContain(block, column int, value []byte) (may, ok bool, err error) {
	c := &r.Blocks[block].Chunks[column]
	h := xxhash.Sum64(value)
	i, at, size, ok := r.piece(c, h)
	if !ok {
		return true, false, nil
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	d.raw = sized(d.raw, int(size))
	if err := r.read(d.raw, at, c.BloomPieces[i]); err != nil {
		return true, true, err
	}
	return bloomHas(d.raw[bloomPlace(h, c.BloomSize)-i*bloomPiece:], h), true, nil
}

// WillNeedBloom has the system begin to read what it takes to look a value up.
func (r *Reader) WillNeedBloom(block, column int, value []byte) {
	c := &r.Blocks[block].Chunks[column]
	if _, at, size, ok := r.piece(c, xxhash.Sum64(value)); ok {
		vfs.WillNeed(r.f, at, size)
	} else {
		vfs.WillNeed(r.f, c.BloomAt, c.BloomSize)
	}
}

// read reads bytes that have that sum.
func (r *Reader) read(buf []byte, at int64, sum uint32) error {
	if err := r.readAt(buf, at); err != nil {
		return err
	}
	return r.check(buf, at, sum)
}

// check says whether what stands at byte at has that sum.
func (r *Reader) check(buf []byte, at int64, sum uint32) error {
	if crc32.Checksum(buf, castagnoli) != sum {
		return fmt.Errorf("%s: byte %d: %w: sum", r.path, at, ErrCorrupt)
	}
	return nil
}

func (r *Reader) readAt(buf []byte, at int64) error {
	if _, err := r.f.ReadAt(buf, at); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}
