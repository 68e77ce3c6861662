package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// stepper decides and applies; after each step it takes the state through a snapshot.
type stepper struct {
	t   testing.TB
	s   *State
	now Millis
}

func (st *stepper) do(in Intent) any {
	st.t.Helper()
	e, res := st.s.Decide(st.now, in, nil)
	if e != nil {
		e = slices.Clone(e)
		if err := st.s.Apply(e); err != nil {
			st.t.Fatalf("%#v: %v", in, err)
		}
	}
	b := st.s.Encode(nil)
	back, err := Decode(b)
	if err != nil || back.Hash() != st.s.Hash() || st.s.Clone().Hash() != st.s.Hash() {
		st.t.Fatalf("after %#v: the snapshot does not read back: %v", in, err)
	}
	st.s = back
	return res
}

func (st *stepper) init(id string) TransactionRef {
	st.t.Helper()
	r := st.do(InitTransaction{TransactionalID: id, TimeoutMillis: 1000, ProducerID: -1, ProducerEpoch: -1}).(ProducerIDResult)
	if r.Err != nil {
		st.t.Fatal(r.Err)
	}
	return TransactionRef{id, r.ProducerID, r.ProducerEpoch}
}

func (st *stepper) add(ref TransactionRef, partitions ...int32) error {
	in := AddPartitionsToTransaction{TransactionRef: ref}
	for _, p := range partitions {
		in.Partitions = append(in.Partitions, TopicPartition{id(1), p})
	}
	r := st.do(in).(AddPartitionsResult)
	return errors.Join(append(r.Errs, r.Err)...)
}

func (st *stepper) produce(ref TransactionRef, partition, seq int32, add bool) BatchResult {
	return st.do(Produce{TransactionalID: ref.TransactionalID, AddPartitions: add, Batches: []Batch{{
		TopicPartition: TopicPartition{id(1), partition}, Records: 1, SizeBytes: 70, ProducerID: ref.ProducerID,
		ProducerEpoch: ref.ProducerEpoch, FirstSequence: seq, Transactional: true,
	}}}).(ProduceResult).Batches[0]
}

func (st *stepper) end(ref TransactionRef, commit, bump bool) (TransactionRef, error) {
	r := st.do(EndTransaction{TransactionRef: ref, Commit: commit, BumpEpoch: bump}).(ProducerIDResult)
	return TransactionRef{ref.TransactionalID, r.ProducerID, r.ProducerEpoch}, r.Err
}

func (st *stepper) bounds(partition int32) Bounds {
	b, err := st.s.Bounds(TopicPartition{id(1), partition})
	if err != nil {
		st.t.Fatal(err)
	}
	return b
}

func newStepper(t testing.TB) *stepper { return &stepper{t: t, s: newWithTopic(t, 3), now: 1000} }

