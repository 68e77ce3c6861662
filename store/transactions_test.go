package store

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

func TestAMarkerHasTheSizeThatTheStateMachineReckonsWith(t *testing.T) {
	if recordbatch.MarkerBytes != state.ControlBatchBytes {
		t.Fatalf("%d bytes, the state machine says %d", recordbatch.MarkerBytes, state.ControlBatchBytes)
	}
}

// transactor is a transactional producer.
type transactor struct {
	t    testing.TB
	s    *Store
	id   string
	pid  int64
	epo  int16
	seq  map[state.TopicPartition]int32
	bump bool // ends raise the epoch (transactions version 2)
}

func newTransactor(t testing.TB, s *Store, id string) *transactor {
	x := &transactor{t: t, s: s, id: id}
	x.init()
	return x
}

// init begins anew; what is open is aborted.
func (x *transactor) init() {
	x.t.Helper()
	res := mustCommit(x.t, x.s, state.InitTransaction{TransactionalID: x.id, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1}).(state.ProducerIDResult)
	if res.Err != nil {
		x.t.Fatal(res.Err)
	}
	x.adopt(res)
}

func (x *transactor) adopt(res state.ProducerIDResult) {
	if res.ProducerID != x.pid || res.ProducerEpoch != x.epo || x.seq == nil {
		x.pid, x.epo, x.seq = res.ProducerID, res.ProducerEpoch, map[state.TopicPartition]int32{}
	}
}

// batch builds the next batch for a partition.
func (x *transactor) batch(tp state.TopicPartition, recs ...rec) (state.Batch, []byte) {
	raw := buildBatch(recs...)
	raw[22] |= 0x10
	recordbatch.SetProducer(raw, x.pid, x.epo, x.seq[tp])
	x.seq[tp] += int32(len(recs))
	b := batchOf(tp, raw)
	b.Transactional = true
	return b, raw
}

func (x *transactor) produce(tp state.TopicPartition, recs ...rec) int64 {
	x.t.Helper()
	b, raw := x.batch(tp, recs...)
	c := make(chan state.BatchResult, 1)
	err := x.s.Submit(context.Background(), state.Produce{Batches: []state.Batch{b}, TransactionalID: x.id, AddPartitions: true}, [][]byte{raw}, func(res any, err error) {
		if err != nil {
			c <- state.BatchResult{Err: err}
			return
		}
		c <- res.(state.ProduceResult).Batches[0]
	})
	if err != nil {
		x.t.Fatal(err)
	}
	r := <-c
	if r.Err != nil {
		x.t.Fatal(r.Err)
	}
	return r.BaseOffset
}

func (x *transactor) end(commit bool) {
	x.t.Helper()
	res := mustCommit(x.t, x.s, state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: x.id, ProducerID: x.pid, ProducerEpoch: x.epo},
		Commit:         commit, BumpEpoch: x.bump,
	}).(state.ProducerIDResult)
	if res.Err != nil {
		x.t.Fatal(res.Err)
	}
	x.adopt(res)
}

// --- the oracle: what a partition holds by its entries ---

type oracleBatch struct {
	base, last int64
	visible    commitlog.LSN // 0: not
	data       bool
}

type oraclePart struct {
	batches []oracleBatch
	open    map[int64][]int // positions in batches, by producer
	aborted []state.AbortedTransaction
}

// add takes in the next batch, of entry lsn.
func (o *oraclePart) add(b *state.AppliedBatch, lsn commitlog.LSN) {
	k := oracleBatch{base: b.BaseOffset, last: b.BaseOffset + int64(b.Records) - 1, data: b.Marker == state.NoMarker}
	switch {
	case b.Marker != state.NoMarker:
		mine := o.open[b.ProducerID]
		delete(o.open, b.ProducerID)
		if b.Marker == state.CommitMarker {
			for _, i := range mine {
				o.batches[i].visible = lsn
			}
		} else if len(mine) > 0 {
			o.aborted = append(o.aborted, state.AbortedTransaction{ProducerID: b.ProducerID, FirstOffset: o.batches[mine[0]].base, LastOffset: b.BaseOffset})
		}
	case b.Transactional:
		if o.open == nil {
			o.open = map[int64][]int{}
		}
		o.open[b.ProducerID] = append(o.open[b.ProducerID], len(o.batches))
	default:
		k.visible = lsn
	}
	o.batches = append(o.batches, k)
}

