package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"
	"millrace/store/wal"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"
)

// keyed is one record of a compacted topic; value "-" is a delete marker.
type keyed struct {
	ts         int64
	key, value string
}

func keyedBatch(codec int, recs ...keyed) []byte {
	b := recordbatch.Builder{Codec: codec}
	for _, r := range recs {
		var value []byte
		if r.value != "-" {
			value = []byte(r.value)
		}
		b.Append(r.ts, []byte(r.key), value, []recordbatch.Header{{Key: "h", Value: []byte(r.value)}})
	}
	return b.Build()
}

func produceRaw(t testing.TB, s *Store, tp state.TopicPartition, raw []byte) int64 {
	t.Helper()
	a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{raw})
	if a.err != nil {
		t.Fatal(a.err)
	}
	if err := a.res.Batches[0].Err; err != nil {
		t.Fatal(err)
	}
	return a.res.Batches[0].BaseOffset
}

// walkRecords reads a partition as a consumer does, up to its end, as "offset:key=value@time".
func walkRecords(t testing.TB, s *Store, tp state.TopicPartition) []string {
	t.Helper()
	b, err := s.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for at := b.LogStart; at < b.End; {
		r, err := s.Fetch(tp, at, 400, true, ReadUncommitted)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bytes == 0 {
			t.Fatalf("empty fetch at %d of %+v", at, b)
		}
		for _, run := range r.Batches {
			for len(run) > 0 {
				var batch recordbatch.Batch
				if batch, run, err = recordbatch.Parse(run); err != nil {
					t.Fatal(err)
				}
				if !batch.CheckCRC() || batch.LastOffset() < at {
					t.Fatalf("batch %+v read from %d", batch, at)
				}
				var rd recordbatch.Reader
				if err := rd.Reset(&batch); err != nil {
					t.Fatal(err)
				}
				var rec recordbatch.Record
				for rd.Next(&rec) {
					if rec.Offset < at {
						continue
					}
					value := "-"
					if rec.Value != nil {
						value = string(rec.Value)
					}
					hs, err := rec.Headers(nil)
					if err != nil || len(hs) != 1 || string(hs[0].Value) != value {
						t.Fatalf("offset %d: headers %q, %v", rec.Offset, hs, err)
					}
					out = append(out, fmt.Sprintf("%d:%s=%s@%d", rec.Offset, rec.Key, value, rec.Timestamp))
				}
				if rd.Err() != nil {
					t.Fatal(rd.Err())
				}
				at = batch.LastOffset() + 1
			}
		}
	}
	return out
}

func compactTopic(t testing.TB, s *Store, id state.TopicID) {
	t.Helper()
	if err := s.Compact(context.Background(), id); err != nil {
		t.Fatal(err)
	}
}

