package columns

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// unscaled is row i of a column of integers or decimals.
func unscaled(v *vector.Vector, i int) *big.Int {
	if v.Kind == vector.Int {
		return big.NewInt(v.Int(i))
	}
	if v.Const {
		i = 0
	}
	return v.Dec128[i].BigInt()
}

// checkSums holds a block's sums of a column, if it has some by another one, against the rows, all of which are visible then.
func (f *fixture) checkSums(s snapshot, b exec.Block, by, of scan.Column, keys, v *vector.Vector, to int) {
	f.t.Helper()
	ctx := context.Background()
	got, err := b.(exec.Tallier).Sums(ctx, by, of)
	if err != nil {
		f.t.Fatal(err)
	}
	if got == nil {
		return
	}
	f.summed++
	y, err := b.(exec.Tallier).Tally(ctx, by)
	if err != nil || y == nil {
		f.t.Fatalf("sums without a tally: %v", err)
	}
	type total struct {
		rows             int64
		sum, least, most *big.Int
	}
	want := map[string]*total{}
	for i := range to {
		w := want[vcell(keys, i)]
		if w == nil {
			w = &total{sum: new(big.Int)}
			want[vcell(keys, i)] = w
		}
		if v.IsNull(i) {
			continue
		}
		x := unscaled(v, i)
		if w.rows++; w.rows == 1 || x.Cmp(w.least) < 0 {
			w.least = x
		}
		if w.rows == 1 || x.Cmp(w.most) > 0 {
			w.most = x
		}
		w.sum.Add(w.sum, x)
	}
	for k := range y.Rows {
		w := want[vcell(&y.Values, k)]
		bad := w == nil || got.Rows[k] != w.rows || got.Sum[k].BigInt().Cmp(w.sum) != 0 || got.Min.IsNull(k) != (w.rows == 0) || got.Max.IsNull(k) != (w.rows == 0)
		if !bad && w.rows > 0 {
			bad = unscaled(&got.Min, k).Cmp(w.least) != 0 || unscaled(&got.Max, k).Cmp(w.most) != 0
		}
		if bad {
			f.t.Fatalf("%s by %s, %s: %d rows, sum %v; want %+v", of.Name(s.table), by.Name(s.table), vcell(&y.Values, k), got.Rows[k], got.Sum[k].BigInt(), w)
		}
	}
}

func TestNumbersAreSummedUpByTheValuesOfOtherColumns(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 500, CacheBytes: 1 << 20})
	id := f.create("t", 1, nil)
	tp := state.TopicPartition{Topic: id}
	numbers := []string{"9223372036854775807", "-9223372036854775808", "0", "-1", "null", "70000", "12"}
	for i := range 1200 {
		f.produce(tp, nil, 0, record{time: int64(1000 + i), value: fmt.Sprintf(`{"city":%s,"status":%d,"big":%s,"small":%d,"price":%d.%02d,"bot":%t,"id":"%d","many":%d}`,
			[]string{`"Bern"`, `"Wien"`, "null", `"bern"`}[i*i%7%4], []int{200, 404, 500}[i%3], numbers[i*i%len(numbers)], i%200-100, i%9-4, i%100, i%13 == 0, i, i%97)})
	}
	var cols []scan.Column
	check := func(when string, want int) {
		t.Helper()
		s := f.snapshot("t")
		defer s.Release()
		cols = []scan.Column{{Kind: scan.Partition}, {Kind: scan.Timestamp}}
		for i := range s.table.Expanded {
			cols = append(cols, scan.Column{Kind: scan.Expanded, Index: i})
		}
		f.summed = 0
		f.byBlocks(s, cols, nil)
		if f.summed != want {
			t.Errorf("%s: %d times sums, want %d", when, f.summed, want)
		}
		f.cacheIsConsistent()
	}
	check("hot", 84) // by _partition, city, status and bot, of seven columns each, in three blocks
	s := f.snapshot("t")
	if p, err := f.set.Seal(context.Background(), s.Snapshot, s.table, []int32{0}, true, func(context.Context) error { return nil }); err != nil || p.Blocks != 3 {
		t.Fatalf("sealed %d blocks: %v", p.Blocks, err)
	}
	s.Release()
	check("sealed", 84) // kept
	f.set.cache.drop(f.set.parts[tp].state.Load().list)
	for _, b := range f.set.parts[tp].state.Load().list {
		b.private = false
	}
	check("cold", 66) // those that a file has
	f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 10}}})
	check("after deleting", 72) // of a cut block they are made of its rows
}

func TestNumbersOfEveryFormAreSummedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 90 {
		n := 1 + r.IntN(400)
		valid := func() []uint64 {
			if r.IntN(2) == 0 {
				return nil
			}
			out := make([]uint64, (n+63)/64)
			for i := range out {
				out[i] = r.Uint64() | r.Uint64()
			}
			return out
		}
		ints := func(base, span int64) []int64 {
			out := make([]int64, n)
			for i := range out {
				out[i] = base + r.Int64N(span)
			}
			return out
		}
		bases := []int64{0, -3, 1 << 40, math.MinInt64, math.MaxInt64 - 1<<17}
		base := bases[r.IntN(len(bases))]
		var texts vector.Texts
		texts.Reserve(n)
		for i := range n {
			texts.Put(i, fmt.Appendf(nil, "v%d", r.IntN(20)))
		}
		by := []vector.Vector{texts.Take(n, valid()), vector.OfInts(ints(base, 30), valid()), vector.OfInts(ints(0, 2), nil), vector.OfInts([]int64{int64(base)}, nil).Repeat(n)}
		spread := ints(0, 3)
		for i := range spread {
			spread[i] *= 300
		}
		by = append(by, vector.OfInts(spread, valid()))
		decimals := make([]decimal128.Num, n)
		for i := range decimals {
			if decimals[i] = decimal128.FromI64(ints(-50, 100)[0] << r.IntN(50)); round%3 == 0 && i == n-1 {
				decimals[i] = decimal128.New(1, 0)
			}
		}
		of := []vector.Vector{
			vector.OfInts(ints(base, 1<<[]int{1, 7, 15, 17}[r.IntN(4)]), valid()), vector.OfInts(ints(-1<<62, math.MaxInt64), valid()),
			vector.Nulls(vector.Int, 0, n), vector.OfInts([]int64{base}, nil).Repeat(n), vector.OfDec128(decimals, 2, valid()),
		}
		cut := 0
		if n > 100 { // as of a donor's part: bits begin somewhere
			cut = r.IntN(100)
		}
		var vecs []*vector.Vector
		var tallies []*exec.Tally
		var cols []scan.Column
		for i, v := range slices.Concat(by, of) {
			v := v.Slice(cut, n)
			vecs, cols = append(vecs, &v), append(cols, scan.Column{Kind: scan.Expanded, Index: i})
			if tallies = append(tallies, nil); i < len(by) {
				if tallies[i] = tallyOf(&v); tallies[i] == nil {
					t.Fatalf("round %d: column %d has no tally", round, i)
				}
			}
		}
		var m summing
		all, err := m.block(context.Background(), func(context.Context) error { return nil }, cols, vecs, tallies)
		if err != nil {
			t.Fatal(err)
		}
		for i := range by {
			for j := len(by); j < len(vecs); j++ {
				got := all[i][j]
				if got == nil {
					if v := vecs[j]; v.Kind != vector.Decimal128 || round%3 != 0 {
						t.Fatalf("round %d: no sums of %d by %d", round, j, i)
					}
					continue
				}
				for k := range tallies[i].Rows {
					rows, sum := int64(0), new(big.Int)
					var least, most *big.Int
					for row := range vecs[j].Len {
						if vecs[j].IsNull(row) || vcell(vecs[i], row) != vcell(&tallies[i].Values, k) {
							continue
						}
						x := unscaled(vecs[j], row)
						if rows++; rows == 1 || x.Cmp(least) < 0 {
							least = x
						}
						if rows == 1 || x.Cmp(most) > 0 {
							most = x
						}
						sum.Add(sum, x)
					}
					if got.Rows[k] != rows || got.Sum[k].BigInt().Cmp(sum) != 0 || rows > 0 && (got.Min[k] != least.Int64() || got.Max[k] != most.Int64()) {
						t.Fatalf("round %d: %d by %d, %s: %d rows, sum %v, [%d, %d]; want %d, %v, [%v, %v]", round, j, i, vcell(&tallies[i].Values, k),
							got.Rows[k], got.Sum[k].BigInt(), got.Min[k], got.Max[k], rows, sum, least, most)
					}
				}
			}
		}
	}
}

func BenchmarkSums(b *testing.B) {
	f, s := benchTopic(b)
	defer s.Release()
	ctx := context.Background()
	cols, _ := fileColumns(s.table)
	blocks, err := f.set.Source(s.Snapshot).Blocks(ctx, s.table, cols, nil)
	if err != nil {
		b.Fatal(err)
	}
	vecs, _, _, release, err := blocks[0].Open(ctx, cols)
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	tallies := make([]*exec.Tally, len(vecs))
	for i, v := range vecs {
		tallies[i] = tallyOf(v)
	}
	var m summing
	for b.Loop() {
		if _, err := m.block(ctx, func(context.Context) error { return nil }, cols, vecs, tallies); err != nil {
			b.Fatal(err)
		}
	}
}
