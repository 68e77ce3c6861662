package store

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/state"
)

// TestReadersSeeEverythingWhileRangesAreSealedAndMerged has producers, consumers and
// snapshots run beside sealing and merging: counts never fall, nothing is skipped or changed.
func TestReadersSeeEverythingWhileRangesAreSealedAndMerged(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SealBytes = 20_000
	o.TailCacheBytes = 5_000
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	const partitions, perPartition = 3, 700
	id := createTopic(t, s, "a", partitions, nil)
	var wg sync.WaitGroup
	produced := make(chan struct{})
	var producers sync.WaitGroup
	for p := range int32(partitions) {
		tp := state.TopicPartition{Topic: id, Partition: p}
		producers.Add(1)
		go func() {
			defer producers.Done()
			for i := range perPartition {
				produce(t, s, tp, rec{int64(i), fmt.Sprintf("%d-%s", i, strings.Repeat("x", i%50))})
			}
		}()
		wg.Add(1)
		go func() { // a consumer that follows, waiting for what comes
			defer wg.Done()
			w := s.Watch([]state.TopicPartition{tp})
			defer w.Close()
			for at := int64(0); at < perPartition; {
				r, err := s.Fetch(tp, at, 2000, true, ReadCommitted)
				if err != nil {
					t.Error(err)
					return
				}
				if r.Bytes == 0 {
					<-w.C
					continue
				}
				for _, run := range r.Batches {
					for len(run) > 0 {
						var got []string
						before := at
						got, at, run = decode(t, run, at)
						if want := fmt.Sprintf("%d:%d-", before, before); !strings.HasPrefix(got[0], want) {
							t.Errorf("partition %d: %s at %d", p, got[0], before)
							return
						}
					}
				}
			}
		}()
	}
	go func() {
		producers.Wait()
		close(produced)
	}()
	wg.Add(2)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-produced:
				return
			default:
			}
			if err := s.maintain(context.Background()); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	go func() { // snapshots: every record once, and never fewer than before
		defer wg.Done()
		last := 0
		for done := false; !done; {
			select {
			case <-produced:
				done = true
			default:
			}
			sn := s.Snapshot()
			n := 0
			for p := range int32(partitions) {
				tp := state.TopicPartition{Topic: id, Partition: p}
				b, _ := sn.Bounds(tp)
				it, err := sn.Batches(tp, allOf(0, b.End))
				if err != nil {
					t.Error(err)
					return
				}
				next := int64(0)
				for it.Next() {
					raw, err := it.Bytes()
					if err != nil || it.Info().BaseOffset != next || !bytes.Contains(raw, fmt.Appendf(nil, "%d-", next)) {
						t.Errorf("partition %d: batch at %d, want %d, %v", p, it.Info().BaseOffset, next, err)
						return
					}
					next = it.Info().LastOffset + 1
					n++
				}
				if it.Err() != nil || next != b.End {
					t.Errorf("partition %d: ended at %d of %d, %v", p, next, b.End, it.Err())
				}
				it.Close()
			}
			sn.Release()
			if n < last {
				t.Errorf("%d records after %d", n, last)
			}
			last = n
		}
	}()
	wg.Wait()
	if st := s.Stats(); st.Segments == 0 {
		t.Error("nothing was sealed meanwhile")
	}
	checkIdle(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
