package store

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// Blocks are read several at once when one comes after the other, past the system's cache where that is asked for.
func TestBatchesOfSegmentsAreTheSameHoweverTheyAreRead(t *testing.T) {
	dir := t.TempDir()
	s := openOver(t, vfs.OS{}, commitlog.NewMem(), func(o *Options) { o.Dir = dir })
	t.Cleanup(func() { s.Close() })
	tp := state.TopicPartition{Topic: createTopic(t, s, "t", 2, nil)}
	r := rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	for i := range 300 {
		size := []int{10, 1000, 60_000, 100_000, 200_000}[r.IntN(5)]
		value := make([]byte, size)
		for j := range value {
			value[j] = byte(r.Uint32())
		}
		produce(t, s, tp, rec{ts: 1000 + int64(i), value: string(value)})
		want = append(want, value)
		if i%7 == 0 {
			produce(t, s, state.TopicPartition{Topic: tp.Topic, Partition: 1}, rec{ts: 1000, value: "other"})
		}
		if i == 200 {
			if err := s.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	defer sn.Release()
	for _, c := range []struct {
		from    int
		once    bool
		reverse bool
		skip    int // of so many batches only one is read
	}{{once: true}, {}, {from: 13, once: true}, {once: true, skip: 3}, {skip: 2}, {reverse: true}, {from: 150, reverse: true, skip: 2}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			it, err := sn.Batches(tp, BatchRange{
				FromOffset: int64(c.from), ToOffset: math.MaxInt64, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
				Once: c.once, Reverse: c.reverse,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer it.Close()
			n := 0
			for it.Next() {
				at := c.from + n
				if c.reverse {
					at = len(want) - 1 - n
				}
				n++
				if it.Info().BaseOffset != int64(at) {
					t.Fatalf("batch %d comes for %d", it.Info().BaseOffset, at)
				}
				if c.skip > 0 && n%c.skip != 0 {
					continue
				}
				raw, err := it.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(raw, want[at]) {
					t.Fatalf("batch %d has another value", at)
				}
			}
			if err := it.Err(); err != nil || n != len(want)-c.from {
				t.Fatalf("%d batches of %d: %v", n, len(want)-c.from, err)
			}
		})
	}
}
