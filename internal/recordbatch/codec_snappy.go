package recordbatch

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/s2"
)

// Java clients frame snappy as the xerial library does: a magic, two version
// numbers, then blocks with a big-endian length before each. Others send one
// raw block.
//
//	0  8  82 'S' 'N' 'A' 'P' 'P' 'Y' 00
//	8  4  version
//	12 4  oldest compatible version
//	16 …  { 4 length, raw snappy block } …
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeaderBytes = 16

// snappyMaxRatio: a copy of 64 bytes takes three. A block that declares more
// is refused before its output is allocated.
const snappyMaxRatio = 22

func decompressSnappy(dst, src []byte, limit int) ([]byte, error) {
	size, err := expandSnappy(src, limit)
	if err != nil {
		return dst, err
	}
	base := len(dst)
	dst = slices.Grow(dst, size)
	err = snappyBlocks(src, func(block []byte) error {
		n, err := s2.DecodedLen(block)
		if err != nil {
			return err
		}
		// s2.Decode writes into a destination that is long enough.
		if _, err := s2.Decode(dst[len(dst):len(dst)+n:len(dst)+n], block); err != nil {
			return err
		}
		dst = dst[:len(dst)+n]
		return nil
	})
	if err != nil {
		return dst[:base], damaged(Snappy, err)
	}
	return dst, nil
}

// snappyBlocks calls fn for each raw block of src in either framing.
func snappyBlocks(src []byte, fn func(block []byte) error) error {
	if !bytes.HasPrefix(src, xerialMagic) {
		return fn(src)
	}
	if len(src) < xerialHeaderBytes {
		return errShort
	}
	for src = src[xerialHeaderBytes:]; len(src) > 0; {
		if len(src) < 4 {
			return errShort
		}
		n := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		// The Java library lets a stream be followed by another one, header and all.
		if n == int64(binary.BigEndian.Uint32(xerialMagic)) && len(src) >= xerialHeaderBytes-4 && bytes.HasPrefix(src, xerialMagic[4:]) {
			src = src[xerialHeaderBytes-4:]
			continue
		}
		if n > int64(len(src)) {
			return errShort
		}
		if err := fn(src[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

func compressSnappy(dst, src []byte) []byte {
	base := len(dst)
	dst = slices.Grow(dst, s2.MaxEncodedLen(len(src)))
	out := s2.EncodeSnappy(dst[base:cap(dst)], src)
	return dst[:base+len(out)]
}

// expandSnappy: every block begins with the size it decodes to, and decoding
// fails unless that is true.
func expandSnappy(src []byte, limit int) (int, error) {
	total := 0
	err := snappyBlocks(src, func(block []byte) error {
		n, err := s2.DecodedLen(block)
		if err != nil {
			return err
		}
		if n/snappyMaxRatio > len(block) {
			return errRatio
		}
		if total += n; total > limit {
			return ErrTooLarge
		}
		return nil
	})
	switch {
	case err == ErrTooLarge: //nolint:errorlint // our own sentinel, set above, never wrapped
		return 0, tooLarge(Snappy, limit)
	case err != nil:
		return 0, damaged(Snappy, err)
	}
	return total, nil
}
