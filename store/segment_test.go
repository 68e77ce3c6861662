package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

func seal(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// segmentNames lists the files that lie there.
func segmentNames(t testing.TB, s *Store) []string {
	t.Helper()
	entries, err := s.o.FS.ReadDir(filepath.Join(s.o.Dir, segmentsDir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSealedRecordsReadLikeUnsealedOnes(t *testing.T) {
	s, log := openMem(t)
	id := createTopic(t, s, "a", 3, nil)
	want := map[int32][]string{}
	put := func(p int32, n int) {
		for i := range n {
			v := fmt.Sprintf("%d-%d-%s", p, i, strings.Repeat("x", i%700))
			base := produce(t, s, state.TopicPartition{Topic: id, Partition: p}, rec{int64(i), v}, rec{int64(i + 5), "second"})
			want[p] = append(want[p], fmt.Sprintf("%d:%s", base, v), fmt.Sprintf("%d:second", base+1))
		}
	}
	check := func(s *Store) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Release()
		for p := range int32(3) {
			tp := state.TopicPartition{Topic: id, Partition: p}
			if d := cmp.Diff(want[p], values(t, s, tp)); d != "" {
				t.Fatal(p, d)
			}
			if d := cmp.Diff(want[p], snapshotValues(t, sn, tp)); d != "" {
				t.Fatal(p, d)
			}
		}
	}
	put(0, 400)
	put(2, 10)
	seal(t, s)
	check(s)
	put(0, 50)
	put(1, 400)
	seal(t, s)
	put(2, 20)
	check(s)
	if st := s.Stats(); st.Segments != 2 || st.LogBytes > 10_000 {
		t.Fatalf("%+v", st)
	}
	again := openOver(t, s.o.FS, log.Reopen())
	defer again.Close()
	check(again)
	if s.pub.state.Hash() != again.pub.state.Hash() {
		t.Fatal("hash differs")
	}
}

func TestABatchIteratorFindsTheSameForwardsAndBackwards(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for i := range 600 {
		produce(t, s, tp, rec{int64(i), strings.Repeat("v", i)}, rec{int64(i), "w"})
		if i%250 == 249 {
			seal(t, s)
		}
	}
	sn := s.Snapshot()
	defer sn.Release()
	for _, r := range []BatchRange{
		allOf(0, 1200), allOf(3, 1000), allOf(499, 502), allOf(1199, 5000), allOf(700, 700),
		{FromOffset: 0, ToOffset: 1200, MinTimestamp: 100, MaxTimestamp: 550},
		{FromOffset: 0, ToOffset: 1200, MinTimestamp: 300, MaxTimestamp: 300},
		{FromOffset: 10, ToOffset: 1200, MinTimestamp: 0, MaxTimestamp: 1000, AfterLSN: 444},
	} {
		collect := func(reverse bool) (out []BatchInfo) {
			r.Reverse = reverse
			it, err := sn.Batches(tp, r)
			if err != nil {
				t.Fatal(err)
			}
			defer it.Close()
			for it.Next() {
				if _, err := it.Bytes(); err != nil {
					t.Fatal(err)
				}
				out = append(out, it.Info())
			}
			if it.Err() != nil {
				t.Fatal(it.Err())
			}
			return out
		}
		var want []BatchInfo
		for i := range int64(600) {
			info := BatchInfo{BaseOffset: 2 * i, LastOffset: 2*i + 1, MinTimestamp: i, MaxTimestamp: i}
			if info.LastOffset >= r.FromOffset && info.BaseOffset < r.ToOffset && i >= r.MinTimestamp && i <= r.MaxTimestamp && i+3 > int64(r.AfterLSN) {
				want = append(want, info)
			}
		}
		forward, backward := collect(false), collect(true)
		if len(forward) != len(want) || len(backward) != len(want) {
			t.Fatalf("%+v: %d forward, %d backward, want %d", r, len(forward), len(backward), len(want))
		}
		for i, f := range forward {
			if f.BaseOffset != want[i].BaseOffset || f.LastOffset != want[i].LastOffset || f.MaxTimestamp != want[i].MaxTimestamp || backward[len(want)-1-i] != f {
				t.Fatalf("%+v: %d: %+v, want %+v", r, i, f, want[i])
			}
		}
	}
}

func TestASnapshotReadsOnThroughSealTrimDeleteAndMerge(t *testing.T) {
	s, log := openMem(t, func(o *Options) { o.TailCacheBytes = 1 })
	id := createTopic(t, s, "a", 2, nil)
	tp := state.TopicPartition{Topic: id}
	var want []string
	for i := range 20 {
		produce(t, s, tp, rec{1, fmt.Sprint(i)})
		want = append(want, fmt.Sprintf("%d:%d", i, i))
		if i == 9 {
			seal(t, s)
		}
	}
	sn := s.Snapshot()
	seal(t, s)
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 15}}})
	if err := s.maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(want[15:], values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
	mustCommit(t, s, state.DeleteTopic{ID: id})
	if err := s.maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
	if log.First() > 13 {
		t.Fatalf("the log was truncated to %d under a snapshot", log.First())
	}
	sn.Release()
	if err := s.maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if names := segmentNames(t, s); len(names) != 0 {
		t.Fatalf("left behind: %v", names)
	}
	if log.First() != log.Last()+1 {
		t.Fatalf("the log holds %d to %d", log.First(), log.Last())
	}
}

