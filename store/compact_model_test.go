package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/state"

	"pgregory.net/rapid"
)

// txnModel is a partition as its producers know it.
type txnModel struct {
	committed map[int64]keyed            // by offset; a tombstone's value is ""
	pending   map[string]map[int64]keyed // by transactional id, and offset
	start     int64
}

func (m *txnModel) end(id string, commit bool) {
	if commit {
		maps.Copy(m.committed, m.pending[id])
	}
	delete(m.pending, id)
}

// firstOpen is the offset at which the last stable offset stands; end without an open transaction.
func (m *txnModel) firstOpen(end int64) int64 {
	for _, open := range m.pending {
		for o := range open {
			end = min(end, o)
		}
	}
	return end
}

// check compares what is visible with the model: nothing that was not committed, as it was written; of each key its newest
// committed record, but for a tombstone that went, and then nothing of the key.
func (m *txnModel) check(t *rapid.T, visible map[int64]keyed) {
	newest := map[string]int64{}
	for o, k := range m.committed {
		if at, ok := newest[k.key]; o >= m.start && (!ok || o > at) {
			newest[k.key] = o
		}
	}
	for o, k := range visible {
		if want, ok := m.committed[o]; !ok || o < m.start || want != k {
			t.Fatalf("offset %d has %v, committed was %v (%v); the log starts at %d", o, k, want, ok, m.start)
		}
		if last := newest[k.key]; visible[last].key == "" {
			t.Fatalf("%v at %d is visible, and its key's newest record, %v at %d, is not", k, o, m.committed[last], last)
		}
	}
	for key, o := range newest {
		if _, ok := visible[o]; !ok && m.committed[o].value != "" {
			t.Fatalf("the newest record of %s, at %d, is gone", key, o)
		}
	}
}

// visibleRecords is what a snapshot has of a partition, committed above the last stable offset included.
func visibleRecords(t testing.TB, s *Store, tp state.TopicPartition) (all, stable map[int64]keyed, b state.Bounds) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	it, err := sn.Batches(tp, allOf(0, b.End))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	all, stable = map[int64]keyed{}, map[int64]keyed{}
	for it.Next() {
		raw, err := it.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		k, _, _ := recordbatch.Parse(raw)
		recordsOf(t, all, &k, b.LogStart)
		if k.LastOffset() < b.LastStable {
			recordsOf(t, stable, &k, b.LogStart)
		}
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return all, stable, b
}