func wantRecords(t testing.TB, s *Store, tp state.TopicPartition, want ...string) {
	t.Helper()
	if got := walkRecords(t, s, tp); !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

func TestCompactionKeepsTheNewestRecordOfEachKeyAtItsOffset(t *testing.T) {
	for codec := recordbatch.None; codec <= recordbatch.Zstd; codec++ {
		s, _ := openMem(t)
		id := createTopic(t, s, "c54", 1, map[string]string{"cleanup.policy": "compact"})
		tp := state.TopicPartition{Topic: id}
		produceRaw(t, s, tp, keyedBatch(codec, keyed{10, "a", "0"}, keyed{11, "b", "1"}, keyed{12, "a", "2"}, keyed{13, "c", "3"}, keyed{14, "a", "4"}))
		compactTopic(t, s, id)
		wantRecords(t, s, tp, "1:b=1@11", "3:c=3@13", "4:a=4@14")
		if b, _ := s.Bounds(tp); b.LogStart != 0 || b.End != 5 || b.Dense {
			t.Fatalf("bounds %+v", b)
		}
		produceRaw(t, s, tp, keyedBatch(codec, keyed{20, "b", "5"}))
		wantRecords(t, s, tp, "1:b=1@11", "3:c=3@13", "4:a=4@14", "5:b=5@20")
		compactTopic(t, s, id)
		wantRecords(t, s, tp, "3:c=3@13", "4:a=4@14", "5:b=5@20")
	}
}

func TestDeleteMarkersStayForDeleteRetentionAfterTheirFirstCompaction(t *testing.T) {
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	id := createTopic(t, s, "t", 1, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "5000"})
	tp := state.TopicPartition{Topic: id}
	produceRaw(t, s, tp, keyedBatch(0, keyed{1, "tommy", "3"}))
	produceRaw(t, s, tp, keyedBatch(0, keyed{2, "tommy", "2"}))
	produceRaw(t, s, tp, keyedBatch(0, keyed{3, "tommy", "-"}))
	clock.ms.Add(60_000) // time before the first compaction does not count
	compactTopic(t, s, id)
	wantRecords(t, s, tp, "2:tommy=-@3")
	clock.ms.Add(4999)
	compactTopic(t, s, id)
	wantRecords(t, s, tp, "2:tommy=-@3")
	clock.ms.Add(1)
	if worked, err := s.compactDue(context.Background()); err != nil || !worked {
		t.Fatalf("nothing was due: %v", err)
	}
	wantRecords(t, s, tp)
	if worked, err := s.compactDue(context.Background()); err != nil || worked {
		t.Fatalf("something was due again: %v", err)
	}
	// The end is still where it was, for consumers, and after the next record the place holder is gone.
	if r, err := s.Fetch(tp, 0, 1<<20, true, ReadUncommitted); err != nil || r.Bytes != recordbatch.HeaderBytes {
		t.Fatalf("%d bytes, %v", r.Bytes, err)
	}
	produceRaw(t, s, tp, keyedBatch(0, keyed{9, "x", "1"}))
	compactTopic(t, s, id)
	wantRecords(t, s, tp, "3:x=1@9")
	if n := s.SizeBytes(tp); n > 120 {
		t.Fatalf("%d bytes are left", n)
	}
}

func TestCompactionWaitsForTheDirtyRatioAndTheLags(t *testing.T) {
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	ctx := context.Background()
	due := func() bool {
		t.Helper()
		worked, err := s.compactDue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return worked
	}
	seal := func() {
		t.Helper()
		if err := s.Seal(ctx); err != nil {
			t.Fatal(err)
		}
	}
	id := createTopic(t, s, "ratio", 1, map[string]string{"cleanup.policy": "compact"})
	tp := state.TopicPartition{Topic: id}
	for i := range 10 {
		produceRaw(t, s, tp, keyedBatch(0, keyed{1, fmt.Sprint("k", i), "v"}))
	}
	if due() {
		t.Fatal("the unsealed log was compacted")
	}
	seal()
	if !due() || due() {
		t.Fatal("all dirty, and not compacted once")
	}
	for i := range 10 {
		produceRaw(t, s, tp, keyedBatch(0, keyed{1, fmt.Sprint("k", i), "w"}))
		if seal(); due() != (i == 9) && i < 9 {
			t.Fatalf("compacted with %d of 10 dirty", i+1)
		}
	}

	lag := createTopic(t, s, "lag", 1, map[string]string{"cleanup.policy": "compact", "min.compaction.lag.ms": "1000", "min.cleanable.dirty.ratio": "0"})
	tp = state.TopicPartition{Topic: lag}
	produceRaw(t, s, tp, keyedBatch(0, keyed{clock.ms.Load() - 1000, "a", "1"}))
	produceRaw(t, s, tp, keyedBatch(0, keyed{clock.ms.Load(), "a", "2"}))
	seal()
	for due() {
	}
	if got := walkRecords(t, s, tp); len(got) != 2 {
		t.Fatalf("younger records are no reason to drop older ones: %v", got)
	}
	clock.ms.Add(1000)
	if !due() {
		t.Fatal("old enough, and not due")
	}
	if got := walkRecords(t, s, tp); len(got) != 1 {
		t.Fatal(got)
	}

	soon := createTopic(t, s, "soon", 1, map[string]string{"cleanup.policy": "compact", "max.compaction.lag.ms": "3000", "min.cleanable.dirty.ratio": "1"})
	tp = state.TopicPartition{Topic: soon}
	produceRaw(t, s, tp, keyedBatch(0, keyed{1, "a", "1"}, keyed{1, "a", "2"}))
	clock.ms.Add(2999)
	if due() {
		t.Fatal("max.compaction.lag.ms has not passed")
	}
	clock.ms.Add(1)
	if !due() { // sealed and compacted
		t.Fatal("max.compaction.lag.ms has passed")
	}
	if got := walkRecords(t, s, tp); len(got) != 1 {
		t.Fatal(got)
	}

	s.keeper.compactor.sealPause = 0
	fast := createTopic(t, s, "fast", 1, map[string]string{"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"})
	tp = state.TopicPartition{Topic: fast}
	produceRaw(t, s, tp, keyedBatch(0, keyed{1, "a", "1"}, keyed{1, "a", "2"}))
	clock.ms.Add(100)
	if !due() {
		t.Fatal("segment.ms has passed")
	}
	if got := walkRecords(t, s, tp); len(got) != 1 {
		t.Fatal(got)
	}
}

