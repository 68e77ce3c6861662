package colfile

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// pack is the plain way: bit by bit.
func pack(values []uint64, width uint) []byte {
	out := make([]byte, packedBytes(len(values), width))
	for i, x := range values {
		for k := range width {
			at := uint(i)*width + k
			out[at>>3] |= byte(x>>k&1) << (at & 7)
		}
	}
	return out
}

func testUnpack[T slot](t *testing.T, most uint) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := range most + 1 {
		for _, n := range []int{1, 7, 8, 31, 32, 33, 64, 100, 257} {
			values, want := make([]uint64, n), make([]T, n)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
				if width == 64 {
					values[i] = r.Uint64()
				}
				want[i] = T(values[i])
			}
			b := pack(values, width)
			for _, behind := range []int{0, 1, 50} {
				got := make([]T, n)
				unpack(got, append(slices.Clip(b), slices.Repeat([]byte{0xff}, behind)...)[:len(b)], width)
				if !slices.Equal(got, want) {
					t.Fatalf("%d values of %d bits, %d bytes behind them: %v, want %v", n, width, behind, got, want)
				}
			}
		}
	}
}

func TestPackedValuesAreUnpacked(t *testing.T) {
	testUnpack[uint8](t, 8)
	testUnpack[uint16](t, 16)
	testUnpack[uint32](t, 32)
	testUnpack[uint64](t, 64)
}

func BenchmarkUnpack(b *testing.B) {
	in := make([]byte, 4096*8+slack)[:4096*8]
	out := make([]uint32, 4096)
	for _, width := range []uint{1, 3, 6, 8, 12, 15, 18, 24, 31} {
		b.Run(string(rune('0'+width/10))+string(rune('0'+width%10)), func(b *testing.B) {
			b.SetBytes(4096)
			for b.Loop() {
				unpack(out, in[:packedBytes(4096, width)], width)
			}
		})
	}
}
