package store

import (
	"context"
	"fmt"
	"math"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// compressed builds a batch whose header claims another maximum than its records have.
func compressed(claimed int64, recs ...rec) []byte {
	b := recordbatch.Builder{Codec: recordbatch.Zstd}
	for _, r := range recs {
		b.Append(r.ts, nil, []byte(r.value), nil)
	}
	raw := b.Build()
	recordbatch.SetCreateTime(raw, claimed)
	return raw
}

func TestAHeaderThatLiesAboutTimesHidesNoRecord(t *testing.T) {
	s, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	produceRaw := func(raw []byte) {
		t.Helper()
		a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{raw})
		if a.err != nil || a.res.Batches[0].Err != nil {
			t.Fatal(a)
		}
	}
	produce(t, s, tp, rec{5000, "a"})
	produceRaw(compressed(10, rec{7000, "b"}, rec{9000, "c"}, rec{100, "d"})) // claims less
	produceRaw(compressed(99_000, rec{300, "e"}, rec{200, "f"}))              // claims more
	produceRaw(compressed(400, rec{400, "g"}, rec{9000, "h"}))

	check := func(t *testing.T, s *Store) {
		t.Helper()
		if o, ts, ok, err := s.MaxTimestamp(tp, ReadUncommitted); o != 2 || ts != 9000 || !ok || err != nil {
			t.Errorf("highest timestamp: offset %d, %d, %v, %v", o, ts, ok, err)
		}
		for _, c := range []struct{ at, offset int64 }{{0, 0}, {5001, 1}, {7001, 2}, {9000, 2}} {
			if o, _, ok, err := s.OffsetForTime(tp, c.at, ReadUncommitted); o != c.offset || !ok || err != nil {
				t.Errorf("offset for %d: %d, %v, %v; want %d", c.at, o, ok, err, c.offset)
			}
		}
		if o, _, ok, err := s.OffsetForTime(tp, 9001, ReadUncommitted); ok || err != nil {
			t.Errorf("offset for 9001: %d, %v", o, err)
		}
		sn := s.Snapshot()
		defer sn.Release()
		for _, c := range []struct {
			from, to int64
			batch    int64 // that must be among those in the range
		}{{7000, 7000, 1}, {100, 100, 1}, {8000, math.MaxInt64, 1}, {200, 250, 4}, {8999, 9001, 6}} {
			it, err := sn.Batches(tp, BatchRange{ToOffset: math.MaxInt64, MinTimestamp: c.from, MaxTimestamp: c.to})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for it.Next() {
				found = found || it.Info().BaseOffset == c.batch
			}
			if it.Close(); !found {
				t.Errorf("[%d, %d] leaves out the batch at %d", c.from, c.to, c.batch)
			}
		}
	}
	t.Run("unsealed", func(t *testing.T) { check(t, s) })
	t.Run("after a restart", func(t *testing.T) {
		again := openOver(t, s.o.FS, log.Reopen())
		defer again.Close()
		check(t, again)
	})
	seal(t, s)
	t.Run("sealed", func(t *testing.T) { check(t, s) })

	// Sealing looked, so that time ranges save work again.
	sn := s.Snapshot()
	defer sn.Release()
	it, err := sn.Batches(tp, allOf(0, math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	var got []string
	for it.Next() {
		got = append(got, fmt.Sprint(it.Info().MinTimestamp, it.Info().MaxTimestamp))
	}
	if want := "[5000 5000 100 9000 200 300 400 9000]"; fmt.Sprint(got) != want {
		t.Fatalf("%v, want %s", got, want)
	}
}

func TestRetentionGoesByTheHeaderOfABatchThatNobodyLookedInto(t *testing.T) {
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, map[string]string{"retention.ms": "1000"})}
	for i, claimed := range []int64{900_000, 999_500} {
		a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{compressed(claimed, rec{int64(i), "x"})})
		if a.err != nil {
			t.Fatal(a.err)
		}
	}
	if err := s.EnforceRetention(context.Background()); err != nil {
		t.Fatal(err)
	}
	if b, _ := s.Bounds(tp); b.LogStart != 1 {
		t.Fatalf("log start %d, want 1", b.LogStart)
	}
}
