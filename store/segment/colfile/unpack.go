package colfile

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// slot is how a value lies in a vector: as a code, or as the low bits of a number less its base.
type slot interface {
	uint8 | uint16 | uint32 | uint64
}

const (
	// unpackRun is how many values are unpacked at a time. Both encodings pack multiples of 8 of them, and mostly of 32.
	unpackRun = 32
	// slack is how many bytes may be looked at behind what is unpacked.
	slack = 8
)

// unpack reads len(dst) values of width bits from b, which must have them, the last value's byte filled up. What lies in
// b's capacity behind that may be looked at.
func unpack[T slot](dst []T, b []byte, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	step := int(width) * unpackRun / 8
	more := b[:cap(b)]
	for len(dst) >= unpackRun && len(more) >= step+slack {
		unpack32((*[unpackRun]T)(dst), more[:step+slack], width)
		dst, more = dst[unpackRun:], more[step:]
	}
	for len(dst) > 0 {
		var in [64*unpackRun/8 + slack]byte
		var out [unpackRun]T
		copy(in[:step], more)
		unpack32(&out, in[:step+slack], width)
		n := copy(dst, out[:])
		dst, more = dst[n:], more[min(step, len(more)):]
	}
}

// unpack32 reads 32 values of 1 to 64 bits; b has slack behind them. Each load of eight bytes gives as many values as
// surely lie in it.
func unpack32[T slot](dst *[unpackRun]T, b []byte, width uint) {
	mask := ^uint64(0) >> (64 - width&63)
	if width == 64 {
		mask = ^uint64(0)
	}
	w := width & 63
	_ = b[width*unpackRun/8+slack-1]
	p := unsafe.Pointer(unsafe.SliceData(b)) // without bounds: each check costs as much as a value
	switch {
	case width <= 8: // eight begin with a byte
		for i := uint(0); i < unpackRun; i += 8 {
			x := load(p, i/8*w)
			d := (*[8]T)(dst[i:])
			d[0] = T(x & mask)
			d[1] = T(x >> w & mask)
			d[2] = T(x >> (2 * w & 63) & mask)
			d[3] = T(x >> (3 * w & 63) & mask)
			d[4] = T(x >> (4 * w & 63) & mask)
			d[5] = T(x >> (5 * w & 63) & mask)
			d[6] = T(x >> (6 * w & 63) & mask)
			d[7] = T(x >> (7 * w & 63) & mask)
		}
	case width <= 16: // four begin with half a byte at worst
		for i := uint(0); i < unpackRun; i += 4 {
			at := i * w
			x := load(p, at>>3) >> (at & 7)
			d := (*[4]T)(dst[i:])
			d[0] = T(x & mask)
			d[1] = T(x >> w & mask)
			d[2] = T(x >> (2 * w & 63) & mask)
			d[3] = T(x >> (3 * w & 63) & mask)
		}
	case width <= 29: // two begin with six bits of a byte left out at worst
		for i := uint(0); i < unpackRun; i += 2 {
			at := i * w
			x := load(p, at>>3) >> (at & 7)
			d := (*[2]T)(dst[i:])
			d[0] = T(x & mask)
			d[1] = T(x >> w & mask)
		}
	case width <= 57:
		for i := range dst {
			at := uint(i) * w
			dst[i] = T(load(p, at>>3) >> (at & 7) & mask)
		}
	default:
		for i := range dst {
			at := uint(i) * width
			x := load(p, at>>3) >> (at & 7)
			if used := 64 - at&7; used < width {
				x |= uint64(b[at>>3+8]) << (used & 63)
			}
			dst[i] = T(x & mask)
		}
	}
}

// load is the eight bytes at p + at.
func load(p unsafe.Pointer, at uint) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, at))[:])
}

// readHybrid reads len(dst) codes in Parquet's RLE and bit-packing hybrid.
func readHybrid[T slot](dst []T, b []byte, width uint) error {
	for len(dst) > 0 {
		h, n := binary.Uvarint(b)
		if n <= 0 {
			return fmt.Errorf("%w: run header", ErrCorrupt)
		}
		b = b[n:]
		if h&1 == 0 {
			count := h >> 1
			bytes := int(width+7) / 8
			if count == 0 || len(b) < bytes {
				return fmt.Errorf("%w: repeated run", ErrCorrupt)
			}
			var x uint64
			for i := range bytes {
				x |= uint64(b[i]) << (8 * i)
			}
			b = b[bytes:]
			run := dst[:min(uint64(len(dst)), count)]
			for i := range run {
				run[i] = T(x)
			}
			dst = dst[len(run):]
			continue
		}
		groups := h >> 1
		if groups == 0 || groups > uint64(len(b)) && width > 0 {
			return fmt.Errorf("%w: packed run", ErrCorrupt)
		}
		count := min(uint64(len(dst)), groups*8)
		size := groups * uint64(width)
		if size > uint64(len(b)) {
			return fmt.Errorf("%w: packed run", ErrCorrupt)
		}
		unpack(dst[:count], b[:size], width)
		b, dst = b[size:], dst[count:]
	}
	return nil
}

// deltas reads DELTA_BINARY_PACKED.
type deltas[T slot] struct {
	base    int64 // is taken off each value
	last    int64
	ascends bool // no value so far was less than the one before it, if none overflows
}

// read reads len(dst) values and returns what lies behind them.
func (d *deltas[T]) read(dst []T, b []byte) (rest []byte, err error) {
	bad := func() ([]byte, error) { return nil, fmt.Errorf("%w: delta block", ErrCorrupt) }
	var head [3]uint64
	for i := range head {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return bad()
		}
		head[i], b = x, b[n:]
	}
	if head[0] != deltaBlock || head[1] != deltaMinis || head[2] != uint64(len(dst)) {
		return bad()
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return bad()
	}
	b = b[n:]
	if len(dst) == 0 {
		return b, nil
	}
	d.ascends = d.ascends && first >= d.last
	dst[0] = T(first - d.base)
	last := first
	dst = dst[1:]
	var diffs [deltaMini]uint64
	for len(dst) > 0 {
		least, n := binary.Varint(b)
		if n <= 0 || len(b) < n+deltaMinis {
			return bad()
		}
		d.ascends = d.ascends && least >= 0
		widths := b[n : n+deltaMinis]
		b = b[n+deltaMinis:]
		for _, w := range widths {
			if len(dst) == 0 {
				break
			}
			size := packedBytes(deltaMini, uint(w))
			if w > 64 || len(b) < size {
				return bad()
			}
			part := dst[:min(len(dst), deltaMini)]
			x := last - d.base
			if int(w) <= 8*int(unsafe.Sizeof(part[0])) && len(part) == deltaMini { // the differences lie where the values will
				unpack(part, b[:size], uint(w))
				for i, diff := range part {
					x += least + int64(diff)
					part[i] = T(x)
				}
			} else {
				unpack(diffs[:], b[:size], uint(w))
				for i := range part {
					x += least + int64(diffs[i])
					part[i] = T(x)
				}
			}
			last = x + d.base
			b, dst = b[size:], dst[len(part):]
		}
	}
	d.last = last
	return b, nil
}
