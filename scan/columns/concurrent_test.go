package columns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/scan"
	"millrace/store/state"
)

// Queries, producers, the worker and deletes at once: every query has what the row path has in its snapshot.
func TestManyAtOnceSeeTheirSnapshots(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 64, CacheBytes: 64 << 10})
	id := f.create("t", 2, nil)
	const queries, rounds = 4, 40
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Go(func() {
		defer close(done)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range rounds * 4 {
			tp := state.TopicPartition{Topic: id, Partition: int32(r.IntN(2))}
			var recs []record
			for range 1 + r.IntN(40) {
				recs = append(recs, record{value: fmt.Sprintf(`{"n":%d,"s":"v%d","id":"%x"}`, i, r.IntN(5), r.Uint64()), time: 1_700_000_000_000})
			}
			f.produce(tp, nil, 0, recs...)
			if i%20 == 19 {
				if b, err := f.st.Bounds(tp); err == nil && b.End > b.LogStart+200 {
					f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: b.LogStart + 100}}})
				}
			}
		}
	})
	all.Go(func() {
		r := rand.New(rand.NewPCG(2, 2))
		for {
			select {
			case <-done:
				return
			default:
			}
			f.seal(r)
			sn := f.st.Snapshot()
			topic, _ := sn.Topics().ByID(id)
			if _, err := f.set.DropDead(context.Background(), sn, topic); err != nil {
				t.Error(err)
			}
			sn.Release()
		}
	})
	for q := range queries {
		all.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(q)))
			for range rounds {
				s := f.snapshot("t")
				cols := []scan.Column{{Kind: scan.Offset}}
				for i := range s.table.Expanded {
					if r.IntN(2) == 0 {
						cols = append(cols, scan.Column{Kind: scan.Expanded, Index: i})
					}
				}
				want := f.byReader(s, cols, nil)
				if got := f.byBlocks(s, cols, nil); !slices.Equal(got, want) {
					t.Errorf("blocks and reader differ: %s", firstDifference(got, want))
				}
				s.Release()
			}
		})
	}
	all.Wait()
	f.cacheIsConsistent()
}
