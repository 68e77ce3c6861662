package columns

import (
	"errors"
	"math"
	"testing"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/store/state"
)

func TestMoreTextThanAVectorHasIsOutOfMemory(t *testing.T) {
	half := &vector.Vector{Kind: vector.String, Len: 1, Offsets: []uint32{0, math.MaxUint32}} // it is not looked at
	b := newBlock(newPart(New(Options{}), state.Topic{}, state.TopicPartition{}), 0, 2)
	if _, err := concat(b, []*vector.Vector{half, half}); !errors.Is(err, scan.ErrMemory) {
		t.Error(err)
	}
}
