package columns

import (
	"fmt"
	"strings"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/scan"
	"millrace/store/state"
)

func TestBlocksOfWideRecordsHaveFewerBytes(t *testing.T) {
	f := newFixture(t, Options{})
	tp := state.TopicPartition{Topic: f.create("t", 1, nil)}
	for range 40 {
		f.produce(tp, nil, recordbatch.None, record{value: fmt.Sprintf(`{"s":"%s"}`, strings.Repeat("x", 1<<20)), time: 1})
	}
	s := f.snapshot("t")
	defer s.Release()
	blocks, err := f.set.Source(s.Snapshot).Blocks(t.Context(), s.table, []scan.Column{{Kind: scan.Expanded}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 5 || blocks[0].Rows() != 8 {
		t.Errorf("%d blocks, of %d rows", len(blocks), blocks[0].Rows())
	}
}
