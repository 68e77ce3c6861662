package columns

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"millrace/internal/vector"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

func valueAt(v *vector.Vector, i int) exec.Const {
	j := i
	if v.Const {
		j = 0
	}
	c := exec.Const{T: exec.Type{Kind: v.Kind, Scale: v.Scale}}
	switch v.Kind {
	case vector.Int:
		c.Int = v.Int(i)
	case vector.Uint:
		c.Uint = v.Uint64[j]
	case vector.Float:
		c.Float = v.Float64[j]
	case vector.Decimal128:
		c.Dec = decimal256.FromDecimal128(v.Dec128[j])
	case vector.Decimal256:
		c.Dec = v.Dec256[j]
	default:
		c.Bytes = v.Text(i)
	}
	return c
}

func compareConst(a, b exec.Const) int {
	switch a.T.Kind {
	case vector.Int:
		return cmp.Compare(a.Int, b.Int)
	case vector.Uint:
		return cmp.Compare(a.Uint, b.Uint)
	case vector.Float:
		return cmp.Compare(a.Float, b.Float)
	case vector.String:
		return bytes.Compare(a.Bytes, b.Bytes)
	}
	return a.Dec.Cmp(b.Dec)
}

// randomValue is a value of a random form; what makes inference widen comes seldom and late.
func randomValue(r *rand.Rand, step int) string {
	if r.IntN(20) == 0 {
		return []string{"", "not json", "[1]", `{"a":`, "\xff\xfe", `{"a":"\ud800"}`}[r.IntN(6)]
	}
	s := fmt.Sprintf(`{"n":%d,"city":"%s","id":"%016x","f":%.3f,"ok":%v`, r.IntN(1000)-500,
		[]string{"Berlin", "Paris", "Zürich", "東京"}[r.IntN(4)], r.Uint64(), r.Float64()*100, r.IntN(2) == 0)
	switch {
	case r.IntN(3) == 0:
		s += `,"sub":{"x":null,"y":[1,2]}`
	case step > 40 && r.IntN(30) == 0:
		s += `,"n":123456789012345678901`
	case step > 60 && r.IntN(30) == 0:
		s += `,"n":"text"`
	case r.IntN(50) == 0:
		s += fmt.Sprintf(`,"late%d":1.5`, step/10)
	}
	return s + "}"
}

// Every snapshot, young or old, of everyone or of the owner of a transaction, has the rows that the row path reads, whatever happened to the topic before and
// after it: batches, transactions, compaction, deletes, sealing, restarts.
func TestBlocksHaveTheRowsThatTheRowPathReads(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, seed, 100)
		})
	}
}

func runModel(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 1))
	f := newFixture(t, Options{BlockRows: 16 << r.IntN(4), BlockBytes: 4096 << r.IntN(6), CacheBytes: 1 << (14 + r.IntN(8))})
	f.fs.Direct(r.IntN(3) > 0)
	compacted := seed%3 == 0
	configs := map[string]string{}
	if compacted {
		configs["cleanup.policy"] = "compact"
		configs["min.cleanable.dirty.ratio"] = "0.01"
	}
	if seed%4 == 1 {
		configs["millrace.columns"] = "n DECIMAL(10,2), city VARCHAR(6), at DATETIME, raw JSON AS (_value->'$.sub'), u INT UNSIGNED AS (_value->>'$.n')"
	}
	id := f.create("t", 2, configs)
	tp := func() state.TopicPartition { return state.TopicPartition{Topic: id, Partition: int32(r.IntN(2))} }
	xs := []*transactor{f.transactor("x"), f.transactor("y"), f.transactor("z")}
	open := make([]bool, len(xs))
	transactional := seed%2 == 0
	snap := func() snapshot {
		if i := r.IntN(2 * len(xs)); transactional && i < len(xs) {
			return f.snapshotOf("t", xs[i])
		}
		return f.snapshot("t")
	}
	var old []snapshot
	defer func() {
		for _, s := range old {
			s.Release()
		}
	}()
	for step := range steps {
		switch k := r.IntN(20); {
		case k < 9:
			var recs []record
			for range 1 + r.IntN(30) {
				rec := record{value: randomValue(r, step), time: 1_700_000_000_000 + int64(r.IntN(1000))}
				if compacted || r.IntN(2) == 0 {
					rec.key = fmt.Sprint("k", r.IntN(20))
				}
				recs = append(recs, rec)
			}
			var x *transactor
			if transactional && r.IntN(2) == 0 {
				i := r.IntN(len(xs))
				x, open[i] = xs[i], true
			}
			f.produce(tp(), x, r.IntN(5), recs...)
		case k < 11:
			i := r.IntN(len(xs))
			if open[i] {
				f.end(xs[i], r.IntN(3) > 0)
				open[i] = false
			}
		case k == 11:
			if err := f.st.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		case k == 12 && compacted:
			if err := f.st.Compact(context.Background(), id); err != nil {
				t.Fatal(err)
			}
		case k == 13 && !compacted:
			p := tp()
			b, err := f.st.Bounds(p)
			if err != nil {
				t.Fatal(err)
			}
			if n := (b.End - b.LogStart) / 3; n > 0 {
				f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: p, Before: b.LogStart + r.Int64N(n)}}})
			}
		case k == 14:
			old = append(old, snap())
			if len(old) > 3 {
				old[0].Release()
				old = old[1:]
			}
		case k == 15 && r.IntN(3) == 0:
			for _, s := range old {
				s.Release()
			}
			old = nil
			f.close()
			f.open()
		case k == 17 && r.IntN(3) == 0:
			f.cool()
		case k == 17:
			f.seal(r)
		case k == 18:
			f.renew()
		case k == 16 && len(old) > 0:
			f.rowsAgree(old[r.IntN(len(old))], r)
		default:
			s := snap()
			f.rowsAgree(s, r)
			s.Release()
		}
	}
	s := f.snapshot("t")
	defer s.Release()
	f.rowsAgree(s, r)
	f.cacheIsConsistent()
}

// cool compresses the oldest file that is not compressed yet.
func (f *fixture) cool() {
	f.t.Helper()
	s := f.snapshot("t")
	defer s.Release()
	if _, _, err := f.set.Cool(context.Background(), s.table.Topic, time.Now().Add(time.Hour), func(context.Context) error { return nil }); err != nil {
		f.t.Fatal(err)
	}
}

// cacheIsConsistent: nothing is pinned, and the bytes add up.
func (f *fixture) cacheIsConsistent() {
	f.t.Helper()
	c := f.set.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	var n int64
	for e := c.lru.Front(); e != nil; e = e.Next() {
		x := e.Value.(*column)
		n += x.bytes
		if x.pins != 0 || x.dropped || x.b.columns[x.key] != x {
			f.t.Errorf("column of %v: %d pins, dropped %v", x.b, x.pins, x.dropped)
		}
	}
	if n != c.used || n > c.limit {
		f.t.Errorf("%d bytes in the list, %d counted, %d allowed", n, c.used, c.limit)
	}
}
