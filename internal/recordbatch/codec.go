package recordbatch

import (
	"errors"
	"fmt"
	"io"
)

// Decompress appends the decompressed src to dst and returns it; for None a copy.
// At most limit bytes are produced, ErrTooLarge beyond; memory stays within about
// twice that however the input was made. ErrInvalid for damaged input, ErrCodec
// for an unknown codec.
func Decompress(codec int, dst, src []byte, limit int) ([]byte, error) {
	switch codec {
	case None:
		if len(src) > limit {
			return dst, tooLarge(None, limit)
		}
		return append(dst, src...), nil
	case Gzip:
		return decompressGzip(dst, src, limit)
	case Snappy:
		return decompressSnappy(dst, src, limit)
	case LZ4:
		return decompressLZ4(dst, src, limit)
	case Zstd:
		return decompressZstd(dst, src, limit)
	}
	return dst, fmt.Errorf("%w: %d", ErrCodec, codec)
}

// Compress appends src under codec to dst. An unknown codec panics: it is the
// caller's constant, never a peer's.
func Compress(codec int, dst, src []byte) []byte {
	switch codec {
	case None:
		return append(dst, src...)
	case Gzip:
		return compressGzip(dst, src)
	case Snappy:
		return compressSnappy(dst, src)
	case LZ4:
		return compressLZ4(dst, src)
	case Zstd:
		return compressZstd(dst, src)
	}
	panic(fmt.Sprintf("recordbatch: compress with codec %d", codec))
}

// ExpansionBound bounds how many bytes src can decompress to without producing
// them, where the format allows it, and by decoding into nothing where it does
// not. The bound is at most limit; ErrTooLarge when the output certainly
// is larger or would have to be produced to know, ErrInvalid for input that no
// decoder takes.
//
// It is what protects the broker and its consumers from a batch of 3 kB that
// unpacks to gigabytes, at the price of a walk over block headers.
func ExpansionBound(codec int, src []byte, limit int) (int, error) {
	switch codec {
	case None:
		if len(src) > limit {
			return 0, tooLarge(None, limit)
		}
		return len(src), nil
	case Gzip:
		return expandGzip(src, limit)
	case Snappy:
		return expandSnappy(src, limit)
	case LZ4:
		return expandLZ4(src, limit)
	case Zstd:
		return expandZstd(src, limit)
	}
	return 0, fmt.Errorf("%w: %d", ErrCodec, codec)
}

var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// CodecName is Kafka's name of a codec.
func CodecName(codec int) string {
	if codec < 0 || codec >= len(codecNames) {
		return fmt.Sprintf("codec %d", codec)
	}
	return codecNames[codec]
}

// CodecByName knows Kafka's names; "uncompressed", as in compression.type, is None.
func CodecByName(name string) (codec int, ok bool) {
	if name == "uncompressed" {
		return None, true
	}
	for codec, n := range codecNames {
		if n == name {
			return codec, true
		}
	}
	return 0, false
}

func tooLarge(codec, limit int) error {
	return fmt.Errorf("%w: %s, more than %d bytes", ErrTooLarge, CodecName(codec), limit)
}

func damaged(codec int, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrInvalid, CodecName(codec), err)
}

var (
	errShort = errors.New("ends too early")
	errRatio = errors.New("declares more than its bytes can hold")
)

// firstGuess is the capacity to begin with when the output size is unknown.
func firstGuess(src, limit int) int {
	return min(max(4*src, 4<<10), limit+1)
}

// readAll appends what r yields to dst until its end, at most limit bytes.
func readAll(codec int, r io.Reader, dst []byte, src, limit int) ([]byte, error) {
	base := len(dst)
	if g := firstGuess(src, limit); cap(dst)-base < g && cap(dst)-base < 4<<10 {
		dst = append(make([]byte, 0, base+g), dst...)
	}
	for {
		if len(dst) == cap(dst) {
			// One byte beyond the limit is enough to know.
			grown := min(2*(cap(dst)-base), limit+1)
			dst = append(make([]byte, 0, base+grown), dst...)
		}
		room := min(cap(dst)-len(dst), limit+1-(len(dst)-base))
		n, err := r.Read(dst[len(dst) : len(dst)+room])
		dst = dst[:len(dst)+n]
		if len(dst)-base > limit {
			return dst[:base], tooLarge(codec, limit)
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst[:base], damaged(codec, err)
		}
	}
}

// countAll counts what r yields without keeping it.
func countAll(codec int, r io.Reader, limit int) (int, error) {
	var scratch [8 << 10]byte
	total := 0
	for {
		n, err := r.Read(scratch[:])
		total += n
		if total > limit {
			return 0, tooLarge(codec, limit)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return 0, damaged(codec, err)
		}
	}
}

// appendWriter is an io.Writer onto a slice.
type appendWriter struct{ b []byte }

func (w *appendWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