func TestCompactionWithFewKeysInMemoryGoesPieceByPiece(t *testing.T) {
	s, _ := openMem(t, func(o *Options) { o.CompactKeyBytes = 1 })
	id := createTopic(t, s, "t", 1, map[string]string{"cleanup.policy": "compact"})
	tp := state.TopicPartition{Topic: id}
	const keys = 3000
	for round := range 3 {
		for i := 0; i < keys; i += 50 {
			var recs []keyed
			for k := i; k < i+50; k++ {
				recs = append(recs, keyed{int64(round), fmt.Sprint(k), fmt.Sprint(round)})
			}
			produceRaw(t, s, tp, keyedBatch(recordbatch.LZ4, recs...))
		}
	}
	compactTopic(t, s, id)
	got := walkRecords(t, s, tp)
	if len(got) != keys || !strings.HasPrefix(got[0], "6000:0=2") {
		t.Fatalf("%d records, the first one %s", len(got), got[0])
	}
}

func TestRunningSnapshotsKeepWhatCompactionDrops(t *testing.T) {
	s, _ := openMem(t)
	id := createTopic(t, s, "t", 1, map[string]string{"cleanup.policy": "compact"})
	tp := state.TopicPartition{Topic: id}
	for i := range 20 {
		produceRaw(t, s, tp, keyedBatch(0, keyed{1, "k", fmt.Sprint(i)}))
	}
	sn := s.Snapshot()
	compactTopic(t, s, id)
	if got := snapshotValues(t, sn, tp); len(got) != 20 {
		t.Fatalf("the old snapshot has %d records", len(got))
	}
	sn.Release()
	now := s.Snapshot()
	defer now.Release()
	if got := snapshotValues(t, now, tp); !slices.Equal(got, []string{"19:19"}) {
		t.Fatal(got)
	}
}

