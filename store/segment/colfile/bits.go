package colfile

import (
	"encoding/binary"
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
