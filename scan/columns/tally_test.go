package columns

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"
)

// checkTally holds a block's tally of a column, if it has one, against the visible rows.
func (f *fixture) checkTally(s snapshot, b exec.Block, c scan.Column, v *vector.Vector, from, to int) {
	f.t.Helper()
	y, err := b.(exec.Tallier).Tally(context.Background(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	if y == nil {
		return
	}
	if from != 0 {
		f.t.Fatalf("%s: a tally of rows that are not visible", c.Name(s.table))
	}
	var want, got []string
	place := map[string]int{}
	rows := map[string]int{}
	for i := range to {
		x := vcell(v, i)
		if _, ok := place[x]; !ok {
			place[x] = i
			want = append(want, x)
		}
		rows[x]++
	}
	for i := range y.Values.Len {
		got = append(got, vcell(&y.Values, i))
	}
	if !slices.Equal(got, want) || len(y.Rows) != len(want) || len(y.Firsts) != len(want) {
		f.t.Fatalf("%s: a tally of %v, want %v", c.Name(s.table), got, want)
	}
	for i, x := range want {
		if y.Rows[i] != int64(rows[x]) || int(y.Firsts[i]) != place[x] {
			f.t.Fatalf("%s: %s %d times from row %d, want %d from %d", c.Name(s.table), x, y.Rows[i], y.Firsts[i], rows[x], place[x])
		}
	}
}

func TestATallyIsOfAllRowsOfABlockOrNone(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 64, CacheBytes: 1 << 20})
	id := f.create("t", 1, nil)
	tp := state.TopicPartition{Topic: id}
	add := func(n int) {
		for i := range n {
			f.produce(tp, nil, 0, record{value: fmt.Sprintf(`{"city":"%s","n":%d}`, []string{"Bern", "Wien"}[i%2], i%3)})
		}
	}
	tallies := func(s snapshot) (n int) {
		cols := []scan.Column{{Kind: scan.Expanded, Index: 0}, {Kind: scan.Expanded, Index: 1}}
		blocks, err := f.set.Source(s.Snapshot).Blocks(context.Background(), s.table, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			for _, c := range cols {
				if y, err := b.(exec.Tallier).Tally(context.Background(), c); err != nil {
					t.Fatal(err)
				} else if y != nil {
					n++
				}
			}
			f.rowsOf(s, b, cols)
		}
		return n
	}
	add(100)
	old := f.snapshot("t")
	defer old.Release()
	if n := tallies(old); n != 4 {
		t.Errorf("%d tallies of two blocks, want 4", n)
	}
	add(20)
	s := f.snapshot("t")
	if n := tallies(s); n != 4 {
		t.Errorf("%d tallies of a block and a grown tail, want 4", n)
	}
	s.Release()
	if n := tallies(old); n != 2 { // its tail is made for it alone
		t.Errorf("%d tallies in the older snapshot, want 2", n)
	}
	f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 10}}})
	s = f.snapshot("t")
	defer s.Release()
	tallies(s) // whatever it has is held against the rows
	f.cacheIsConsistent()
}
