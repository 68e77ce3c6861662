package store

import (
	"context"
	"fmt"
	"math"
	"testing"

	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

// ownView words what a snapshot sees of a partition: the base offsets of batches, those of its own transaction with a
// plus, and where that begins.
func ownView(t testing.TB, sn *Snapshot, tp state.TopicPartition) string {
	t.Helper()
	it, err := sn.Batches(tp, allOf(0, math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	out := ""
	for it.Next() {
		if _, err := it.Bytes(); err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprint(it.Info().BaseOffset)
		if it.Info().Own {
			out += "+"
		}
		out += " "
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	first, any, err := sn.OwnFrom(tp)
	if err != nil {
		t.Fatal(err)
	}
	if any {
		return out + fmt.Sprintf("from %d", first)
	}
	return out + "none"
}

// checkOwn compares with the oracle what the owner of each open transaction sees.
func (o *oraclePart) checkOwn(t testing.TB, s *Store, tp state.TopicPartition) {
	t.Helper()
	for producer, mine := range o.open {
		sn := s.SnapshotOf(producer)
		b, err := sn.Bounds(tp)
		if err != nil {
			t.Fatal(err)
		}
		want, others, first := "", "", "none"
		for i, k := range o.batches {
			own := len(mine) > 0 && mine[0] == i
			if own {
				mine = mine[1:]
				if first == "none" {
					first = fmt.Sprintf("from %d", k.base)
				}
			}
			if k.last < b.LogStart || !k.data {
				continue
			}
			if own {
				want += fmt.Sprintf("%d+ ", k.base)
			} else if k.visible > 0 {
				want += fmt.Sprintf("%d ", k.base)
				others += fmt.Sprintf("%d ", k.base)
			}
		}
		if b.LogStart >= b.End {
			first = "none"
		}
		if d := cmp.Diff(want+first, ownView(t, sn, tp)); d != "" {
			t.Fatalf("%v: producer %d (-want +got):\n%s", tp, producer, d)
		}
		if d := cmp.Diff(others+"none", ownView(t, sn.Others(), tp)); d != "" {
			t.Fatalf("%v: others than producer %d (-want +got):\n%s", tp, producer, d)
		}
		sn.Release()
	}
}

func TestASnapshotOfAProducerHoldsItsOpenTransactionUntilItsRelease(t *testing.T) {
	for _, commit := range []bool{true, false} {
		s, _ := openMem(t)
		tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
		elsewhere := state.TopicPartition{Topic: createTopic(t, s, "b", 1, nil)}
		x, y := newTransactor(t, s, "x"), newTransactor(t, s, "y")
		expect := func(sn *Snapshot, want string) {
			t.Helper()
			if got := ownView(t, sn, tp); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := ownView(t, sn, elsewhere); got != "none" {
				t.Error("a partition that was not written to:", got)
			}
		}
		x.produce(tp, rec{1, "earlier"}) // 0, marker 1
		x.end(true)
		produce(t, s, tp, rec{1, "plain"}) // 2
		y.produce(tp, rec{2, "other"})     // 3
		x.produce(tp, rec{3, "own"})       // 4
		sn := s.SnapshotOf(x.pid)
		defer sn.Release()
		expect(sn, "0 2 4+ from 4")
		expect(sn.Others(), "0 2 none")
		x.produce(tp, rec{4, "later"}) // 5
		expect(sn, "0 2 4+ from 4")
		x.end(commit) // marker 6
		y.end(true)   // marker 7
		// The next transaction of the producer is behind the snapshot.
		x.produce(tp, rec{5, "next"}) // 8
		for range 2 {
			expect(sn, "0 2 4+ from 4")
			expect(sn.Others(), "0 2 none")
			// What is decided comes into another memtable, and from there into a segment.
			if err := s.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		now := s.SnapshotOf(x.pid)
		if commit {
			expect(now, "0 2 3 4 5 8+ from 8")
		} else {
			expect(now, "0 2 3 8+ from 8")
		}
		now.Release()
	}
}

func TestASnapshotOfNoOpenTransactionIsLikeAnyOther(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	x := newTransactor(t, s, "x")
	x.produce(tp, rec{1, "x"})
	for _, producer := range []int64{NoProducer, x.pid + 100} {
		sn := s.SnapshotOf(producer)
		if got := ownView(t, sn, tp); got != "none" {
			t.Errorf("producer %d sees %q", producer, got)
		}
		sn.Release()
	}
	x.end(true)
	sn := s.SnapshotOf(x.pid)
	defer sn.Release()
	if got := ownView(t, sn, tp); got != "0 none" {
		t.Errorf("after the end %q", got)
	}
}
