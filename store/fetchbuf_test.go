package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/store/state"
)

func TestReleasedFetchesDoNotDisturbOthers(t *testing.T) {
	s, _ := openMem(t, func(o *Options) { o.TailCacheBytes = 1 }) // all is read from files
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for i := range 64 {
		produce(t, s, tp, rec{1, string(bytes.Repeat([]byte{byte('a' + i%26)}, 5000))})
	}
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	whole, err := s.Fetch(tp, 0, 1<<20, true, ReadUncommitted)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Join(whole.Batches, nil)
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 0))
			for range 200 {
				res, err := s.Fetch(tp, r.Int64N(64), 1+r.IntN(400<<10), true, ReadUncommitted)
				if err != nil {
					t.Error(err)
					return
				}
				kept, err := s.Fetch(tp, 0, 70<<10, true, ReadUncommitted)
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Contains(want, bytes.Join(res.Batches, nil)) || !bytes.HasPrefix(want, bytes.Join(kept.Batches, nil)) {
					t.Error("a fetch shows another one's bytes")
					return
				}
				res.Release()
				res.Release()
			}
		})
	}
	wg.Wait()
	if !bytes.Equal(want, bytes.Join(whole.Batches, nil)) {
		t.Fatal("a fetch that was not released changed")
	}
}

func TestFetchBuffersAreOfTheSizeAskedFor(t *testing.T) {
	for _, n := range []int{0, 1, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 8 << 20, 8<<20 + 1} {
		b := fetchBuffer(n)
		if len(b) != n || cap(b) > max(2*n, 64<<10) {
			t.Fatalf("%d of %d bytes for %d", len(b), cap(b), n)
		}
		recycle(b)
	}
	if slices.ContainsFunc([]int{1, 65536, 3 << 20}, func(n int) bool { return len(fetchBuffer(n)) != n }) {
		t.Fatal("recycled buffers are of another size")
	}
}
