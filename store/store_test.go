package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func TestProducedRecordsAreFetchedAsStored(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 2, nil), Partition: 1}
	var want []string
	for i := range 50 {
		base := produce(t, s, tp, rec{int64(i), fmt.Sprint("x", i)}, rec{int64(i), fmt.Sprint("y", i)})
		if base != int64(2*i) {
			t.Fatalf("base offset %d, want %d", base, 2*i)
		}
		want = append(want, fmt.Sprintf("%d:x%d", 2*i, i), fmt.Sprintf("%d:y%d", 2*i+1, i))
	}
	if d := cmp.Diff(want, values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
	sn := s.Snapshot()
	defer sn.Release()
	if d := cmp.Diff(want, snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
}

func TestFetchKeepsItsLimitsButNeverWithholdsTheFirstBatch(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for range 5 {
		produce(t, s, tp, rec{1, "v"}, rec{1, "w"})
	}
	size := len(buildBatch(rec{1, "v"}, rec{1, "w"}))
	for _, c := range []struct {
		name    string
		offset  int64
		max     int
		minOne  bool
		batches int
	}{
		{"all", 0, 10 * size, false, 5},
		{"two and a half", 0, 5 * size / 2, false, 2},
		{"less than one", 0, size - 1, false, 0},
		{"less than one, but one", 0, size - 1, true, 1},
		{"inside a batch", 3, 10 * size, false, 4},
		{"the end", 10, 10 * size, true, 0},
	} {
		r, err := s.Fetch(tp, c.offset, c.max, c.minOne, ReadCommitted)
		if err != nil || r.Bytes != c.batches*size {
			t.Errorf("%s: %d bytes (%v), want %d batches", c.name, r.Bytes, err, c.batches)
		}
	}
	for _, offset := range []int64{-1, 11} {
		r, err := s.Fetch(tp, offset, 100, true, ReadUncommitted)
		if !errors.Is(err, state.ErrOffsetOutOfRange) || r.Bounds.End != 10 {
			t.Errorf("offset %d: %v, %+v", offset, err, r.Bounds)
		}
	}
	if _, err := s.Fetch(state.TopicPartition{Topic: tp.Topic, Partition: 1}, 0, 1, true, ReadUncommitted); !errors.Is(err, state.ErrUnknownTopic) {
		t.Error(err)
	}
}

func TestARefusedBatchLeavesTheOthersAndDuplicatesAreAnsweredOnce(t *testing.T) {
	s, _ := openMem(t)
	id := createTopic(t, s, "a", 1, nil)
	tp, missing := state.TopicPartition{Topic: id}, state.TopicPartition{Topic: id, Partition: 7}
	a := <-submit(t, s, []state.TopicPartition{tp, missing, tp}, [][]byte{buildBatch(rec{1, "a"}), buildBatch(rec{1, "b"}), buildBatch(rec{1, "c"})})
	if a.err != nil || !errors.Is(a.res.Batches[1].Err, state.ErrUnknownTopic) || a.res.Batches[2].BaseOffset != 1 {
		t.Fatalf("%+v", a)
	}
	if d := cmp.Diff([]string{"0:a", "1:c"}, values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
}

func TestResultsComeInSubmissionOrder(t *testing.T) {
	s, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	log.Hold()
	var order []int
	all := make(chan struct{})
	const n = 100
	for i := range n {
		note := func(any, error) {
			order = append(order, i)
			if len(order) == n {
				close(all)
			}
		}
		var err error
		if i%3 == 0 {
			err = s.Submit(context.Background(), state.DeleteTopic{}, nil, note) // refused
		} else {
			raw := buildBatch(rec{1, "v"})
			err = s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tp, raw)}}, [][]byte{raw}, note)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := s.Bounds(tp); b.End != 0 {
		t.Fatalf("unsynced records are visible: %+v", b)
	}
	log.Release()
	<-all
	if !slices.IsSorted(order) {
		t.Fatal(order)
	}
}