func TestSegmentsOfFullSizeMergeOnlyWhenThereAreMany(t *testing.T) {
	s, _ := openMem(t, func(o *Options) { o.SealBytes = 5 << 10 })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	after := func(sealed int) int {
		for range sealed {
			produce(t, s, tp, rec{1, strings.Repeat("x", 4<<10)})
			seal(t, s)
		}
		if err := s.maintain(context.Background()); err != nil {
			t.Fatal(err)
		}
		return s.Stats().Segments
	}
	if n := after(manySegments); n != manySegments {
		t.Fatalf("%d segments of full size became %d", manySegments, n)
	}
	if n := after(1); n != manySegments+1-mergeRun+1 {
		t.Fatalf("%d segments are left of one too many", n)
	}
}

func TestManySegmentsMergeIntoFewAndKeepTheirRecords(t *testing.T) {
	s, log := openMem(t)
	id := createTopic(t, s, "a", 2, nil)
	want := map[int32][]string{}
	for i := range 40 {
		p := int32(i % 2)
		base := produce(t, s, state.TopicPartition{Topic: id, Partition: p}, rec{1, fmt.Sprint(i)})
		want[p] = append(want[p], fmt.Sprintf("%d:%d", base, i))
		seal(t, s)
	}
	if err := s.maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Segments; n >= mergeRun || n != len(segmentNames(t, s)) {
		t.Fatalf("%d segments, files %v", n, segmentNames(t, s))
	}
	again := openOver(t, s.o.FS, log.Reopen())
	defer again.Close()
	for p := range int32(2) {
		for _, s := range []*Store{s, again} {
			if d := cmp.Diff(want[p], values(t, s, state.TopicPartition{Topic: id, Partition: p})); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func TestTimesAreFoundInSegments(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for i := range int64(500) {
		produce(t, s, tp, rec{10 * i, strings.Repeat("x", 300)}, rec{10*i + 5, "y"})
	}
	seal(t, s)
	produce(t, s, tp, rec{4, "late"})
	for _, i := range []int64{0, 1, 250, 499} {
		for _, c := range []struct{ ts, offset int64 }{{10*i - 1, 2 * i}, {10 * i, 2 * i}, {10*i + 1, 2*i + 1}} {
			offset, _, found, err := s.OffsetForTime(tp, c.ts, ReadCommitted)
			if offset != c.offset || !found || err != nil {
				t.Errorf("%d: %d %v %v", c.ts, offset, found, err)
			}
		}
	}
	if offset, ts, found, err := s.MaxTimestamp(tp, ReadUncommitted); offset != 999 || ts != 4995 || !found || err != nil {
		t.Error(offset, ts, found, err)
	}
}

func TestRetentionByTimeDropsWholeOldBatches(t *testing.T) {
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	keep := state.TopicPartition{Topic: createTopic(t, s, "compacted", 1, map[string]string{"cleanup.policy": "compact", "retention.ms": "1000"})}
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, map[string]string{"retention.ms": "1000"})}
	for _, p := range []state.TopicPartition{keep, tp} {
		produce(t, s, p, rec{998_000, "old"})
		produce(t, s, p, rec{998_000, "old"}, rec{999_500, "younger"})
		produce(t, s, p, rec{998_000, "old, but behind a younger one"})
		produce(t, s, p, rec{-1, "no timestamp"})
	}
	enforce := func() int64 {
		t.Helper()
		if err := s.EnforceRetention(context.Background()); err != nil {
			t.Fatal(err)
		}
		b, _ := s.Bounds(tp)
		return b.LogStart
	}
	if got := enforce(); got != 1 {
		t.Fatal(got)
	}
	seal(t, s)
	clock.ms.Add(700)
	if got := enforce(); got != 4 {
		t.Fatal(got)
	}
	clock.ms.Add(10_000)
	if got := enforce(); got != 5 {
		t.Fatal(got)
	}
	if b, _ := s.Bounds(keep); b.LogStart != 0 {
		t.Fatalf("a compacted topic was trimmed to %d", b.LogStart)
	}
	if n := s.SizeBytes(tp); n != 0 {
		t.Fatal(n)
	}
}

func TestRetentionWaitsWhenTheClockJumps(t *testing.T) {
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, map[string]string{"retention.ms": "1000000"})}
	produce(t, s, tp, rec{clock.ms.Load(), "v"})
	for _, jump := range []time.Duration{0, 10 * 365 * 24 * time.Hour} {
		clock.ms.Add(jump.Milliseconds())
		if err := s.EnforceRetention(context.Background()); err != nil {
			t.Fatal(err)
		}
		if b, _ := s.Bounds(tp); b.LogStart != 0 {
			t.Fatalf("trimmed after a jump of %v", jump)
		}
	}
}

