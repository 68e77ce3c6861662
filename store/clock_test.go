package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"millrace/internal/vfs"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

const year = 365 * 24 * time.Hour

func TestRetentionWaitsWhenTheClockIsFarAheadAtAStart(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		for _, c := range []struct {
			away time.Duration
			want int64
		}{{time.Hour, 1}, {10 * year, 0}} {
			t.Run(fmt.Sprint("sealed ", sealed, ", away ", c.away), func(t *testing.T) {
				clock := newFakeClock(1_700_000_000_000)
				fs := vfs.NewMem()
				o := testOptions(fs)
				o.Now = clock.now
				s, err := Open(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, map[string]string{"retention.ms": "60000"})}
				produce(t, s, tp, rec{clock.ms.Load(), "v"})
				if sealed {
					seal(t, s)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				clock.ms.Add(c.away.Milliseconds())
				if s, err = Open(context.Background(), o); err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if err := s.EnforceRetention(context.Background()); err != nil {
					t.Fatal(err)
				}
				if b, err := s.Bounds(tp); err != nil || b.LogStart != c.want {
					t.Fatal(b, err)
				}
			})
		}
	}
}

func TestOffsetsAndProducersDoNotExpireByAJumpOfTheClock(t *testing.T) {
	clock := newFakeClock(1_700_000_000_000)
	s, _ := openMem(t, func(o *Options) { o.Now = clock.now })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	raw := buildBatch(rec{1, "v"})
	b := batchOf(tp, raw)
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = 7, 0, 0
	stored := make(chan error, 1)
	if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{b}}, [][]byte{raw}, func(_ any, err error) { stored <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, state.CommitOffsets{Group: "g", Offsets: []state.OffsetCommit{{TopicPartition: tp, Offset: 1, LeaderEpoch: -1, ExpireAt: -1}}})
	expire := func() {
		t.Helper()
		mustCommit(t, s, state.ExpireProducers{IdleMillis: 1000})
		mustCommit(t, s, state.ExpireOffsets{RetentionMillis: 1000})
	}
	expire()
	clock.ms.Add((10 * year).Milliseconds())
	expire()
	if _, ok := s.CommittedOffsets("g"); !ok || len(s.Producers(tp)) != 1 {
		t.Fatal("expired by a jump:", ok, s.Producers(tp))
	}
}

// TestNoJumpOfTheClockChangesWhatIsStored lets the clock jump a hundred times and
// back, with crashes and starts while it is wrong: offsets stay dense, records in
// order, nothing fresh is lost.
func TestNoJumpOfTheClockChangesWhatIsStored(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 0))
	clock := newFakeClock(1_700_000_000_000)
	fs := vfs.NewMem()
	open := func() *Store {
		t.Helper()
		o := testOptions(fs)
		o.Now = clock.now
		s, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)} // kept for 7 days
	mustCommit(t, s, state.CommitOffsets{Group: "g", Offsets: []state.OffsetCommit{{TopicPartition: tp, Offset: 1, LeaderEpoch: -1, ExpireAt: -1}}})
	var want []string
	for i := range 100 {
		v := fmt.Sprint("value ", i)
		if base := produce(t, s, tp, rec{clock.ms.Load(), v}); base != int64(i) {
			t.Fatalf("record %d got offset %d", i, base)
		}
		want = append(want, fmt.Sprintf("%d:%s", i, v))
		jump := []time.Duration{-time.Hour, time.Hour, -10 * year, 10 * year, 0}[r.IntN(5)]
		right := clock.ms.Load()
		clock.ms.Add(jump.Milliseconds())
		switch r.IntN(6) {
		case 0:
			seal(t, s)
		case 1:
			left := fs.CrashClone(r)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			fs = left
			s = open()
		}
		if err := s.EnforceRetention(context.Background()); err != nil {
			t.Fatal(err)
		}
		mustCommit(t, s, state.ExpireOffsets{RetentionMillis: (7 * 24 * time.Hour).Milliseconds()})
		if d := cmp.Diff(want, values(t, s, tp)); d != "" {
			t.Fatalf("after jump %d by %v: %s", i, jump, d)
		}
		if _, ok := s.CommittedOffsets("g"); !ok {
			t.Fatalf("after jump %d by %v the committed offsets are gone", i, jump)
		}
		clock.ms.Store(right + time.Minute.Milliseconds())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
