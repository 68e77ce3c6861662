package columns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/store/state"
)

// A block of which the log start cut rows off goes into a file again when its first one was damaged. The new file has
// only the rows that are left.
func TestACutBlockIsSealedAgainAfterItsFileWasDamaged(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 64})
	id := f.create("t", 1, nil)
	tp := state.TopicPartition{Topic: id}
	var recs []record
	for i := range 64 {
		recs = append(recs, record{value: fmt.Sprintf(`{"n":%d}`, i), time: 1_700_000_000_000})
	}
	f.produce(tp, nil, 0, recs...)
	ctx := context.Background()
	seal := func() {
		t.Helper()
		s := f.snapshot("t")
		defer s.Release()
		p, err := f.set.Seal(ctx, s.Snapshot, s.table, []int32{0}, true, func(context.Context) error { return nil })
		if err != nil || p.Blocks != 1 {
			t.Fatalf("sealed %d blocks: %v", p.Blocks, err)
		}
	}
	seal()
	f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 10}}})
	r := rand.New(rand.NewPCG(1, 1))
	check := func() {
		t.Helper()
		s := f.snapshot("t")
		defer s.Release()
		f.rowsAgree(s, r)
	}
	check()
	for _, file := range f.set.topics[id].files {
		file.bad.Store(true)
	}
	sn := f.st.Snapshot()
	topic, _ := sn.Topics().ByID(id)
	if n, err := f.set.DropDead(ctx, sn, topic); err != nil || n != 1 {
		t.Fatalf("dropped %d files: %v", n, err)
	}
	sn.Release()
	seal()
	f.set.cache.drop(f.set.parts[tp].state.Load().list) // what is read next comes from the file
	check()
}