func TestAFailedLogFailsEverythingInFlightAndGoesOnAfterwards(t *testing.T) {
	s, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	produce(t, s, tp, rec{1, "kept"})
	log.Hold()
	var waits []<-chan answer
	for i := range 10 {
		waits = append(waits, submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, fmt.Sprint(i)})}))
	}
	refused := make(chan error, 1)
	if err := s.Submit(context.Background(), state.DeleteTopic{}, nil, func(_ any, err error) { refused <- err }); err != nil {
		t.Fatal(err)
	}
	log.Fail(commitlog.ErrStorage)
	log.Release()
	for _, w := range waits {
		if a := <-w; !errors.Is(a.err, commitlog.ErrStorage) {
			t.Fatalf("%+v", a)
		}
	}
	if err := <-refused; !errors.Is(err, commitlog.ErrStorage) {
		t.Fatalf("a result that was decided on top of a failed entry came out as %v", err)
	}
	if d := cmp.Diff([]string{"0:kept"}, values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
	for {
		a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "later"})})
		if a.err == nil {
			if a.res.Batches[0].BaseOffset != 1 {
				t.Fatalf("%+v", a)
			}
			break
		}
		if !errors.Is(a.err, commitlog.ErrStorage) {
			t.Fatal(a.err)
		}
	}
	if d := cmp.Diff([]string{"0:kept", "1:later"}, values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
	checkIdle(t, s)
}

func TestAFullDiskRefusesRecordsButLetsTopicsGo(t *testing.T) {
	s, log := openMem(t)
	id := createTopic(t, s, "a", 1, nil)
	tp := state.TopicPartition{Topic: id}
	produce(t, s, tp, rec{1, "kept"})
	log.Full(true)
	a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "no room"})})
	if !errors.Is(a.err, commitlog.ErrNoSpace) {
		t.Fatalf("%+v", a)
	}
	if s.Stats().Healthy {
		t.Error("healthy on a full disk")
	}
	if d := cmp.Diff([]string{"0:kept"}, values(t, s, tp)); d != "" {
		t.Fatal(d)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 1}}})
	log.Full(false)
	if base := produce(t, s, tp, rec{1, "room"}); base != 1 {
		t.Fatal(base)
	}
	if !s.Stats().Healthy {
		t.Error("not healthy after there was room again")
	}
	checkIdle(t, s)
}

func TestTheStoreIsHealthyAgainWhenThereIsRoomThoughNobodyAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := openMem(t)
		tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
		log.Full(true)
		if a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "no room"})}); !errors.Is(a.err, commitlog.ErrNoSpace) {
			t.Fatalf("%+v", a)
		}
		time.Sleep(3 * healBackoffMax)
		if s.Stats().Healthy {
			t.Error("healthy on a full disk")
		}
		log.Full(false)
		time.Sleep(3 * healBackoffMax)
		if !s.Stats().Healthy {
			t.Error("not healthy after there was room again")
		}
	})
}

// checkIdle asserts what must hold when nothing is in flight.
func checkIdle(t testing.TB, s *Store) {
	t.Helper()
	s.seq.Lock()
	defer s.seq.Unlock()
	s.queue.drain()
	s.pub.RLock()
	defer s.pub.RUnlock()
	// A failed store catches up when the log takes appends again.
	if !s.failed.Load() && (s.seq.last != s.pub.lsn || s.seq.decided.Hash() != s.pub.state.Hash()) {
		t.Fatalf("decided %d %x, published %d %x", s.seq.last, s.seq.decided.Hash(), s.pub.lsn, s.pub.state.Hash())
	}
	if n := s.budget.InUse(); n != 0 {
		t.Fatalf("%d bytes of the budget were lost", n)
	}
	for _, topic := range s.pub.state.Topics() {
		for i := range topic.Partitions {
			tp := state.TopicPartition{Topic: topic.ID, Partition: i}
			want, _ := s.pub.state.Bounds(tp)
			p := s.pub.parts[tp]
			if p == nil || s.pub.bounds.get(p.slot) != want {
				t.Fatalf("%v: bounds differ", tp)
			}
		}
	}
}

func TestASnapshotStaysAsItWas(t *testing.T) {
	s, _ := openMem(t)
	id := createTopic(t, s, "a", 1, nil)
	tp := state.TopicPartition{Topic: id}
	produce(t, s, tp, rec{1, "a"})
	produce(t, s, tp, rec{1, "b"})
	sn := s.Snapshot()
	produce(t, s, tp, rec{1, "c"})
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 3}}})
	mustCommit(t, s, state.DeleteTopic{ID: id})
	other := createTopic(t, s, "b", 3, nil) // takes over the slot
	produce(t, s, state.TopicPartition{Topic: other}, rec{1, "z"})
	if d := cmp.Diff([]string{"0:a", "1:b"}, snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
	if _, ok := sn.Topics().ByName("b"); ok {
		t.Fatal("a later topic is in the snapshot")
	}
	sn.Release()
	if _, err := s.Bounds(tp); !errors.Is(err, state.ErrUnknownTopic) {
		t.Fatal(err)
	}
}