func is(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestATransactionIsStableOnceItsMarkersAreWritten(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	is(t, st.produce(ref, 0, 0, false).Err, ErrNoTransaction)
	is(t, st.add(ref, 0, 1), nil)
	if r := st.produce(ref, 0, 0, false); r.Err != nil || r.BaseOffset != 0 {
		t.Fatal(r)
	}
	if b := st.bounds(0); b != (Bounds{LogStart: 0, LastStable: 0, End: 1}) {
		t.Fatalf("%+v", b)
	}
	if b := st.bounds(1); b != (Bounds{Dense: true}) { // added, but nothing written
		t.Fatalf("%+v", b)
	}
	st.do(Produce{Batches: []Batch{plain(0, 2)}})
	if b := st.bounds(0); b.LastStable != 0 || b.End != 3 {
		t.Fatalf("%+v", b)
	}
	entry, res := st.s.Decide(st.now, EndTransaction{TransactionRef: ref, Commit: true}, nil)
	if r := res.(ProducerIDResult); r.Err != nil || r.ProducerEpoch != ref.ProducerEpoch {
		t.Fatal(r)
	}
	markers, err := Batches(entry, nil)
	if err != nil || len(markers) != 2 || markers[0].BaseOffset != 3 || markers[1].BaseOffset != 0 ||
		markers[0].Marker != CommitMarker || markers[0].SizeBytes != ControlBatchBytes || markers[1].Partition != 1 {
		t.Fatalf("%+v %v", markers, err)
	}
	if _, err := st.end(ref, true, false); err != nil {
		t.Fatal(err)
	}
	if b := st.bounds(0); b != (Bounds{LastStable: 4, End: 4}) {
		t.Fatalf("%+v", b)
	}
	if _, err := st.end(ref, true, false); err != nil { // a repeat
		t.Fatal(err)
	}
	if _, err := st.end(ref, false, false); !errors.Is(err, ErrNoTransaction) {
		t.Fatal(err)
	}
	is(t, st.produce(ref, 0, 1, false).Err, ErrNoTransaction) // the next one has not begun
}

func TestInitAbortsWhatIsOpenAndFencesItsProducer(t *testing.T) {
	st := newStepper(t)
	old := st.init("a")
	is(t, st.produce(old, 2, 0, true).Err, nil)
	ref := st.init("a")
	if ref.ProducerID != old.ProducerID || ref.ProducerEpoch != old.ProducerEpoch+1 {
		t.Fatal(ref, old)
	}
	if b := st.bounds(2); b.LastStable != 2 || b.End != 2 {
		t.Fatalf("%+v", b)
	}
	is(t, st.produce(old, 2, 1, true).Err, ErrInvalidProducerEpoch)
	is(t, st.add(old, 1), ErrInvalidProducerEpoch)
	_, err := st.end(old, true, false)
	is(t, err, ErrInvalidProducerEpoch)
	is(t, st.produce(ref, 2, 0, true).Err, nil)
}

func TestAProducerMayAskForTheNextEpochOnceMore(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	in := InitTransaction{TransactionalID: "a", TimeoutMillis: 5, ProducerID: ref.ProducerID, ProducerEpoch: ref.ProducerEpoch}
	want := ProducerIDResult{ProducerID: ref.ProducerID, ProducerEpoch: 1}
	for range 2 { // the second is a repeat
		if got := st.do(in); got != want {
			t.Fatal(got)
		}
	}
	in.ProducerEpoch = 7
	is(t, st.do(in).(ProducerIDResult).Err, ErrInvalidProducerEpoch)
	in.ProducerID = 99
	is(t, st.do(in).(ProducerIDResult).Err, ErrInvalidProducerEpoch)
	in.TransactionalID = "unknown"
	if got := st.do(in).(ProducerIDResult); got.Err != nil || got.ProducerEpoch != 0 || got.ProducerID == ref.ProducerID {
		t.Fatal(got)
	}
}

// cases.md C48
func TestALateCommitDoesNotCommitTheNextTransaction(t *testing.T) {
	st := newStepper(t)
	first := st.init("a")
	is(t, st.produce(first, 0, 0, true).Err, nil)
	second, err := st.end(first, false, true)
	if err != nil || second.ProducerEpoch != first.ProducerEpoch+1 {
		t.Fatal(second, err)
	}
	if again, err := st.end(first, false, true); err != nil || again != second { // the answer was lost
		t.Fatal(again, err)
	}
	_, err = st.end(first, true, true)
	is(t, err, ErrNoTransaction)
	is(t, st.produce(second, 0, 0, true).Err, nil)
	_, err = st.end(first, true, true)
	is(t, err, ErrInvalidProducerEpoch)
	is(t, st.produce(first, 0, 1, true).Err, ErrInvalidProducerEpoch)
	if _, err := st.end(second, false, true); err != nil {
		t.Fatal(err)
	}
	if b := st.bounds(0); b.End != 4 || b.LastStable != 4 {
		t.Fatalf("%+v", b)
	}
}

func TestAnExhaustedEpochBringsANewProducerID(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	st.s.transactions["a"].producerEpoch = lastHandedEpoch
	ref.ProducerEpoch = lastHandedEpoch
	is(t, st.produce(ref, 0, 0, true).Err, nil)
	next, err := st.end(ref, true, true)
	if err != nil || next.ProducerID == ref.ProducerID || next.ProducerEpoch != 0 {
		t.Fatal(next, err)
	}
	if again, err := st.end(ref, true, true); err != nil || again != next {
		t.Fatal(again, err)
	}
	is(t, st.produce(next, 0, 0, true).Err, nil)
	st.s.transactions["a"].producerEpoch = lastHandedEpoch
	if third := st.init("a"); third.ProducerEpoch != 0 || third.ProducerID == next.ProducerID {
		t.Fatal(third)
	}
	if b := st.bounds(0); b.LastStable != b.End {
		t.Fatalf("%+v", b)
	}
}

func TestOffsetsOfATransactionCountWithItsCommit(t *testing.T) {
	st := newStepper(t)
	tp := TopicPartition{id(1), 1}
	commit := func(ref TransactionRef, offset int64, add bool) error {
		r := st.do(CommitTransactionOffsets{
			TransactionRef: ref, Group: "g", AddGroup: add,
			Offsets: []OffsetCommit{{TopicPartition: tp, Offset: offset, LeaderEpoch: -1, ExpireAt: -1}},
		}).(CommitOffsetsResult)
		return errors.Join(append(r.Errs, r.Err)...)
	}
	ref := st.init("a")
	is(t, commit(ref, 5, false), ErrNoTransaction)
	is(t, st.do(AddGroupToTransaction{ref, "g"}).(TransactionResult).Err, nil)
	is(t, commit(ref, 5, false), nil)
	if _, pending := st.s.PendingOffsets("g")[tp]; !pending {
		t.Fatal("not pending")
	}
	if o, _ := st.s.GroupOffsets("g"); len(o) != 0 {
		t.Fatal(o)
	}
	_, err := st.end(ref, true, false)
	is(t, err, nil)
	if o, _ := st.s.GroupOffsets("g"); o[tp].Offset != 5 || st.s.PendingOffsets("g") != nil {
		t.Fatal(o)
	}
	is(t, commit(ref, 9, true), nil)
	_, err = st.end(ref, false, false)
	is(t, err, nil)
	if o, _ := st.s.GroupOffsets("g"); o[tp].Offset != 5 || st.s.PendingOffsets("g") != nil {
		t.Fatal(o)
	}
	is(t, commit(ref, 9, true), nil)
	st.do(DeleteTopic{id(1)})
	if st.s.PendingOffsets("g") != nil {
		t.Fatal("the offset of a deleted topic is pending")
	}
	_, err = st.end(ref, true, false)
	is(t, err, nil)
}

// cases.md C50
func TestATransactionThatTakesTooLongIsAborted(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	is(t, st.produce(ref, 0, 0, true).Err, nil)
	open := st.s.OpenTransactions(nil)
	if !slices.Equal(open, []OpenTransaction{{ref, st.now, 1000}}) {
		t.Fatal(open)
	}
	another := open[0]
	another.StartedAt--
	st.do(ExpireTransaction{another})
	if b := st.bounds(0); b.LastStable != 0 {
		t.Fatalf("another one was meant: %+v", b)
	}
	st.do(ExpireTransaction{open[0]})
	if b := st.bounds(0); b.LastStable != 2 || b.End != 2 {
		t.Fatalf("%+v", b)
	}
	is(t, st.produce(ref, 0, 1, true).Err, ErrInvalidProducerEpoch) // KAFKA-19690
	_, err := st.end(ref, true, false)
	is(t, err, ErrInvalidProducerEpoch)
	is(t, st.do(InitTransaction{TransactionalID: "a", ProducerID: ref.ProducerID, ProducerEpoch: ref.ProducerEpoch}).(ProducerIDResult).Err, ErrInvalidProducerEpoch)
	if next := st.init("a"); next.ProducerEpoch != ref.ProducerEpoch+2 {
		t.Fatal(next)
	}
}

func TestDeletedRecordsDoNotHoldTheLastStableOffset(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	is(t, st.produce(ref, 0, 0, true).Err, nil)
	st.do(Produce{Batches: []Batch{plain(0, 3)}})
	st.do(AdvanceLogStart{[]LogStartMove{{TopicPartition{id(1), 0}, 2}}})
	if b := st.bounds(0); b.LogStart != 2 || b.LastStable != 2 || b.End != 4 {
		t.Fatalf("%+v", b)
	}
	_, err := st.end(ref, true, false)
	is(t, err, nil)
	if b := st.bounds(0); b.LastStable != 5 {
		t.Fatalf("%+v", b)
	}
}

func TestIdleTransactionalIDsAreForgotten(t *testing.T) {
	st := newStepper(t)
	idle, busy := st.init("idle"), st.init("busy")
	is(t, st.produce(busy, 0, 0, true).Err, nil)
	st.now += 5000
	st.do(ExpireTransactionalIDs{IdleMillis: 5000})
	if got := st.s.Transactions(); len(got) != 1 || got[0].TransactionalID != "busy" || got[0].Status != TransactionOngoing {
		t.Fatalf("%+v", got)
	}
	st.do(ExpireProducers{IdleMillis: 0})
	if got := st.s.Producers(TopicPartition{id(1), 0}); len(got) != 1 || got[0].TxnStart != 0 {
		t.Fatalf("%+v", got)
	}
	is(t, st.add(idle, 0), ErrInvalidProducerID)
}

func TestABatchOutsideTheTransactionOfItsProducerIsRefused(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	is(t, st.add(ref, 0), nil)
	b := Batch{TopicPartition: TopicPartition{id(1), 0}, Records: 1, SizeBytes: 70, ProducerID: ref.ProducerID, ProducerEpoch: ref.ProducerEpoch}
	is(t, st.do(Produce{Batches: []Batch{b}}).(ProduceResult).Batches[0].Err, ErrNoTransaction)
}

func TestPartitionsAreAddedAllOrNone(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	r := st.do(AddPartitionsToTransaction{TransactionRef: ref, Partitions: []TopicPartition{{id(1), 0}, {id(1), 9}}}).(AddPartitionsResult)
	if !errors.Is(r.Errs[0], ErrRequestRefused) || !errors.Is(r.Errs[1], ErrUnknownTopic) {
		t.Fatal(r)
	}
	if tx, _ := st.s.Transaction("a"); tx.Status != TransactionEmpty || tx.StartedAt != -1 {
		t.Fatalf("%+v", tx)
	}
	verify := AddPartitionsToTransaction{TransactionRef: ref, Partitions: []TopicPartition{{id(1), 0}}, VerifyOnly: true}
	is(t, st.do(verify).(AddPartitionsResult).Errs[0], ErrNoTransaction)
	is(t, st.add(ref, 0), nil)
	is(t, st.do(verify).(AddPartitionsResult).Errs[0], nil)
}

// A plain model of visibility: each record and marker in a list; who is open, what is
// committed is found by searching it.
func TestTransactionsAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type rec struct {
			pid    int64
			marker Marker
		}
		logs := map[int32][]rec{}
		s := New()
		now := Millis(1000)
		apply := func(in Intent) any {
			e, res := s.Decide(now, in, nil)
			if e == nil {
				return res
			}
			e = slices.Clone(e)
			batches, err := Batches(e, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				if b.BaseOffset != int64(len(logs[b.Partition])) {
					t.Fatalf("batch at %d of %d", b.BaseOffset, len(logs[b.Partition]))
				}
				pid := int64(-1)
				if b.Transactional {
					pid = b.ProducerID
				}
				logs[b.Partition] = append(logs[b.Partition], rec{pid, b.Marker})
			}
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
			return res
		}
		apply(CreateTopic{ID: id(1), Name: "t", Partitions: 3})
		refs := map[string]TransactionRef{}
		seqs := map[string]int32{}
		key := func(r TransactionRef, p int32) string { return fmt.Sprint(r.ProducerID, r.ProducerEpoch, p) }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += Millis(rapid.IntRange(0, 300).Draw(t, "ms"))
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			p := int32(rapid.IntRange(0, 2).Draw(t, "partition"))
			ref := refs[name]
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				r := apply(InitTransaction{TransactionalID: name, TimeoutMillis: 1000, ProducerID: -1, ProducerEpoch: -1}).(ProducerIDResult)
				refs[name] = TransactionRef{name, r.ProducerID, r.ProducerEpoch}
			case 1:
				apply(AddPartitionsToTransaction{TransactionRef: ref, Partitions: []TopicPartition{{id(1), p}}})
			case 2, 3:
				k := key(ref, p)
				r := apply(Produce{TransactionalID: name, AddPartitions: rapid.Bool().Draw(t, "add"), Batches: []Batch{{
					TopicPartition: TopicPartition{id(1), p}, Records: 1, SizeBytes: 70, ProducerID: ref.ProducerID, ProducerEpoch: ref.ProducerEpoch,
					FirstSequence: seqs[k], Transactional: true,
				}}}).(ProduceResult).Batches[0]
				if r.Err == nil {
					seqs[k]++
				}
			case 4:
				apply(Produce{Batches: []Batch{plain(p, 1)}})
			case 5, 6:
				in := EndTransaction{TransactionRef: ref, Commit: rapid.Bool().Draw(t, "commit"), BumpEpoch: rapid.Bool().Draw(t, "bump")}
				if r := apply(in).(ProducerIDResult); r.Err == nil {
					refs[name] = TransactionRef{name, r.ProducerID, r.ProducerEpoch}
				}
			case 7:
				for _, open := range s.OpenTransactions(nil) {
					if now-open.StartedAt > 1000 {
						apply(ExpireTransaction{open})
					}
				}
			}
			for p, log := range logs {
				open := map[int64]int64{}
				for off, r := range log {
					if r.marker != NoMarker {
						delete(open, r.pid)
					} else if _, ok := open[r.pid]; r.pid >= 0 && !ok {
						open[r.pid] = int64(off)
					}
				}
				want := int64(len(log))
				for first := range maps.Values(open) {
					want = min(want, first)
				}
				b, _ := s.Bounds(TopicPartition{id(1), p})
				if b.End != int64(len(log)) || b.LastStable != want {
					t.Fatalf("partition %d: %+v, want last stable %d, end %d", p, b, want, len(log))
				}
			}
		}
		back, err := Decode(s.Encode(nil))
		if err != nil || back.Hash() != s.Hash() || s.Clone().Hash() != s.Hash() {
			t.Fatal("the snapshot does not read back", err)
		}
	})
}

