package exec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPickCodeFindsEveryRowOfACode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	for round := range 300 {
		codes := make([]uint8, rnd.IntN(chunkRows+1))
		kinds := []int{2, 16, 256}[round%3]
		for i := range codes {
			codes[i] = uint8(rnd.IntN(kinds)) * uint8([]int{1, 127}[round%2])
		}
		for _, code := range []uint8{0, 1, 127, 128, 255, uint8(rnd.IntN(256))} {
			var want []int32
			for i, c := range codes {
				if c == code {
					want = append(want, int32(i))
				}
			}
			dst := make([]int32, chunkRows)
			if got := dst[:pickCode(codes, code, dst)]; !slices.Equal(got, want) {
				t.Fatalf("%d codes: code %d in %v, want %v", len(codes), code, got, want)
			}
		}
	}
}