func TestWatchersHearOfTheirPartitionsOnly(t *testing.T) {
	s, _ := openMem(t)
	id := createTopic(t, s, "a", 2, nil)
	p0, p1 := state.TopicPartition{Topic: id}, state.TopicPartition{Topic: id, Partition: 1}
	w := s.Watch([]state.TopicPartition{p0})
	defer w.Close()
	ready := func() bool {
		select {
		case <-w.C:
			return true
		default:
			return false
		}
	}
	produce(t, s, p1, rec{1, "a"})
	if ready() {
		t.Fatal("heard of another partition")
	}
	produce(t, s, p0, rec{1, "a"})
	produce(t, s, p0, rec{1, "a"})
	if !ready() || ready() {
		t.Fatal("not heard exactly once of two publishes")
	}
	mustCommit(t, s, state.DeleteTopic{ID: id})
	if !ready() {
		t.Fatal("not heard of the deletion")
	}
	gone := s.Watch([]state.TopicPartition{p0})
	defer gone.Close()
	<-gone.C
}

func TestTimesAreLookedUpInsideBatches(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	if _, _, found, err := s.MaxTimestamp(tp, ReadUncommitted); found || err != nil {
		t.Fatal(found, err)
	}
	produce(t, s, tp, rec{10, "0"}, rec{30, "1"}, rec{20, "2"})
	produce(t, s, tp, rec{5, "3"}, rec{25, "4"})
	produce(t, s, tp, rec{40, "5"}, rec{40, "6"}, rec{35, "7"})
	for _, c := range []struct{ ts, offset, at int64 }{
		{0, 0, 10}, {10, 0, 10}, {11, 1, 30}, {31, 5, 40}, {40, 5, 40}, {41, -1, 0},
	} {
		offset, at, found, err := s.OffsetForTime(tp, c.ts, ReadCommitted)
		if err != nil || found != (c.offset >= 0) || found && (offset != c.offset || at != c.at) {
			t.Errorf("%d: %d %d %v %v", c.ts, offset, at, found, err)
		}
	}
	if offset, at, found, err := s.MaxTimestamp(tp, ReadUncommitted); offset != 5 || at != 40 || !found || err != nil {
		t.Error(offset, at, found, err)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 6}}})
	if offset, _, _, _ := s.OffsetForTime(tp, 0, ReadCommitted); offset != 6 {
		t.Error("before the log start:", offset)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 7}}})
	if offset, at, _, _ := s.MaxTimestamp(tp, ReadUncommitted); offset != 7 || at != 35 {
		t.Error(offset, at)
	}
}

func TestAReopenedStoreIsTheSame(t *testing.T) {
	s, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 3, nil), Partition: 2}
	produce(t, s, tp, rec{1, "a"})
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	produce(t, s, tp, rec{1, "b"})
	again := openOver(t, s.o.FS, log.Reopen())
	defer again.Close()
	if s.ClusterID() != again.ClusterID() || len(s.ClusterID()) != 22 {
		t.Error(s.ClusterID(), again.ClusterID())
	}
	if d := cmp.Diff([]string{"0:a", "1:b"}, values(t, again, tp)); d != "" {
		t.Fatal(d)
	}
	if s.pub.state.Hash() != again.pub.state.Hash() {
		t.Fatal("hash differs")
	}
	checkIdle(t, again)
}

func TestSubmitWaitsForRoomAndOnlySoLongAsAllowed(t *testing.T) {
	s, log := openMem(t, func(o *Options) { o.InFlightBytes = 200 })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	log.Hold()
	first := submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "fits"})})
	second := submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "fits"})})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	raw := buildBatch(rec{1, "too much"})
	err := s.Submit(ctx, state.Produce{Batches: []state.Batch{batchOf(tp, raw)}}, [][]byte{raw}, func(any, error) { t.Error("done of an intent that was not taken") })
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	log.Release()
	<-first
	<-second
	produce(t, s, tp, rec{1, "room again"})
	checkIdle(t, s)
}