type seen struct {
	Base    int64
	Visible commitlog.LSN
}

// check compares what readers see of a partition with the oracle.
func (o *oraclePart) check(t testing.TB, s *Store, tp state.TopicPartition, r *rand.Rand) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	scan := func(br BatchRange) (out []seen) {
		it, err := sn.Batches(tp, br)
		if err != nil {
			t.Fatal(err)
		}
		defer it.Close()
		for it.Next() {
			i := it.Info()
			if _, err := it.Bytes(); err != nil {
				t.Fatal(err)
			}
			out = append(out, seen{i.BaseOffset, i.VisibleLSN})
		}
		if err := it.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := func(br BatchRange) (out []seen) {
		for i := range o.batches {
			k := &o.batches[i]
			if br.FromOffset < br.ToOffset && k.data && k.visible > br.AfterLSN && k.last >= max(b.LogStart, br.FromOffset) && k.base < br.ToOffset {
				out = append(out, seen{k.base, k.visible})
			}
		}
		if br.Reverse {
			slices.Reverse(out)
		}
		return out
	}
	ranges := []BatchRange{allOf(0, math.MaxInt64)}
	for range 4 {
		from := b.LogStart + r.Int64N(b.End-b.LogStart+1)
		br := allOf(from, from+r.Int64N(b.End-from+1))
		br.AfterLSN = commitlog.LSN(r.Uint64N(uint64(sn.LSN()) + 1))
		ranges = append(ranges, br)
	}
	for _, br := range ranges {
		for _, br.Reverse = range []bool{false, true} {
			if d := cmp.Diff(want(br), scan(br)); d != "" {
				t.Fatalf("%v of %+v, range %+v, visible batches (-want +got):\n%s", tp, b, br, d)
			}
		}
	}
	o.checkOwn(t, s, tp)
	for at := b.LogStart; at < b.LastStable; {
		f, err := s.Fetch(tp, at, 500+r.IntN(20_000), true, ReadCommitted)
		if err != nil || f.Bytes == 0 {
			t.Fatalf("%v: fetch at %d of %+v: %d bytes, %v", tp, at, b, f.Bytes, err)
		}
		end := at
		for _, run := range f.Batches {
			for len(run) > 0 {
				k, rest, err := recordbatch.Parse(run)
				if err != nil {
					t.Fatal(err)
				}
				end, run = k.LastOffset()+1, rest
			}
		}
		if end > b.LastStable {
			t.Fatalf("%v: read up to %d of %+v", tp, end, b)
		}
		var aborted []state.AbortedTransaction
		for _, a := range o.aborted {
			if a.LastOffset >= at && a.FirstOffset < end {
				aborted = append(aborted, a)
			}
		}
		slices.SortFunc(aborted, func(a, b state.AbortedTransaction) int { return int(a.FirstOffset - b.FirstOffset) })
		if d := cmp.Diff(aborted, f.Aborted); d != "" {
			t.Fatalf("%v: aborted in [%d, %d) (-want +got):\n%s", tp, at, end, d)
		}
		at = end
	}
}

