package recordbatch

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipMaxRatio: a deflate match of 258 bytes takes two bits at least.
const gzipMaxRatio = 1032

var (
	gzipReaders = sync.Pool{New: func() any { return new(gzipReader) }}
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
)

// gzipReader keeps the source beside its reader, so that neither is allocated.
type gzipReader struct {
	src bytes.Reader
	z   gzip.Reader
}

func decompressGzip(dst, src []byte, limit int) ([]byte, error) {
	r := gzipReaders.Get().(*gzipReader)
	defer gzipReaders.Put(r)
	r.src.Reset(src)
	defer r.src.Reset(nil)
	if err := r.z.Reset(&r.src); err != nil {
		return dst, damaged(Gzip, err)
	}
	return readAll(Gzip, &r.z, dst, len(src), limit)
}

func compressGzip(dst, src []byte) []byte {
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	out := appendWriter{dst}
	w.Reset(&out)
	_, _ = w.Write(src) // appendWriter cannot fail
	_ = w.Close()
	return out.b
}

// expandGzip: deflate says nowhere how much it holds (the trailer may lie, and
// members can be chained), so whatever could pass the limit by its ratio is decoded.
func expandGzip(src []byte, limit int) (int, error) {
	if len(src) <= limit/gzipMaxRatio {
		return len(src) * gzipMaxRatio, nil
	}
	r := gzipReaders.Get().(*gzipReader)
	defer gzipReaders.Put(r)
	r.src.Reset(src)
	defer r.src.Reset(nil)
	if err := r.z.Reset(&r.src); err != nil {
		return 0, damaged(Gzip, err)
	}
	return countAll(Gzip, &r.z, limit)
}