// A copy that has no room is not begun: the partition stays as it is, others are compacted, and it is when there is room.
func TestAPartitionWhoseCopyHasNoRoomIsLeftAlone(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewPedanticRegistry()
	s := openOver(t, fs, commitlog.NewMem(), func(o *Options) { o.Registry = reg })
	defer s.Close()
	id := createTopic(t, s, "t", 2, map[string]string{"cleanup.policy": "compact"})
	large, small := state.TopicPartition{Topic: id}, state.TopicPartition{Topic: id, Partition: 1}
	for range 2 {
		produceRaw(t, s, large, keyedBatch(0, keyed{1, "k", strings.Repeat("x", 500_000)}))
		produceRaw(t, s, small, keyedBatch(0, keyed{1, "k", "x"}))
	}
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The large partition's two records do not fit beside what is left for producers.
	fs.SetLimit(fs.Used() + 1_000_000 + 100_000)
	err := s.Compact(context.Background(), id)
	if !errors.Is(err, commitlog.ErrNoSpace) {
		t.Fatal(err)
	}
	if n := len(walkRecords(t, s, large)); n != 2 {
		t.Fatalf("%d records in the large partition", n)
	}
	wantRecords(t, s, small, "1:k=x@1")
	produceRaw(t, s, large, keyedBatch(0, keyed{1, "k", strings.Repeat("x", 500_000)}))
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The worker goes on, too: it counts, and comes back later.
	if worked, err := s.compactDue(context.Background()); !worked && err != nil {
		t.Fatal(err)
	}
	all, err := reg.Gather()
	skipped := 0.0
	for _, f := range all {
		if f.GetName() == "millrace_store_compaction_skipped_total" {
			skipped = f.Metric[0].Counter.GetValue()
		}
	}
	if err != nil || skipped < 1 {
		t.Fatal(skipped, err)
	}
	fs.SetLimit(math.MaxInt64)
	compactTopic(t, s, id)
	if n := len(walkRecords(t, s, large)); n != 1 {
		t.Fatalf("%d records in the large partition", n)
	}
}

func TestOnlyCompactedTopicsAreCompacted(t *testing.T) {
	s, _ := openMem(t)
	id := createTopic(t, s, "t", 1, nil)
	if err := s.Compact(context.Background(), id); !errors.Is(err, ErrNotCompacted) {
		t.Fatal(err)
	}
	if err := s.Compact(context.Background(), state.TopicID{1}); !errors.Is(err, state.ErrUnknownTopic) {
		t.Fatal(err)
	}
}