// checkCommitted reads as a consumer does, with the list of aborted transactions and the
// markers, and compares with what SQL sees below the last stable offset.
func checkCommitted(t testing.TB, s *Store, tp state.TopicPartition, maxBytes int) {
	t.Helper()
	b, err := s.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for at := b.LogStart; at < b.LastStable; {
		f, err := s.Fetch(tp, at, maxBytes, true, ReadCommitted)
		if err != nil {
			t.Fatal(err)
		}
		pending := f.Aborted
		dead := map[int64]bool{}
		for _, run := range f.Batches {
			for len(run) > 0 {
				k, rest, err := recordbatch.Parse(run)
				if err != nil {
					t.Fatal(err)
				}
				for len(pending) > 0 && pending[0].FirstOffset <= k.LastOffset() {
					dead[pending[0].ProducerID] = true
					pending = pending[1:]
				}
				switch {
				case k.Control():
					if m, err := recordbatch.ParseMarker(&k); err != nil || m.Commit && dead[k.ProducerID] {
						t.Fatalf("marker %+v, %v, aborted %v", m, err, dead)
					}
					delete(dead, k.ProducerID)
				case !k.Transactional() || !dead[k.ProducerID]:
					got = append(got, k.BaseOffset)
				}
				at, run = k.LastOffset()+1, rest
			}
		}
	}
	sn := s.Snapshot()
	defer sn.Release()
	it, err := sn.Batches(tp, allOf(0, b.LastStable))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	var want []int64
	for it.Next() {
		want = append(want, it.Info().BaseOffset)
	}
	if d := cmp.Diff(want, got); d != "" || it.Err() != nil {
		t.Fatalf("a consumer sees other batches than SQL (-sql +consumer): %s %v", d, it.Err())
	}
}

func TestOpenAndAbortedTransactionsAreNeverVisible(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	x, y := newTransactor(t, s, "x"), newTransactor(t, s, "y")
	read := func() []string {
		sn := s.Snapshot()
		defer sn.Release()
		return snapshotValues(t, sn, tp)
	}
	expect := func(stable int64, want ...string) {
		t.Helper()
		b, _ := s.Bounds(tp)
		if d := cmp.Diff(want, read()); d != "" || b.LastStable != stable {
			t.Fatalf("%+v, want last stable %d; %s", b, stable, d)
		}
		checkCommitted(t, s, tp, 100)
		checkCommitted(t, s, tp, 100_000)
	}
	produce(t, s, tp, rec{1, "plain"})
	x.produce(tp, rec{2, "x1"})
	y.produce(tp, rec{3, "y1"})
	expect(1, "0:plain")
	before := s.Snapshot()
	y.end(true) // marker at 3
	// Committed above the last stable offset: SQL sees it, read_committed does not yet.
	expect(1, "0:plain", "2:y1")
	if d := cmp.Diff([]string{"0:plain"}, snapshotValues(t, before, tp)); d != "" {
		t.Fatal("an older snapshot sees a later commit", d)
	}
	before.Release()
	x.produce(tp, rec{4, "x2"})
	x.end(false) // marker at 5
	expect(6, "0:plain", "2:y1")
	f, err := s.Fetch(tp, 0, 100_000, true, ReadCommitted)
	if d := cmp.Diff([]state.AbortedTransaction{{ProducerID: x.pid, FirstOffset: 1, LastOffset: 5}}, f.Aborted); d != "" || err != nil {
		t.Fatal(d, err)
	}
	if f, err = s.Fetch(tp, 0, 100_000, true, ReadUncommitted); f.Aborted != nil || err != nil {
		t.Fatalf("read_uncommitted has a list of aborted transactions: %v, %v", f.Aborted, err)
	}
	if f, err = s.Fetch(tp, 5, 100_000, true, ReadCommitted); len(f.Aborted) != 1 || f.Bytes != recordbatch.MarkerBytes || err != nil {
		t.Fatalf("at the marker: %d bytes, %v, %v", f.Bytes, f.Aborted, err)
	}
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	expect(6, "0:plain", "2:y1")
	x.init()
	x.produce(tp, rec{5, "x3"})
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	expect(6, "0:plain", "2:y1")
	x.end(true)
	expect(8, "0:plain", "2:y1", "6:x3")
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	expect(8, "0:plain", "2:y1", "6:x3")
}

