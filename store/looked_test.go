package store

import (
	"sync"
	"sync/atomic"
	"testing"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// countingLog counts the reads.
type countingLog struct {
	commitlog.Log
	reads atomic.Int64
}

func (l *countingLog) ReadAt(p []byte, at commitlog.Location) error {
	l.reads.Add(1)
	return l.Log.ReadAt(p, at)
}

func TestLookupsByTimeReadAnUnsealedCompressedBatchOnce(t *testing.T) {
	first, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, first, "a", 1, nil)}
	produceRaw := func(s *Store, raw []byte) {
		t.Helper()
		if a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{raw}); a.err != nil || a.res.Batches[0].Err != nil {
			t.Fatal(a)
		}
	}
	for i := range int64(8) {
		produceRaw(first, compressed(50_000, rec{100*i + 50, "x"}, rec{100 * i, "y"}))
	}
	produceRaw(first, compressed(50_000, rec{-1, "no time"}))

	counted := &countingLog{Log: log.Reopen()}
	s := openOver(t, first.o.FS, counted) // nothing is in the tail's cache
	defer s.Close()
	ask := func(ts, want int64) (reads int64) {
		t.Helper()
		before := counted.reads.Load()
		o, _, found, err := s.OffsetForTime(tp, ts, ReadUncommitted)
		if err != nil || found != (want >= 0) || found && o != want {
			t.Errorf("offset for %d: %d, %v, %v; want %d", ts, o, found, err, want)
		}
		return counted.reads.Load() - before
	}
	latest := func() (reads int64) {
		t.Helper()
		before := counted.reads.Load()
		if o, ts, found, err := s.MaxTimestamp(tp, ReadUncommitted); o != 14 || ts != 750 || !found || err != nil {
			t.Errorf("highest timestamp: offset %d, %d, %v, %v", o, ts, found, err)
		}
		return counted.reads.Load() - before
	}
	if n := ask(751, -1); n != 9 {
		t.Errorf("the first look reads %d of 9 batches", n)
	}
	for range 2 {
		if n := ask(751, -1) + latest(); n != 0 {
			t.Errorf("asked again: %d reads", n)
		}
		if n := ask(401, 8); n != 1 {
			t.Errorf("an offset within a batch: %d reads", n)
		}
	}
	// A batch that the log start cuts through is looked into for what is left of it.
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 15}}})
	if o, ts, found, err := s.MaxTimestamp(tp, ReadUncommitted); o != 15 || ts != 700 || !found || err != nil {
		t.Errorf("highest timestamp: offset %d, %d, %v, %v", o, ts, found, err)
	}
	produceRaw(s, compressed(50_000, rec{900, "z"}))
	ask(751, 17)
}

func TestLookupsByTimeAtOnceShareTheirLook(t *testing.T) {
	first, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, first, "a", 1, nil)}
	for i := range int64(20) {
		if a := <-submit(t, first, []state.TopicPartition{tp}, [][]byte{compressed(9000, rec{i, "x"})}); a.err != nil {
			t.Fatal(a.err)
		}
	}
	counted := &countingLog{Log: log.Reopen()}
	s := openOver(t, first.o.FS, counted)
	defer s.Close()
	before := counted.reads.Load()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, _, found, err := s.OffsetForTime(tp, 100, ReadUncommitted); found || err != nil {
				t.Error(found, err)
			}
			if o, ts, found, err := s.MaxTimestamp(tp, ReadUncommitted); o != 19 || ts != 19 || !found || err != nil {
				t.Error(o, ts, found, err)
			}
		})
	}
	all.Wait()
	if n := counted.reads.Load() - before; n != 20 {
		t.Errorf("%d reads of 20 batches", n)
	}
}