// merge until nothing is worth it, with every segment worth it.
func mergeEverything(t testing.TB, s *Store) {
	t.Helper()
	s.keeper.seals.Lock()
	defer s.keeper.seals.Unlock()
	if err := s.mergeAll(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfReplacedRecordsAndCopiesGo(t *testing.T) {
	s, _ := openMem(t)
	var ids []state.TopicID
	for i := range 3 {
		ids = append(ids, createTopic(t, s, fmt.Sprint("t", i), 2, map[string]string{"cleanup.policy": "compact"}))
	}
	for round := range 20 {
		for _, id := range ids {
			for p := range int32(2) {
				produceRaw(t, s, state.TopicPartition{Topic: id, Partition: p}, keyedBatch(0, keyed{1, "k", strings.Repeat("x", 1000)}, keyed{1, fmt.Sprint("r", round%3), "y"}))
			}
			compactTopic(t, s, id)
		}
		mergeEverything(t, s)
	}
	for _, id := range ids {
		for p := range int32(2) {
			wantRecords(t, s, state.TopicPartition{Topic: id, Partition: p}, "35:r2=y@1", "37:r0=y@1", "38:k="+strings.Repeat("x", 1000)+"@1", "39:r1=y@1")
		}
	}
	v := s.acquire()
	defer v.unref()
	if len(v.segs) > 2*mergeRun || v.copies != len(v.segs) {
		t.Fatalf("%d segments, %d of them copies", len(v.segs), v.copies)
	}
}

// openFiles opens a store over a log in files.
func openFiles(t testing.TB, o Options) *Store {
	t.Helper()
	log, err := wal.Open(wal.Options{FS: o.FS, Dir: filepath.Join(o.Dir, logDir), FileBytes: o.LogFileBytes, FirstFileBytes: 64 << 10, ReserveBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := openWith(context.Background(), o, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compactModel is a naive partition.
type compactModel struct {
	recs    []modelRec
	start   int64
	end     int64
	horizon map[int64]int64 // of the batch, by its base offset
}

type modelRec struct {
	keyed
	offset, batch int64
}

// compact up to the end, as the rules say.
func (m *compactModel) compact(now, retention int64) {
	newest := map[string]int64{}
	for _, r := range m.recs {
		newest[r.key] = r.offset
	}
	var out []modelRec
	deletes := map[int64]bool{}
	for _, r := range m.recs {
		h, has := m.horizon[r.batch]
		if newest[r.key] != r.offset || r.offset < m.start || r.value == "-" && has && now >= h {
			continue
		}
		if r.value == "-" {
			deletes[r.batch] = true
		}
		out = append(out, r)
	}
	for b := range deletes {
		if _, has := m.horizon[b]; !has {
			m.horizon[b] = now + retention
		}
	}
	m.recs = out
}

func (m *compactModel) want() []string {
	out := []string{}
	for _, r := range m.recs {
		if r.offset >= m.start {
			out = append(out, fmt.Sprintf("%d:%s=%s@%d", r.offset, r.key, r.value, r.ts))
		}
	}
	return out
}

// TestCompactionAgreesWithANaiveOne also checks that what is read forwards and backwards, by time and by snapshot, is the same.
func TestCompactionAgreesWithANaiveOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := newFakeClock(1_000_000)
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/data"); err != nil {
			rt.Fatal(err)
		}
		open := func() *Store {
			o := testOptions(fs)
			o.Now = clock.now
			return openFiles(t, o)
		}
		s := open()
		defer func() { s.Close() }()
		const retention = 1000
		id := createTopic(t, s, "t", 2, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": fmt.Sprint(retention)})
		other := state.TopicPartition{Topic: createTopic(t, s, "plain", 1, nil)}
		models := [2]*compactModel{{horizon: map[int64]int64{}}, {horizon: map[int64]int64{}}}
		plain := 0
		part := func() int { return rapid.IntRange(0, 1).Draw(rt, "partition") }
		tps := [2]state.TopicPartition{{Topic: id}, {Topic: id, Partition: 1}}
		rt.Repeat(map[string]func(*rapid.T){
			"produce": func(rt *rapid.T) {
				p := part()
				m := models[p]
				var recs []keyed
				for range rapid.IntRange(1, 5).Draw(rt, "records") {
					value := "-"
					if rapid.IntRange(0, 3).Draw(rt, "delete") > 0 {
						value = fmt.Sprint(m.end, len(recs))
					}
					recs = append(recs, keyed{rapid.Int64Range(0, 2_000_000).Draw(rt, "time"), fmt.Sprint("k", rapid.IntRange(0, 6).Draw(rt, "key")), value})
				}
				base := produceRaw(t, s, tps[p], keyedBatch(rapid.IntRange(recordbatch.None, recordbatch.Zstd).Draw(rt, "codec"), recs...))
				if base != m.end {
					rt.Fatalf("base offset %d, want %d", base, m.end)
				}
				for _, r := range recs {
					m.recs = append(m.recs, modelRec{r, m.end, base})
					m.end++
				}
			},
			"other topic": func(*rapid.T) {
				produce(t, s, other, rec{1, fmt.Sprint(plain)})
				plain++
			},
			"time passes": func(rt *rapid.T) { clock.ms.Add(rapid.Int64Range(1, 700).Draw(rt, "ms")) },
			"seal": func(*rapid.T) {
				if err := s.Seal(context.Background()); err != nil {
					rt.Fatal(err)
				}
			},
			"merge": func(*rapid.T) { mergeEverything(t, s) },
			"compact": func(*rapid.T) {
				// A partition without anything dirty or due is left alone, which makes no difference to what is in it.
				compactTopic(t, s, id)
				for _, m := range models {
					m.compact(clock.ms.Load(), retention)
				}
			},
			"delete records": func(rt *rapid.T) {
				p := part()
				m := models[p]
				before := rapid.Int64Range(m.start, m.end).Draw(rt, "before")
				mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tps[p], Before: before}}})
				m.start = before
			},
			"restart": func(*rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = open()
			},
			"": func(rt *rapid.T) {
				for p, m := range models {
					if got := walkRecords(t, s, tps[p]); !slices.Equal(got, m.want()) {
						rt.Fatalf("partition %d\ngot  %v\nwant %v", p, got, m.want())
					}
					checkLookups(rt, s, tps[p], m)
				}
				if got := values(t, s, other); len(got) != plain {
					rt.Fatalf("the other topic has %d of %d records", len(got), plain)
				}
			},
		})
	})
}

