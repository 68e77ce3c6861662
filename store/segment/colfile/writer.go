package colfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/klauspost/compress/zstd"
)

// Suffix of a file of columns, and TempSuffix of one that is not finished and never will be once
// its writer is gone.
const (
	Suffix     = ".parquet"
	TempSuffix = ".tmp"
)

// Writer makes a file. After an error it is of no use but for Abort. Used by one goroutine.
type Writer struct {
	fs   vfs.FS
	path string
	f    vfs.File
	s    *vfs.Stream
	info Info
	enc  encoder
	also [][]written
	sums []pendingSums
	sum  uint32 // of the chunk so far

	// Pace is called once for each page of work, unless nil.
	Pace func() error
}

// Create begins a file; f's Blocks are those that Add adds. Nothing stands at path before Finish.
func Create(fs vfs.FS, path string, info Info) (*Writer, error) {
	for i := range info.Columns {
		if err := info.Columns[i].check(); err != nil {
			return nil, err
		}
	}
	w := &Writer{fs: fs, path: path, info: info}
	w.info.Blocks = nil
	w.enc.emit = w.emit
	if info.Zstd {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithAllLitEntropyCompression(true)) // ids in hexadecimal have no matches, and shrink by half
		if err != nil {
			return nil, err
		}
		w.enc.zstd = z
	}
	f, err := fs.Create(path + TempSuffix)
	if err != nil {
		return nil, err
	}
	w.f, w.s = f, vfs.NewStream(f)
	if err := w.s.Write([]byte(parquetMagic)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Bytes written so far.
func (w *Writer) Bytes() int64 { return w.s.Len() }

// Add appends a block: one vector per column, each of b.Rows rows, with its bounds.
func (w *Writer) Add(b Block, vecs []*vector.Vector, stats []Stats) error {
	if len(vecs) != len(w.info.Columns) || len(stats) != len(vecs) {
		return fmt.Errorf("colfile: block of %d columns", len(vecs))
	}
	return w.AddColumns(b, func(i int) (Content, error) { return Content{Vec: vecs[i], Stats: stats[i]}, nil })
}

// Content is what a block has of a column.
type Content struct {
	Vec *vector.Vector
	Stats
	Tally *Tally // nil: none
	// Sums are, by column of the file, what that comes to for each value of the tally; nil: there are none. A column that has some has them
	// for every tally of the block that has any, but its own.
	Sums []*Sums
}

// AddColumns is Add of columns that are asked for one after the other; each must hold until the next is asked for.
func (w *Writer) AddColumns(b Block, column func(i int) (Content, error)) error {
	if b.Rows < 1 || b.Rows > maxBlockRows {
		return fmt.Errorf("colfile: block of %d rows", b.Rows)
	}
	n := len(w.info.Columns)
	b.Chunks = make([]Chunk, n)
	also := make([]written, n)
	filters := make([]Bloom, n)
	tallies := make([][]byte, n)
	sums := make([]sumsBy, n)
	w.enc.pace = w.Pace
	for i := range b.Chunks {
		x, err := column(i)
		if err != nil {
			return err
		}
		v := x.Vec
		c := &w.info.Columns[i]
		if v.Kind != c.Kind || v.Len != b.Rows || v.Scale != int32(c.Scale) {
			return fmt.Errorf("colfile: column %q: %d rows of kind %d, want %d of %d", c.Name, v.Len, v.Kind, b.Rows, c.Kind)
		}
		at := w.s.Len()
		w.sum = 0
		if err := w.enc.chunk(c, v); err != nil {
			return err
		}
		b.Chunks[i] = Chunk{Stats: x.Stats, At: at, Size: w.enc.size, CRC: w.sum, Zstd: w.enc.codec == codecZstd, Pages: w.enc.pages}
		also[i] = written{encodings: w.enc.encodings, codec: w.enc.codec, dictAt: -1, dataAt: at + w.enc.dataAt, uncompressed: w.enc.uncompressed}
		if w.enc.dict {
			also[i].dictAt = at
		}
		if filters[i], err = bloomOf(v, w.Pace); err != nil {
			return err
		}
		if x.Tally != nil {
			if tallies[i] = appendTally(nil, x.Tally); len(tallies[i]) > maxTally {
				tallies[i] = nil
			} else {
				sums[i] = sumsBy{x.Tally.Rows, x.Sums}
			}
		}
	}
	if err := w.keepSums(b.Chunks, sums); err != nil {
		return err
	}
	for i, y := range tallies {
		c := &b.Chunks[i]
		if c.TallySize = int64(len(y)); len(y) <= maxInlineTally {
			c.Tally = y
			continue
		}
		c.TallyAt, c.TallyCRC = w.s.Len(), crc32.Checksum(y, castagnoli)
		if err := w.s.Write(y); err != nil {
			return err
		}
	}
	// The filters behind the columns, which are read in one go so.
	for i, f := range filters {
		if f == nil {
			continue
		}
		at := w.s.Len()
		h := compact{}
		h.begin()
		h.i32(1, int32(len(f)))
		for id := int16(2); id <= 4; id++ { // split blocks, XXH64, not compressed
			h.structure(id)
			h.empty(1)
			h.end()
		}
		h.end()
		c := &b.Chunks[i]
		c.BloomAt, c.BloomSize, c.BloomCRC = at+int64(len(h.b)), int64(len(f)), crc32.Checksum(f, castagnoli)
		c.BloomPieces = f.pieces()
		also[i].bloomAt, also[i].bloomSize = at, int32(len(h.b)+len(f))
		if err := w.s.Write(h.b); err != nil {
			return err
		}
		if err := w.s.Write(f); err != nil {
			return err
		}
	}
	w.info.Blocks = append(w.info.Blocks, b)
	w.also = append(w.also, also)
	return nil
}

// emit writes a part of a chunk.
func (w *Writer) emit(p []byte) error {
	w.sum = crc32.Update(w.sum, castagnoli, p)
	return w.s.Write(p)
}

// Finish completes the file, syncs it and puts it in its place, durably.
func (w *Writer) Finish() error {
	if err := w.writeSums(); err != nil {
		return err
	}
	footer := appendFooter(nil, &w.info)
	if len(footer) > maxFooterBytes {
		return fmt.Errorf("colfile: footer of %d bytes", len(footer))
	}
	end := appendTrailer(footer, footer)
	at := len(end)
	end = appendParquet(end, &w.info, w.also)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)-at))
	end = append(end, parquetMagic...)
	err := w.s.Write(end)
	if err == nil {
		err = w.s.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return err
	}
	f := w.f
	w.f = nil
	if err := f.Close(); err != nil {
		return err
	}
	if err := w.fs.Rename(w.path+TempSuffix, w.path); err != nil {
		return err
	}
	return w.fs.SyncDir(filepath.Dir(w.path))
}

// Abort removes what there is. Not after Finish was successful.
func (w *Writer) Abort() error {
	var err error
	if w.f != nil {
		err = w.f.Close()
		w.f = nil
	}
	return errors.Join(err, w.fs.Remove(w.path+TempSuffix))
}
