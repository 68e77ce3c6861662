package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/state"
)

// produceKeyed is produce with keys. It returns the base offset.
func (x *transactor) produceKeyed(tp state.TopicPartition, codec int, recs ...keyed) (base int64) {
	x.t.Helper()
	raw := keyedBatch(codec, recs...)
	raw[22] |= 0x10
	recordbatch.SetProducer(raw, x.pid, x.epo, x.seq[tp])
	x.seq[tp] += int32(len(recs))
	b := batchOf(tp, raw)
	b.Transactional = true
	c := make(chan error, 1)
	err := x.s.Submit(context.Background(), state.Produce{Batches: []state.Batch{b}, TransactionalID: x.id, AddPartitions: true}, [][]byte{raw}, func(res any, err error) {
		if err == nil {
			r := res.(state.ProduceResult).Batches[0]
			base, err = r.BaseOffset, r.Err
		}
		c <- err
	})
	if err == nil {
		err = <-c
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return base
}

// recordsOf adds the records of a batch from offset from on.
func recordsOf(t testing.TB, out map[int64]keyed, b *recordbatch.Batch, from int64) {
	t.Helper()
	var rd recordbatch.Reader
	if err := rd.Reset(b); err != nil {
		t.Fatal(err)
	}
	var rec recordbatch.Record
	for rd.Next(&rec) {
		if rec.Offset >= from {
			out[rec.Offset] = keyed{rec.Timestamp, string(rec.Key), string(rec.Value)}
		}
	}
	if rd.Err() != nil {
		t.Fatal(rd.Err())
	}
}

// committedRecords reads as a read_committed consumer does, up to the last stable offset, by at most maxBytes.
func committedRecords(t testing.TB, s *Store, tp state.TopicPartition, maxBytes int) map[int64]keyed {
	t.Helper()
	b, err := s.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]keyed{}
	for at := b.LogStart; at < b.LastStable; {
		f, err := s.Fetch(tp, at, maxBytes, true, ReadCommitted)
		if err != nil || f.Bytes == 0 {
			t.Fatalf("fetch at %d of %+v: %d bytes, %v", at, b, f.Bytes, err)
		}
		aborted := map[int64]bool{}
		for _, run := range f.Batches {
			for len(run) > 0 {
				var k recordbatch.Batch
				if k, run, err = recordbatch.Parse(run); err != nil {
					t.Fatal(err)
				}
				for len(f.Aborted) > 0 && f.Aborted[0].FirstOffset <= k.LastOffset() {
					aborted[f.Aborted[0].ProducerID] = true
					f.Aborted = f.Aborted[1:]
				}
				switch {
				case k.Control():
					if m, err := recordbatch.ParseMarker(&k); err != nil {
						t.Fatal(err)
					} else if !m.Commit {
						delete(aborted, k.ProducerID)
					}
				case !k.Transactional() || !aborted[k.ProducerID]:
					recordsOf(t, out, &k, at)
				}
				at = k.LastOffset() + 1
			}
		}
	}
	return out
}

// newestOf is the newest value of each key.
func newestOf(all map[int64]keyed) map[string]string {
	out := map[string]string{}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if v := all[at].value; v == "" {
			delete(out, all[at].key)
		} else {
			out[all[at].key] = v
		}
	}
	return out
}

// Whatever is compacted, merged and restarted between and in transactions: readers of committed records find the same newest
// record of each key, over fetches of any size and in snapshots, and nothing of aborted transactions.
func TestCompactionNeverShowsAbortedRecordsNorLosesCommittedOnes(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		clock := newFakeClock(1_000_000)
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/data"); err != nil {
			t.Fatal(err)
		}
		o := testOptions(fs)
		o.Now = clock.now
		o.CompactKeyBytes = 1 // the least table: many passes
		s := openFiles(t, o)
		id := createTopic(t, s, "t", 1, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "50"})
		tp := state.TopicPartition{Topic: id}
		txns := []*transactor{newTransactor(t, s, "a"), newTransactor(t, s, "b"), newTransactor(t, s, "c")}
		pending := make([]map[string]string, len(txns)) // nil: none is open
		model := map[string]string{}
		put := func(m map[string]string, k keyed) {
			m[k.key] = k.value
		}
		check := func(where string) {
			t.Helper()
			got := committedRecords(t, s, tp, 1+r.IntN(600))
			sn := s.Snapshot()
			defer sn.Release()
			b, _ := sn.Bounds(tp)
			it, err := sn.Batches(tp, allOf(0, b.LastStable))
			if err != nil {
				t.Fatal(err)
			}
			defer it.Close()
			seen := map[int64]keyed{}
			for it.Next() {
				raw, err := it.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				k, _, _ := recordbatch.Parse(raw)
				recordsOf(t, seen, &k, 0)
			}
			if it.Err() != nil || !maps.Equal(got, seen) {
				t.Fatalf("seed %d, %s: fetched %v, in the snapshot %v, %v", seed, where, got, seen, it.Err())
			}
			if b.LastStable == b.End && !maps.Equal(newestOf(got), model) {
				t.Fatalf("seed %d, %s: newest %v, want %v", seed, where, newestOf(got), model)
			}
		}
		for step := range 200 {
			clock.ms.Add(int64(r.IntN(10)))
			k := keyed{int64(step), fmt.Sprint("k", r.IntN(6)), fmt.Sprint(step)}
			if r.IntN(5) == 0 {
				k.value = "-"
			}
			i := r.IntN(len(txns))
			switch n := r.IntN(20); {
			case n < 5:
				produceRaw(t, s, tp, keyedBatch(recordbatch.Zstd, k))
				put(model, k)
			case n < 12:
				if pending[i] == nil {
					pending[i] = map[string]string{}
				}
				// Nobody else writes its keys, so that the order of commits does not matter.
				k.key = fmt.Sprint("x", i, r.IntN(3))
				txns[i].produceKeyed(tp, recordbatch.None, k)
				put(pending[i], k)
			case n < 16:
				if pending[i] != nil {
					commit := r.IntN(3) > 0
					txns[i].end(commit)
					if commit {
						maps.Copy(model, pending[i])
					}
					pending[i] = nil
				}
			case n < 17:
				if err := s.Seal(context.Background()); err != nil {
					t.Fatal(err)
				}
			case n < 18:
				mergeEverything(t, s)
			case n < 19:
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = openFiles(t, o)
				for _, x := range txns {
					x.s = s
				}
			default:
				compactTopic(t, s, id)
			}
			maps.DeleteFunc(model, func(_, v string) bool { return v == "-" })
			check(fmt.Sprint("step ", step))
		}
		for i, x := range txns {
			if pending[i] != nil {
				x.end(false)
			}
		}
		compactTopic(t, s, id)
		clock.ms.Add(100)
		compactTopic(t, s, id)
		check("at the end")
		if all := committedRecords(t, s, tp, 1000); len(all) != len(model) {
			t.Fatalf("seed %d: %v is left, want %v", seed, all, model)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