// checkLookups compares iteration backwards and lookups by time.
func checkLookups(rt *rapid.T, s *Store, tp state.TopicPartition, m *compactModel) {
	sn := s.Snapshot()
	defer sn.Release()
	for _, reverse := range []bool{false, true} {
		r := allOf(0, math.MaxInt64)
		r.Reverse = reverse
		it, err := sn.Batches(tp, r)
		if err != nil {
			rt.Fatal(err)
		}
		last := int64(-1)
		var infos []BatchInfo
		for it.Next() {
			if _, err := it.Bytes(); err != nil {
				rt.Fatal(err)
			}
			infos = append(infos, it.Info())
		}
		if it.Err() != nil {
			rt.Fatal(it.Err())
		}
		it.Close()
		if reverse {
			slices.Reverse(infos)
		}
		for _, i := range infos {
			if i.BaseOffset <= last {
				rt.Fatalf("batches overlap: %+v", infos)
			}
			last = i.LastOffset
		}
		if m.end > m.start && last != m.end-1 {
			rt.Fatalf("batches end at %d, want %d", last, m.end-1)
		}
	}
	ts := rapid.Int64Range(0, 2_000_000).Draw(rt, "lookup")
	want := int64(-1)
	for _, r := range m.recs {
		if r.offset >= m.start && r.ts >= ts {
			want = r.offset
			break
		}
	}
	off, _, found, err := s.OffsetForTime(tp, ts, ReadUncommitted)
	if err != nil || found != (want >= 0) || found && off != want {
		rt.Fatalf("offset for time %d: %d %v %v, want %d", ts, off, found, err, want)
	}
}

// TestACrashWhileCompactingLosesNothingAndBringsNothingBack crashes at every write of a compaction.
func TestACrashWhileCompactingLosesNothingAndBringsNothingBack(t *testing.T) {
	for at := range 40 {
		clock := newFakeClock(1_000_000)
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/data"); err != nil {
			t.Fatal(err)
		}
		o := testOptions(fs)
		o.Now = clock.now
		s := openFiles(t, o)
		id := createTopic(t, s, "t", 1, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "0"})
		tp := state.TopicPartition{Topic: id}
		for i := range 12 {
			value := fmt.Sprint(i)
			if i%4 == 3 {
				value = "-"
			}
			produceRaw(t, s, tp, keyedBatch(0, keyed{1, fmt.Sprint("k", i%3), value}))
		}
		steps := [][]string{walkRecords(t, s, tp)}
		compactTopic(t, s, id)
		steps = append(steps, walkRecords(t, s, tp))
		// From here on the disk takes so many more calls.
		clock.ms.Add(10)
		var calls atomic.Int64
		fs.SetHook(func(e vfs.Event) error {
			if calls.Add(1) > int64(at) {
				return errDiskGone
			}
			return nil
		})
		compacted := s.Compact(context.Background(), id) == nil
		crashed := fs.CrashClone(rand.New(rand.NewPCG(uint64(at), 1)))
		fs.ClearFaults()
		s.Close()
		o.FS = crashed
		s = openFiles(t, o)
		got := walkRecords(t, s, tp)
		s.Compact(context.Background(), id)
		after := walkRecords(t, s, tp)
		s.Close()
		if !slices.Equal(got, steps[1]) && !slices.Equal(got, after) {
			t.Fatalf("crash after %d calls: %v, neither %v nor %v", at, got, steps[1], after)
		}
		if compacted {
			return
		}
	}
	t.Fatal("the compaction never came through")
}

var errDiskGone = errors.New("the disk is gone")
