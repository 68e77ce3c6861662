package recordbatch

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/pierrec/lz4/v4"
)

var (
	lz4Readers = sync.Pool{New: func() any { return &lz4Reader{z: lz4.NewReader(nil)} }}
	lz4Writers = sync.Pool{New: func() any {
		w := lz4.NewWriter(nil)
		// What Java's consumer takes: independent blocks of 64 KiB.
		_ = w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1))
		return w
	}}
)

type lz4Reader struct {
	src bytes.Reader
	z   *lz4.Reader
}

func decompressLZ4(dst, src []byte, limit int) ([]byte, error) {
	r := lz4Readers.Get().(*lz4Reader)
	r.src.Reset(src)
	r.z.Reset(&r.src)
	dst, err := readAll(LZ4, r.z, dst, len(src), limit)
	r.src.Reset(nil)
	r.z.Reset(nil)
	lz4Readers.Put(r)
	return dst, err
}

func compressLZ4(dst, src []byte) []byte {
	w := lz4Writers.Get().(*lz4.Writer)
	defer lz4Writers.Put(w)
	out := appendWriter{dst}
	w.Reset(&out)
	_, _ = w.Write(src) // appendWriter cannot fail
	_ = w.Close()
	return out.b
}

// lz4MaxRatio: a match length grows by 255 with each byte.
const lz4MaxRatio = 255

// The frame format: magic, FLG, BD, content size and dictionary id if FLG says
// so, header checksum; then blocks of a little-endian size (top bit: stored
// plain) and, if FLG says so, a checksum; a size of 0 ends them.
const (
	lz4Magic          = 0x184D2204
	lz4FlagDict       = 0x01
	lz4FlagSize       = 0x08
	lz4FlagBlockSum   = 0x10
	lz4BlockPlain     = 1 << 31
	lz4FrameMinHeader = 7
)

// expandLZ4 adds up what each block can hold at most: the frame's block size, or
// its own bytes times the ratio. For honest data that is close to the truth; a
// frame whose bound passes the limit is decoded into nothing to be sure.
func expandLZ4(src []byte, limit int) (int, error) {
	bound, ok := lz4Bound(src)
	if ok && bound <= int64(limit) {
		return int(bound), nil
	}
	r := lz4Readers.Get().(*lz4Reader)
	r.src.Reset(src)
	r.z.Reset(&r.src)
	n, err := countAll(LZ4, r.z, limit)
	r.src.Reset(nil)
	r.z.Reset(nil)
	lz4Readers.Put(r)
	return n, err
}

// lz4Bound is false for a frame that it does not understand to its end.
func lz4Bound(src []byte) (bound int64, ok bool) {
	if len(src) < lz4FrameMinHeader || binary.LittleEndian.Uint32(src) != lz4Magic {
		return 0, false
	}
	flags, descriptor := src[4], src[5]
	at := lz4FrameMinHeader
	if flags&lz4FlagSize != 0 {
		at += 8
	}
	if flags&lz4FlagDict != 0 {
		at += 4
	}
	blockMax := int64(1) << (8 + 2*(descriptor>>4&7))
	if blockMax < 64<<10 {
		return 0, false
	}
	for {
		if len(src)-at < 4 {
			return 0, false
		}
		size := binary.LittleEndian.Uint32(src[at:])
		at += 4
		if size == 0 {
			return bound, true
		}
		n := int64(size &^ lz4BlockPlain)
		if n > int64(len(src)-at) {
			return 0, false
		}
		if size&lz4BlockPlain != 0 {
			bound += n
		} else {
			bound += min(blockMax, n*lz4MaxRatio)
		}
		at += int(n)
		if flags&lz4FlagBlockSum != 0 {
			at += 4
		}
		if at > len(src) {
			return 0, false
		}
	}
}
