package colfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/klauspost/compress/zstd"
)

// Reader is an open file. Safe for concurrent use.
type Reader struct {
	Info
	Size int64 // of the file

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
	r.Info = *info
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

// Read returns a column of a block in memory from a: mem, which the caller gives back with a.Free; nil: there is none. Errors wrap
// ErrCorrupt, or are the file system's.
func (r *Reader) Read(block, column int, a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	b := &r.Blocks[block]
	c := &b.Chunks[column]
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.raw = sized(d.raw, int(c.Size)+slack)
	buf := d.raw[:c.Size]
	if err := r.read(buf, c.At, c.CRC); err != nil {
		return v, nil, err
	}
	var z *zstd.Decoder
	if c.Zstd {
		if z, err = unzip(); err != nil {
			return v, nil, err
		}
	}
	if v, mem, err = d.decode(&r.Columns[column], &c.Stats, b.Rows, buf, z, a); err != nil {
		return v, nil, fmt.Errorf("%s: block %d, column %q: %w", r.path, block, r.Columns[column].Name, err)
	}
	return v, mem, nil
}

// WillNeed has the system begin to read a column of a block.
func (r *Reader) WillNeed(block, column int) {
	c := &r.Blocks[block].Chunks[column]
	vfs.WillNeed(r.f, c.At, c.Size)
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

// read reads bytes that have that sum.
func (r *Reader) read(buf []byte, at int64, sum uint32) error {
	if _, err := r.f.ReadAt(buf, at); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	if crc32.Checksum(buf, castagnoli) != sum {
		return fmt.Errorf("%s: byte %d: %w: sum", r.path, at, ErrCorrupt)
	}
	return nil
}