func TestDeletedOffsetsDoNotComeBackWithACommit(t *testing.T) {
	st := newStepper(t)
	offsets := func(group string, ref TransactionRef) {
		t.Helper()
		r := st.do(CommitTransactionOffsets{TransactionRef: ref, Group: group, AddGroup: true, Offsets: []OffsetCommit{
			{TopicPartition: TopicPartition{id(1), 0}, Offset: 5, LeaderEpoch: -1, ExpireAt: -1},
			{TopicPartition: TopicPartition{id(1), 1}, Offset: 6, LeaderEpoch: -1, ExpireAt: -1},
		}}).(CommitOffsetsResult)
		is(t, errors.Join(append(r.Errs, r.Err)...), nil)
	}
	ref := st.init("a")
	offsets("deleted", ref)
	offsets("kept", ref)
	is(t, st.do(DeleteGroup{"deleted"}).(GroupResult).Err, nil)
	r := st.do(DeleteOffsets{Group: "kept", Partitions: []TopicPartition{{id(1), 1}}}).(CommitOffsetsResult)
	is(t, errors.Join(append(r.Errs, r.Err)...), nil)
	if n := len(st.s.PendingOffsets("kept")); st.s.PendingOffsets("deleted") != nil || n != 1 {
		t.Fatal("pending:", n)
	}
	is(t, st.do(DeleteGroup{"deleted"}).(GroupResult).Err, ErrUnknownGroup)
	_, err := st.end(ref, true, true)
	is(t, err, nil)
	if _, known := st.s.GroupOffsets("deleted"); known {
		t.Fatal("the deleted group came back")
	}
	if o, _ := st.s.GroupOffsets("kept"); len(o) != 1 || o[TopicPartition{id(1), 0}].Offset != 5 {
		t.Fatal(o)
	}
}

func TestAnEndBeforeTheFirstTransactionIsFencedByItsEpoch(t *testing.T) {
	st := newStepper(t)
	ref := st.init("a")
	r := st.do(InitTransaction{TransactionalID: "a", TimeoutMillis: 1000, ProducerID: ref.ProducerID, ProducerEpoch: ref.ProducerEpoch}).(ProducerIDResult)
	is(t, r.Err, nil)
	_, err := st.end(ref, true, true)
	is(t, err, ErrInvalidProducerEpoch)
}
