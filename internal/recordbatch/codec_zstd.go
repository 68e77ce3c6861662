package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdMaxWindowBytes is what zstd itself takes without being asked for more
// (level 22). A larger window is refused: it is memory for the asking.
const zstdMaxWindowBytes = 128 << 20

// zstdCountWindowBytes bounds the memory for counting a frame's output; a frame
// with a larger window that could also pass the limit counts as passing it.
const zstdCountWindowBytes = 8 << 20

var errBlockType = errors.New("reserved block type")

type zstdCounter struct {
	src bytes.Reader
	d   *zstd.Decoder
}

var (
	zstdDecoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdMaxWindowBytes),
			// MaxMemory also caps the window; the output is capped by the
			// destination's capacity, exactly.
			zstd.WithDecoderMaxMemory(zstdMaxWindowBytes),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err) // constant options
		}
		return d
	}}
	zstdCounters = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(zstdCountWindowBytes))
		if err != nil {
			panic(err) // constant options
		}
		return &zstdCounter{d: d}
	}}
	zstdEncoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false),
			zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // constant options
		}
		return e
	}}
)

func decompressZstd(dst, src []byte, limit int) ([]byte, error) {
	bound, err := expandZstd(src, limit)
	if err != nil {
		return dst, err
	}
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	base := len(dst)
	// The bound is exact when the frame tells its size. Else it may be far
	// too much (128 KiB a block): begin smaller and go up to it.
	want := bound
	if _, exact := zstdDeclared(src); !exact {
		want = min(bound, max(8*len(src), 64<<10))
	}
	for {
		if cap(dst)-base < want {
			dst = append(make([]byte, 0, base+want), dst...)
		}
		room := min(cap(dst), base+limit)
		out, err := d.DecodeAll(src, dst[:base:room])
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return dst[:base], damaged(Zstd, err)
		}
		if room-base >= bound {
			return dst[:base], tooLarge(Zstd, limit)
		}
		want = min(bound, 4*(room-base))
	}
}

func compressZstd(dst, src []byte) []byte {
	e := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(e)
	return e.EncodeAll(src, dst)
}

// zstdDeclared is the content size of a frame that declares it.
func zstdDeclared(src []byte) (int64, bool) {
	var h zstd.Header
	if h.Decode(src) != nil || !h.HasFCS || h.FrameContentSize > 1<<40 {
		return 0, false
	}
	return int64(h.FrameContentSize), true
}

const zstdBlockMaxBytes = 128 << 10

// expandZstd adds up what each block of each frame can hold at most; blocks have
// headers of three bytes, so nothing is decoded. A frame's declared content
// size, which decoding enforces, lowers it. An honest batch of many short blocks
// may pass the limit by its bound alone: then the output is counted.
func expandZstd(src []byte, limit int) (int, error) {
	var total int64
	for rest := src; len(rest) > 0; {
		bound, n, err := zstdFrame(rest)
		if err != nil {
			return 0, damaged(Zstd, err)
		}
		if total += bound; total > int64(limit) {
			return countZstd(src, limit)
		}
		rest = rest[n:]
	}
	return int(total), nil
}

// zstdFrame returns what the frame at the front of src can decode to at most, and
// its length in src.
func zstdFrame(src []byte) (bound int64, length int, err error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return 0, 0, err
	}
	if h.Skippable {
		n := int64(h.HeaderSize) + int64(h.SkippableSize)
		if n > int64(len(src)) {
			return 0, 0, errShort
		}
		return 0, int(n), nil
	}
	blockMax := int64(zstdBlockMaxBytes)
	if !h.SingleSegment {
		blockMax = int64(min(zstdBlockMaxBytes, h.WindowSize))
	}
	at := h.HeaderSize
	for last := false; !last; {
		if len(src)-at < 3 {
			return 0, 0, errShort
		}
		head := uint32(binary.LittleEndian.Uint16(src[at:])) | uint32(src[at+2])<<16
		at += 3
		last = head&1 != 0
		size := int64(head >> 3)
		stored := size
		switch head >> 1 & 3 {
		case 0: // raw
			bound += size
		case 1: // one byte, repeated
			stored = 1
			bound += size
		case 2: // compressed
			bound += blockMax
		default:
			return 0, 0, errBlockType
		}
		if stored > int64(len(src)-at) {
			return 0, 0, errShort
		}
		at += int(stored)
	}
	if h.HasCheckSum {
		at += 4
	}
	if at > len(src) {
		return 0, 0, errShort
	}
	if h.HasFCS && h.FrameContentSize <= uint64(bound) {
		bound = int64(h.FrameContentSize)
	}
	return bound, at, nil
}

func countZstd(src []byte, limit int) (int, error) {
	c := zstdCounters.Get().(*zstdCounter)
	defer zstdCounters.Put(c)
	c.src.Reset(src)
	defer c.src.Reset(nil)
	err := c.d.Reset(&c.src)
	n := 0
	if err == nil {
		n, err = countAll(Zstd, c.d, limit)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return 0, tooLarge(Zstd, limit)
	}
	return n, err
}