// Random transactions, plain records, tombstones and deleted records over two partitions of a compacted topic: whatever is
// sealed, merged and compacted in between, and wherever the machine stops, also in the middle of a compaction.
func TestCompactedTransactionsAgreeWithTheirProducers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := newFakeClock(1_000_000)
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/data"); err != nil {
			rt.Fatal(err)
		}
		open := func() *Store {
			o := testOptions(fs)
			o.Now = clock.now
			o.CompactKeyBytes = 1 // the least table
			return openFiles(t, o)
		}
		s := open()
		defer func() { s.Close() }()
		id := createTopic(t, s, "t", 2, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "300"})
		tps := [2]state.TopicPartition{{Topic: id}, {Topic: id, Partition: 1}}
		var models [2]*txnModel
		for p := range models {
			models[p] = &txnModel{committed: map[int64]keyed{}, pending: map[string]map[int64]keyed{}}
		}
		producers := map[string]*transactor{}
		names := []string{"a", "b", "c"}
		for _, name := range names {
			producers[name] = newTransactor(t, s, name)
		}
		producers["c"].bump = true
		adopt := func(image *vfs.Mem) {
			fs = image
			s = open()
			for _, x := range producers {
				x.s = s
			}
		}
		written := 0
		draw := func(rt *rapid.T) (recs []keyed) {
			for range rapid.IntRange(1, 4).Draw(rt, "records") {
				k := keyed{int64(written), fmt.Sprint("k", rapid.IntRange(0, 5).Draw(rt, "key")), fmt.Sprint("v", written)}
				if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
					k.value = "-"
				}
				written++
				recs = append(recs, k)
			}
			return recs
		}
		note := func(to map[int64]keyed, base int64, recs []keyed) {
			for i, k := range recs {
				if k.value == "-" {
					k.value = ""
				}
				to[base+int64(i)] = k
			}
		}
		partition := func(rt *rapid.T) int { return rapid.IntRange(0, 1).Draw(rt, "partition") }
		codec := func(rt *rapid.T) int { return rapid.IntRange(recordbatch.None, recordbatch.Zstd).Draw(rt, "codec") }
		rt.Repeat(map[string]func(*rapid.T){
			"produce": func(rt *rapid.T) {
				p, recs := partition(rt), draw(rt)
				note(models[p].committed, produceRaw(t, s, tps[p], keyedBatch(codec(rt), recs...)), recs)
			},
			"produce in a transaction": func(rt *rapid.T) {
				p, recs, name := partition(rt), draw(rt), rapid.SampledFrom(names).Draw(rt, "producer")
				base := producers[name].produceKeyed(tps[p], codec(rt), recs...)
				if models[p].pending[name] == nil {
					models[p].pending[name] = map[int64]keyed{}
				}
				note(models[p].pending[name], base, recs)
			},
			"end": func(rt *rapid.T) {
				name := rapid.SampledFrom(names).Draw(rt, "producer")
				if models[0].pending[name] == nil && models[1].pending[name] == nil {
					rt.Skip("nothing is open")
				}
				commit := rapid.IntRange(0, 2).Draw(rt, "commit") > 0
				producers[name].end(commit)
				for _, m := range models {
					m.end(name, commit)
				}
			},
			"take over": func(rt *rapid.T) {
				name := rapid.SampledFrom(names).Draw(rt, "producer")
				producers[name].init()
				for _, m := range models {
					m.end(name, false)
				}
			},
			"time passes": func(rt *rapid.T) { clock.ms.Add(rapid.Int64Range(1, 200).Draw(rt, "ms")) },
			"seal": func(rt *rapid.T) {
				if err := s.Seal(context.Background()); err != nil {
					rt.Fatal(err)
				}
			},
			"merge":   func(*rapid.T) { mergeEverything(t, s) },
			"compact": func(*rapid.T) { compactTopic(t, s, id) },
			"delete records": func(rt *rapid.T) {
				p := partition(rt)
				b, err := s.Bounds(tps[p])
				if err != nil {
					rt.Fatal(err)
				}
				before := rapid.Int64Range(b.LogStart, b.LastStable).Draw(rt, "before")
				mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tps[p], Before: before}}})
				models[p].start = before
			},
			"restart": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				adopt(fs)
			},
			"crash while compacting": func(rt *rapid.T) {
				at := rapid.IntRange(1, 30).Draw(rt, "call")
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "what survives"), 0))
				var mu sync.Mutex // the maintenance writes, too
				var image *vfs.Mem
				calls := 0
				old := fs
				fs.SetHook(func(vfs.Event) error {
					mu.Lock()
					defer mu.Unlock()
					if calls++; calls == at {
						image = old.CrashClone(r)
					}
					return nil
				})
				compactTopic(t, s, id)
				fs.SetHook(nil)
				mu.Lock()
				if image == nil {
					image = old.CrashClone(r)
				}
				mu.Unlock()
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				adopt(image)
			},
			"": func(rt *rapid.T) {
				for p, m := range models {
					all, stable, b := visibleRecords(t, s, tps[p])
					m.check(rt, all)
					if want := m.firstOpen(b.End); b.LastStable != want || b.LogStart != m.start {
						rt.Fatalf("partition %d: bounds %+v, want last stable %d and start %d", p, b, want, m.start)
					}
					if fetched := committedRecords(t, s, tps[p], rapid.IntRange(1, 700).Draw(rt, "fetch")); !maps.Equal(fetched, stable) {
						rt.Fatalf("partition %d: fetched %v, in the snapshot %v", p, sorted(fetched), sorted(stable))
					}
				}
			},
		})
		// All is decided, and long ago: what is left is the newest record of each key.
		for _, name := range names {
			producers[name].init()
			for _, m := range models {
				m.end(name, false)
			}
		}
		for range 3 {
			compactTopic(t, s, id)
			clock.ms.Add(400)
		}
		for p, m := range models {
			all, _, _ := visibleRecords(t, s, tps[p])
			m.check(rt, all)
			if !maps.Equal(valuesByKey(all), newestOf(fromOffset(m.committed, m.start))) || len(all) != len(valuesByKey(all)) {
				rt.Fatalf("partition %d: %v is left, want %v", p, sorted(all), newestOf(fromOffset(m.committed, m.start)))
			}
		}
	})
}

func fromOffset(all map[int64]keyed, start int64) map[int64]keyed {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(o int64, _ keyed) bool { return o < start })
	return out
}

func valuesByKey(all map[int64]keyed) map[string]string {
	out := map[string]string{}
	for _, k := range all {
		out[k.key] = k.value
	}
	return out
}

func sorted(all map[int64]keyed) (out []string) {
	for _, o := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fmt.Sprint(o, all[o]))
	}
	return out
}
