package colfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// packer appends values of a few bits each, the lowest bit first.
type packer struct {
	b    []byte
	acc  uint64
	have uint
}

func (p *packer) put(x uint64, width uint) {
	p.acc |= x << p.have
	if p.have+width >= 64 {
		p.b = binary.LittleEndian.AppendUint64(p.b, p.acc)
		used := 64 - p.have
		p.acc = 0
		if used < 64 {
			p.acc = x >> used
		}
		p.have = width - used
		return
	}
	p.have += width
}

// flush ends at a whole byte.
func (p *packer) flush() {
	for n := (p.have + 7) / 8; n > 0; n-- {
		p.b = append(p.b, byte(p.acc))
		p.acc >>= 8
	}
	p.acc, p.have = 0, 0
}

// unpack reads len(dst) values of width bits from b, which must have them.
func unpack[T uint8 | uint16 | uint32 | uint64](dst []T, b []byte, width uint) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := uint64(1)<<width - 1
	if width == 64 {
		mask = ^uint64(0)
	}
	i, at := 0, uint(0)
	if width <= 57 {
		// A value lies within the eight bytes from its first one on.
		for ; i < len(dst) && int(at>>3)+8 <= len(b); i++ {
			dst[i] = T(binary.LittleEndian.Uint64(b[at>>3:]) >> (at & 7) & mask)
			at += width
		}
	}
	for ; i < len(dst); i++ {
		var x uint64
		have := uint(0)
		for k := at >> 3; have < width+at&7 && int(k) < len(b); k++ {
			if have < 64 {
				x |= uint64(b[k]) << have
			}
			have += 8
		}
		lo := x >> (at & 7)
		if width+at&7 > 64 {
			lo |= uint64(b[(at>>3)+8]) << (64 - at&7)
		}
		dst[i] = T(lo & mask)
		at += width
	}
}

func packedBytes(n int, width uint) int { return (n*int(width) + 7) / 8 }

// appendHybrid appends codes in Parquet's RLE and bit-packing hybrid: one run, repeated where all are
// equal, else packed.
func appendHybrid[T uint8 | uint16 | uint32](dst []byte, codes []T, width uint) []byte {
	if len(codes) == 0 {
		return dst
	}
	same := true
	for _, c := range codes {
		if c != codes[0] {
			same = false
			break
		}
	}
	if same || width == 0 {
		dst = binary.AppendUvarint(dst, uint64(len(codes))<<1)
		for x, n := uint64(codes[0]), (width+7)/8; n > 0; n-- {
			dst = append(dst, byte(x))
			x >>= 8
		}
		return dst
	}
	groups := (len(codes) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	p := packer{b: dst}
	for _, c := range codes {
		p.put(uint64(c), width)
	}
	for i := len(codes); i < groups*8; i++ {
		p.put(0, width)
	}
	p.flush()
	return p.b
}

// readHybrid reads len(dst) codes.
func readHybrid[T uint8 | uint16 | uint32](dst []T, b []byte, width uint) error {
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

// Delta encoding: blocks of deltaBlock differences in deltaMinis parts with a width each.
const (
	deltaBlock = 128
	deltaMinis = 4
	deltaMini  = deltaBlock / deltaMinis
)

// appendDelta appends values as DELTA_BINARY_PACKED, of a column of 64 or 32 bits.
func appendDelta(dst []byte, values []int64, narrow bool) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	var deltas [deltaBlock]uint64
	last := values[0]
	for rest := values[1:]; len(rest) > 0; {
		part := rest[:min(len(rest), deltaBlock)]
		rest = rest[len(part):]
		least := int64(math.MaxInt64)
		for i, x := range part {
			d := x - last // may wrap around, and back when it is read
			if narrow {
				d = int64(int32(d))
			}
			last = x
			deltas[i] = uint64(d)
			least = min(least, d)
		}
		dst = binary.AppendVarint(dst, least)
		var widths [deltaMinis]byte
		for m := range deltaMinis {
			var all uint64
			for i := m * deltaMini; i < min(len(part), (m+1)*deltaMini); i++ {
				deltas[i] -= uint64(least)
				if narrow {
					deltas[i] = uint64(uint32(deltas[i]))
				}
				all |= deltas[i]
			}
			widths[m] = byte(bits.Len64(all))
		}
		dst = append(dst, widths[:]...)
		for m := range deltaMinis {
			if m*deltaMini >= len(part) {
				break
			}
			p := packer{b: dst}
			for i := m * deltaMini; i < (m+1)*deltaMini; i++ {
				x := uint64(0)
				if i < len(part) {
					x = deltas[i]
				}
				if widths[m] > 0 {
					p.put(x, uint(widths[m]))
				}
			}
			p.flush()
			dst = p.b
		}
	}
	return dst
}

// readDelta reads len(dst) values and returns what lies behind them.
func readDelta(dst []int64, b []byte, narrow bool) (rest []byte, err error) {
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
	dst[0] = first
	last := first
	var deltas [deltaMini]uint64
	for at := 1; at < len(dst); {
		least, n := binary.Varint(b)
		if n <= 0 || len(b) < n+deltaMinis {
			return bad()
		}
		widths := b[n : n+deltaMinis]
		b = b[n+deltaMinis:]
		for _, w := range widths {
			if at == len(dst) {
				break
			}
			size := packedBytes(deltaMini, uint(w))
			if w > 64 || len(b) < size {
				return bad()
			}
			part := dst[at:min(len(dst), at+deltaMini)]
			if w == 0 {
				for i := range part {
					last += least
					part[i] = last
				}
			} else {
				// As much as there is behind, for loads of eight bytes.
				unpack(deltas[:len(part)], b, uint(w))
				for i := range part {
					last += least + int64(deltas[i])
					part[i] = last
				}
			}
			if narrow {
				for i := range part {
					part[i] = int64(int32(part[i]))
				}
			}
			b = b[size:]
			at += len(part)
		}
	}
	return b, nil
}
