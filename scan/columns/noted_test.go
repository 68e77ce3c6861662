package columns

import (
	"context"
	"fmt"
	"testing"

	"millrace/scan"
	"millrace/store/state"
)

func TestACountIsKeptWithItsBlockUntilAnotherQuestionOrAnotherBlock(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 16})
	id := f.create("t", 1, nil)
	tp := state.TopicPartition{Topic: id}
	for i := range 20 {
		f.produce(tp, nil, 0, record{value: fmt.Sprintf(`{"n":%d}`, i), time: 1000})
	}
	old := f.snapshot("t")
	defer old.Release()
	counted := 0
	rows := func(s snapshot, of string) (n int64) {
		t.Helper()
		blocks, err := f.set.Source(s.Snapshot).Blocks(context.Background(), s.table, []scan.Column{{Kind: scan.Offset}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			got, err := b.(*view).Noted(of, func(_ int32, from, to int64) ([]int64, error) {
				counted++
				return []int64{to - from}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			n += got[0]
			got[0] = -1 // it is the caller's
		}
		return n
	}
	for i, want := range []struct {
		of      string
		counted int
	}{{"a", 2}, {"a", 2}, {"b", 4}, {"b", 4}, {"a", 6}} {
		if n := rows(old, want.of); n != 20 || counted != want.counted {
			t.Errorf("%d: %d rows, counted %d times, want %d", i, n, counted, want.counted)
		}
	}
	// What comes is counted alone, and what is cut off at the front has the rest of its block counted again.
	f.produce(tp, nil, 0, record{value: "{}", time: 1000})
	now := f.snapshot("t")
	defer now.Release()
	f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 3}}})
	cut := f.snapshot("t")
	defer cut.Release()
	for i, want := range []struct {
		s             snapshot
		rows, counted int
	}{{now, 21, 7}, {now, 21, 7}, {old, 20, 7}, {cut, 18, 8}, {cut, 18, 8}} {
		if n := rows(want.s, "a"); n != int64(want.rows) || counted != want.counted {
			t.Errorf("%d: %d rows, counted %d times, want %d", i, n, counted, want.counted)
		}
	}
}