func TestACallbackMaySubmitAgainWhileTheLogIsFailed(t *testing.T) {
	s, log := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	taken := make(chan int, 1)
	tries := 0
	var again func(any, error)
	send := func() {
		raw := buildBatch(rec{1, "v"})
		if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tp, raw)}}, [][]byte{raw}, again); err != nil {
			t.Error(err)
		}
	}
	again = func(_ any, err error) {
		if tries++; err == nil {
			taken <- tries
			return
		}
		send()
	}
	log.Fail(commitlog.ErrStorage)
	send()
	if n := <-taken; n < 2 {
		t.Fatal("the log did not fail")
	}
	checkIdle(t, s)
}

func TestAClosedStoreSaysSo(t *testing.T) {
	reg := prometheus.NewRegistry()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Registry = reg
	for range 2 { // the registry can be used again
		s, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		tp := state.TopicPartition{Topic: createTopic(t, s, fmt.Sprint("a", s.pubLSN()), 1, nil)}
		produce(t, s, tp, rec{1, "v"})
		seal(t, s)
		if families, err := reg.Gather(); err != nil || len(families) < 10 {
			t.Fatal(len(families), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal("second close:", err)
		}
		if _, err := s.Fetch(tp, 0, 1, true, ReadUncommitted); !errors.Is(err, commitlog.ErrClosed) {
			t.Fatal(err)
		}
		if _, err := s.Commit(context.Background(), state.DeleteTopic{ID: tp.Topic}); !errors.Is(err, commitlog.ErrClosed) {
			t.Fatal(err)
		}
		if err := s.Seal(context.Background()); !errors.Is(err, commitlog.ErrClosed) {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		if _, err := sn.Batches(tp, allOf(0, 1)); err == nil {
			t.Fatal("a closed store gives batches")
		}
		sn.Release()
	}
}

func TestProducersWaitWhileTooMuchIsUnsealed(t *testing.T) {
	s, _ := openMem(t, func(o *Options) { o.UnsealedBytes = 10_000 })
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	s.keeper.seals.Lock() // nothing is sealed for now
	produce(t, s, tp, rec{1, string(make([]byte, 5_000))})
	produce(t, s, tp, rec{1, string(make([]byte, 5_000))}) // this one passes the bound
	ctx, cancel := context.WithCancel(context.Background())
	raw := buildBatch(rec{1, "v"})
	in := state.Produce{Batches: []state.Batch{batchOf(tp, raw)}}
	cancel()
	if err := s.Submit(ctx, in, [][]byte{raw}, func(any, error) { t.Error("taken") }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 1}}}) // no record, no wait
	s.keeper.seals.Unlock()
	produce(t, s, tp, rec{1, "after it was sealed"})
	if s.Stats().Segments == 0 {
		t.Fatal("not sealed")
	}
	checkIdle(t, s)
}

func TestARecordThatCannotBeDecodedDoesNotBlockTimeLookups(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	produce(t, s, tp, rec{10, "0"})
	b := recordbatch.Builder{Codec: recordbatch.Gzip}
	for i := range int64(3) {
		b.Append(20+i, nil, []byte("lost"), nil)
	}
	raw := b.Build()
	copy(raw[recordbatch.HeaderBytes:], "no gzip at all")
	recordbatch.SetCreateTime(raw, 22) // the checksum is right: nobody looked inside
	if a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{raw}); a.err != nil || a.res.Batches[0].Err != nil {
		t.Fatal(a)
	}
	produce(t, s, tp, rec{15, "4"}, rec{30, "5"})
	for ts, want := range map[int64]int64{5: 0, 11: 1, 22: 1, 23: 5} {
		if offset, _, found, err := s.OffsetForTime(tp, ts, ReadCommitted); err != nil || !found || offset != want {
			t.Errorf("first at %d or later: %d %v %v, want %d", ts, offset, found, err, want)
		}
	}
	if offset, at, found, err := s.MaxTimestamp(tp, ReadUncommitted); err != nil || !found || offset != 5 || at != 30 {
		t.Error(offset, at, found, err)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 2}}})
	if offset, _, found, err := s.OffsetForTime(tp, 20, ReadCommitted); err != nil || !found || offset != 2 {
		t.Error("behind the log start:", offset, found, err)
	}
}