func TestATransactionBecomesVisibleInAllPartitionsAtOnce(t *testing.T) {
	s, _ := openMem(t, func(o *Options) { o.SealBytes = 30_000 })
	const partitions, transactions = 3, 300
	id := createTopic(t, s, "a", partitions, nil)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			last := 0
			for {
				sn := s.Snapshot()
				var n [partitions]int
				for p := range n {
					n[p] = len(snapshotValues(t, sn, state.TopicPartition{Topic: id, Partition: int32(p)}))
				}
				sn.Release()
				if n[0] != n[1] || n[0] != n[2] || n[0] < last {
					t.Errorf("a torn transaction, or counts that fall: %v after %d", n, last)
					return
				}
				last = n[0]
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	x, y := newTransactor(t, s, "x"), newTransactor(t, s, "y")
	y.bump = true
	for i := range transactions {
		for _, w := range []*transactor{x, y} {
			for p := range int32(partitions) {
				w.produce(state.TopicPartition{Topic: id, Partition: p}, rec{int64(i), "v"})
			}
		}
		x.end(i%3 != 0)
		y.end(i%4 != 0)
		if i%100 == 50 {
			if err := s.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	readers.Wait()
}

func TestAnOpenTransactionSurvivesSealingMergingAndRestarts(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := Open(ctx, testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	x, y := newTransactor(t, s, "x"), newTransactor(t, s, "y")
	x.produce(tp, rec{1, "long"}) // 0
	want := []string{}
	for i := range 2 * mergeRun {
		for range 3 {
			at := y.produce(tp, rec{int64(i), "short"})
			commit := i%2 == 0
			y.end(commit)
			if commit {
				want = append(want, fmt.Sprintf("%d:short", at))
			}
		}
		if err := s.Seal(ctx); err != nil {
			t.Fatal(err)
		}
		if i == 5 || i == 2*mergeRun-1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(ctx, testOptions(fs)); err != nil {
				t.Fatal(err)
			}
			x.s, y.s = s, s
		}
		if err := s.maintain(ctx); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		if d := cmp.Diff(want, snapshotValues(t, sn, tp)); d != "" {
			t.Fatalf("after %d: %s", i, d)
		}
		sn.Release()
	}
	defer s.Close()
	if n := s.Stats().Segments; n > mergeRun+2 {
		t.Fatalf("%d segments: nothing was merged", n)
	}
	if b, _ := s.Bounds(tp); b.LastStable != 0 {
		t.Fatalf("%+v", b)
	}
	x.end(true)
	sn := s.Snapshot()
	defer sn.Release()
	if d := cmp.Diff(append([]string{"0:long"}, want...), snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
	checkCommitted(t, s, tp, 500)
}

func TestTransactionsBelowTheLogStartAreForgotten(t *testing.T) {
	s, _ := openMem(t)
	ctx := context.Background()
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	x := newTransactor(t, s, "x")
	for i := range 10 {
		x.produce(tp, rec{int64(i), "v"})
		x.end(i%2 == 0)
	}
	if err := s.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 15}}})
	v := s.acquire()
	defer v.unref()
	f, err := s.writeMerged(ctx, v.segs, s.aliveNow())
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Transactions(f.Find(tp))
	if err != nil || len(all.All()) != 3 || all.All()[0].Marker != 15 {
		t.Fatalf("%+v, %v", all.All(), err)
	}
}

func TestDeletingRecordsUnderAnOpenTransactionLeavesTheRest(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	x := newTransactor(t, s, "x")
	for i := range 4 {
		x.produce(tp, rec{int64(i), fmt.Sprint("v", i)})
	}
	mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: 2}}})
	b, _ := s.Bounds(tp)
	if f, err := s.Fetch(tp, 2, 1000, true, ReadCommitted); b.LastStable != 2 || f.Bytes != 0 || err != nil {
		t.Fatalf("%+v, %d bytes, %v", b, f.Bytes, err)
	}
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	x.end(true)
	sn := s.Snapshot()
	defer sn.Release()
	if d := cmp.Diff([]string{"2:v2", "3:v3"}, snapshotValues(t, sn, tp)); d != "" {
		t.Fatal(d)
	}
}

