package colfile

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"millrace/internal/vector"

	"github.com/cespare/xxhash/v2"
)

// Bloom is a split-block Bloom filter as Parquet defines it: blocks of 32 bytes, one bit in
// each of eight words per value, hashed by XXH64.
type Bloom []byte

const (
	bloomBlock = 32
	// bloomBits a value make about one of a hundred other values seem to be there.
	bloomBits = 10
	// bloomMin is from how many different strings of a dictionary on a filter is made; for fewer the
	// dictionary says as much.
	bloomMin = 1024
	// bloomPiece is what is read of a filter to look one value up, with a sum of its own: what the system reads at least.
	// The last one of a filter may be smaller.
	bloomPiece = 4 << 10
	// maxBloom bounds a filter that is read.
	maxBloom = 1 << 20
)

var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// newBloom has room for n values.
func newBloom(n int) Bloom {
	blocks := (n*bloomBits/8 + bloomBlock - 1) / bloomBlock
	return make(Bloom, max(1, blocks)*bloomBlock)
}

// bloomPlace is where in a filter of size the block of a value with that hash is.
func bloomPlace(hash uint64, size int64) int {
	return int((hash>>32)*uint64(size/bloomBlock)>>32) * bloomBlock
}

// bloomPieces is how many pieces a filter of size has.
func bloomPieces(size int64) int { return int((size + bloomPiece - 1) / bloomPiece) }

// pieces are the sums of f's pieces.
func (f Bloom) pieces() []uint32 {
	out := make([]uint32, 0, bloomPieces(int64(len(f))))
	for piece := range slices.Chunk(f, bloomPiece) {
		out = append(out, crc32.Checksum(piece, castagnoli))
	}
	return out
}

func (f Bloom) add(value []byte) {
	h := xxhash.Sum64(value)
	b := f[bloomPlace(h, int64(len(f))):]
	for i, salt := range bloomSalt {
		bit := uint32(h) * salt >> 27
		w := binary.LittleEndian.Uint32(b[4*i:])
		binary.LittleEndian.PutUint32(b[4*i:], w|1<<bit)
	}
}

// MayContain is false when the value was not added.
func (f Bloom) MayContain(value []byte) bool {
	if len(f) < bloomBlock {
		return true
	}
	h := xxhash.Sum64(value)
	return bloomHas(f[bloomPlace(h, int64(len(f))):], h)
}

// bloomHas looks a hash up in its block.
func bloomHas(b []byte, h uint64) bool {
	for i, salt := range bloomSalt {
		if binary.LittleEndian.Uint32(b[4*i:])&(1<<(uint32(h)*salt>>27)) == 0 {
			return false
		}
	}
	return true
}

// BloomOf makes the filter of a column of text; nil where it does not pay.
func BloomOf(v *vector.Vector) Bloom {
	f, _ := bloomOf(v, nil)
	return f
}

// pacedValues is how many values go into a filter between two calls of pace.
const pacedValues = 1024

// bloomOf is BloomOf that calls pace now and then, and gives up with its error.
func bloomOf(v *vector.Vector, pace func() error) (Bloom, error) {
	if v.Kind != vector.String || v.Const || v.Len == 0 {
		return nil, nil
	}
	values := v.Len
	if v.Dict != nil {
		values = v.Dict.Len()
	}
	if values < bloomMin {
		return nil, nil
	}
	var f Bloom
	if v.Dict != nil {
		f = newBloom(values)
	} else {
		f = newBloom(values - v.CountNulls())
	}
	for i := range values {
		switch {
		case v.Dict != nil:
			f.add(v.Dict.Value(i))
		case !v.IsNull(i):
			f.add(v.Text(i))
		}
		if pace != nil && i%pacedValues == 0 {
			if err := pace(); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}