func TestRetentionBySizeKeepsAtLeastTheLimit(t *testing.T) {
	s, _ := openMem(t)
	size := len(buildBatch(rec{1, "v"}))
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, map[string]string{"retention.bytes": fmt.Sprint(3*size + 1), "retention.ms": "-1"})}
	for i := range 10 {
		produce(t, s, tp, rec{1, "v"})
		if i == 4 {
			seal(t, s)
		}
	}
	if n := s.SizeBytes(tp); n != int64(10*size) {
		t.Fatal(n)
	}
	if err := s.EnforceRetention(context.Background()); err != nil {
		t.Fatal(err)
	}
	if b, _ := s.Bounds(tp); b.LogStart != 6 {
		t.Fatalf("%+v", b)
	}
	if n := s.SizeBytes(tp); n != int64(4*size) {
		t.Fatal(n)
	}
}

func TestASealedMemtableIsLetGoOfByIdlePartitions(t *testing.T) {
	s, _ := openMem(t)
	topic := createTopic(t, s, "t", 3, nil)
	for p := range int32(3) {
		produce(t, s, state.TopicPartition{Topic: topic, Partition: p}, rec{1, "v"})
	}
	seal(t, s)
	busy := state.TopicPartition{Topic: topic, Partition: 1}
	produce(t, s, busy, rec{2, "w"})
	for tp, p := range s.pub.parts {
		if active := s.pub.version.active(); p.mem != nil && p.mem != active || (tp == busy) != (p.mem == active) {
			t.Errorf("partition %d keeps memtable %p, the active one is %p", tp.Partition, p.mem, active)
		}
	}
	if got := values(t, s, busy); !slices.Equal(got, []string{"0:v", "1:w"}) {
		t.Fatal(got)
	}
}