func TestLookupsByTimeEndAtTheLastStableOffsetForReadCommitted(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	produce(t, s, tp, rec{10, "a"})
	x := newTransactor(t, s, "x")
	x.produce(tp, rec{1 << 50, "b"})
	for _, c := range []struct {
		iso   Isolation
		found bool
	}{{ReadCommitted, false}, {ReadUncommitted, true}} {
		if o, _, found, err := s.OffsetForTime(tp, 20, c.iso); err != nil || found != c.found || found && o != 1 {
			t.Errorf("isolation %d: offset %d, %v, %v", c.iso, o, found, err)
		}
		if o, ts, found, err := s.MaxTimestamp(tp, c.iso); err != nil || found != c.found || found && (o != 1 || ts != 1<<50) {
			t.Errorf("isolation %d: maximum at %d, %d, %v, %v", c.iso, o, ts, found, err)
		}
	}
	x.end(false)
	if o, _, found, err := s.OffsetForTime(tp, 20, ReadCommitted); !found || o != 1 || err != nil {
		t.Errorf("after the end: %d, %v, %v", o, found, err)
	}
}

func TestManySmallTransactionsUnderALongOneAreReadInLinearTime(t *testing.T) {
	s, _ := openMem(t)
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	long := newTransactor(t, s, "long")
	long.produce(tp, rec{1, "long"})
	x := newTransactor(t, s, "x")
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	for i := range n {
		x.produce(tp, rec{int64(i), "v"})
		x.end(i%10 != 0)
	}
	long.end(true)
	for range 2 {
		checkCommitted(t, s, tp, 2000)
		sn := s.Snapshot()
		if got := len(snapshotValues(t, sn, tp)); got != 1+n-n/10 {
			t.Fatalf("%d records, want %d", got, 1+n-n/10)
		}
		sn.Release()
		if err := s.Seal(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// transact is a step of the crash workload by one of its transactional producers.
func (w *workload) transact() {
	r := w.r
	// A failing disk fails commits, too; the producer then begins anew.
	commit := func(x *transactor, in state.Intent) {
		res, err := w.s.Commit(context.Background(), in)
		if err != nil {
			x.seq = nil
			return
		}
		// What never began cannot be committed: the answer does not matter here.
		if id := res.(state.ProducerIDResult); id.Err == nil {
			x.adopt(id)
		}
	}
	if len(w.transactors) < 4 {
		x := &transactor{t: w.t, s: w.s, id: fmt.Sprint("tx", len(w.transactors)), bump: len(w.transactors)%2 == 0}
		w.transactors = append(w.transactors, x)
	}
	x := w.transactors[r.IntN(len(w.transactors))]
	switch k := r.IntN(20); {
	case k == 0 || x.seq == nil:
		commit(x, state.InitTransaction{TransactionalID: x.id, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1})
	case k < 4:
		commit(x, state.EndTransaction{
			TransactionRef: state.TransactionRef{TransactionalID: x.id, ProducerID: x.pid, ProducerEpoch: x.epo},
			Commit:         r.IntN(3) > 0, BumpEpoch: x.bump,
		})
	default:
		in := state.Produce{TransactionalID: x.id, AddPartitions: true}
		var payload [][]byte
		used := map[state.TopicPartition]bool{}
		for range 1 + r.IntN(3) {
			tp := w.partition()
			if used[tp] {
				continue
			}
			used[tp] = true
			b, raw := x.batch(tp, rec{int64(w.made), string(bytes.Repeat([]byte{'x'}, r.IntN(200)))})
			in.Batches = append(in.Batches, b)
			payload = append(payload, raw)
		}
		w.submit(in, payload)
	}
}
