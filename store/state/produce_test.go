package state

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func id(n byte) (t TopicID) { t[15] = n; return t }

// do decides and applies, as the store does, and checks that Decide alone changes nothing.
func do(t testing.TB, s *State, now Millis, in Intent) any {
	t.Helper()
	before := s.Hash()
	e, res := s.Decide(now, in, nil)
	if s.Hash() != before {
		t.Fatalf("Decide(%T) changed the state", in)
	}
	if e != nil {
		if err := s.Apply(e); err != nil {
			t.Fatalf("Apply(%T): %v", in, err)
		}
	}
	return res
}

func newWithTopic(t testing.TB, partitions int32) *State {
	t.Helper()
	s := New()
	if r := do(t, s, 1, CreateTopic{ID: id(1), Name: "t", Partitions: partitions}).(TopicResult); r.Err != nil {
		t.Fatal(r.Err)
	}
	return s
}

func idem(partition, records int32, pid int64, epoch int16, seq int32) Batch {
	return Batch{
		TopicPartition: TopicPartition{id(1), partition}, Records: records, SizeBytes: 100,
		MinTimestamp: 5, MaxTimestamp: 9, ProducerID: pid, ProducerEpoch: epoch, FirstSequence: seq,
	}
}

func plain(partition, records int32) Batch { return idem(partition, records, -1, -1, -1) }

func produce(t testing.TB, s *State, now Millis, bs ...Batch) []BatchResult {
	t.Helper()
	return do(t, s, now, Produce{Batches: bs}).(ProduceResult).Batches
}

func wantResults(t *testing.T, got []BatchResult, want ...BatchResult) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) && errors.Is(b, a) })); d != "" {
		t.Fatalf("results (-want +got):\n%s", d)
	}
}

func TestIdempotentProducer(t *testing.T) {
	ok := func(base int64) BatchResult { return BatchResult{BaseOffset: base} }
	dup := func(base int64) BatchResult { return BatchResult{BaseOffset: base, Duplicate: true} }
	bad := func(err error) BatchResult { return BatchResult{BaseOffset: -1, Err: err} }
	type step struct {
		b    Batch
		want BatchResult
	}
	for name, steps := range map[string][]step{
		"repeats within five batches get the first offset": {
			{idem(0, 1, 7, 0, 0), ok(0)},
			{idem(0, 2, 7, 0, 1), ok(1)},
			{idem(0, 1, 7, 0, 3), ok(3)},
			{idem(0, 1, 7, 0, 4), ok(4)},
			{idem(0, 1, 7, 0, 5), ok(5)},
			{idem(0, 1, 7, 0, 0), dup(0)},
			{idem(0, 2, 7, 0, 1), dup(1)},
			{idem(0, 1, 7, 0, 5), dup(5)},
			{idem(0, 1, 7, 0, 6), ok(6)},
		},
		"a repeat of the sixth last batch is out of order": {
			{idem(0, 1, 7, 0, 0), ok(0)},
			{idem(0, 1, 7, 0, 1), ok(1)},
			{idem(0, 1, 7, 0, 2), ok(2)},
			{idem(0, 1, 7, 0, 3), ok(3)},
			{idem(0, 1, 7, 0, 4), ok(4)},
			{idem(0, 1, 7, 0, 5), ok(5)},
			{idem(0, 1, 7, 0, 0), bad(ErrOutOfOrderSequence)},
			{idem(0, 1, 7, 0, 1), dup(1)},
		},
		"a repeat of another length is not a repeat": {
			{idem(0, 3, 7, 0, 0), ok(0)},
			{idem(0, 2, 7, 0, 0), bad(ErrOutOfOrderSequence)},
			{idem(0, 1, 7, 0, 3), ok(3)},
		},
		"a gap is out of order and changes nothing": {
			{idem(0, 5, 7, 0, 0), ok(0)},
			{idem(0, 1, 7, 0, 7), bad(ErrOutOfOrderSequence)},
			{idem(0, 1, 7, 0, 5), ok(5)},
		},
		"an unknown producer may start anywhere": {
			{idem(0, 1, 7, 3, 42), ok(0)},
			{idem(0, 1, 7, 3, 43), ok(1)},
			{idem(0, 1, 7, 3, 42), dup(0)},
		},
		"an older epoch is fenced, even for a repeat": {
			{idem(0, 1, 7, 1, 0), ok(0)},
			{idem(0, 1, 7, 0, 1), bad(ErrInvalidProducerEpoch)},
			{idem(0, 1, 7, 2, 0), ok(1)},
			{idem(0, 1, 7, 1, 0), bad(ErrInvalidProducerEpoch)},
		},
		"a new epoch starts at sequence zero": {
			{idem(0, 1, 7, 0, 0), ok(0)},
			{idem(0, 1, 7, 1, 1), bad(ErrOutOfOrderSequence)},
			{idem(0, 1, 7, 1, 0), ok(1)},
			{idem(0, 1, 7, 1, 1), ok(2)},
			{idem(0, 1, 7, 1, 0), dup(1)},
		},
		"sequences wrap at 2^31": {
			{idem(0, 1, 7, 0, math.MaxInt32-2), ok(0)},
			{idem(0, 4, 7, 0, math.MaxInt32-1), ok(1)}, // takes MaxInt32-1, MaxInt32, 0, 1
			{idem(0, 1, 7, 0, 2), ok(5)},
			{idem(0, 4, 7, 0, math.MaxInt32-1), dup(1)},
			{idem(0, 1, 7, 0, 2), dup(5)},
		},
		"the last sequence before the wrap is followed by zero": {
			{idem(0, 1, 7, 0, math.MaxInt32), ok(0)},
			{idem(0, 1, 7, 0, 1), bad(ErrOutOfOrderSequence)},
			{idem(0, 1, 7, 0, 0), ok(1)},
		},
		"partitions and producers have sequences of their own": {
			{idem(0, 1, 7, 0, 0), ok(0)},
			{idem(1, 1, 7, 0, 0), ok(0)},
			{idem(0, 1, 8, 0, 0), ok(1)},
			{idem(0, 1, 7, 0, 1), ok(2)},
		},
		"a negative epoch or sequence is refused": {
			{idem(0, 1, 7, -1, 0), bad(ErrInvalidProducerEpoch)},
			{idem(0, 1, 7, 0, -1), bad(ErrOutOfOrderSequence)},
		},
		"transactional batches need a transaction": {
			{Batch{TopicPartition: TopicPartition{id(1), 0}, Records: 1, ProducerID: 7, Transactional: true}, bad(ErrInvalidProducerID)},
		},
		"a batch without records is refused": {
			{plain(0, 0), bad(ErrInvalidBatch)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWithTopic(t, 2)
			for _, st := range steps {
				wantResults(t, produce(t, s, 1, st.b), st.want)
				// A restart between any two requests changes nothing.
				var err error
				if s, err = Decode(s.Encode(nil)); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Run(name+", in one request", func(t *testing.T) {
			s := newWithTopic(t, 2)
			var bs []Batch
			var want []BatchResult
			for _, st := range steps {
				bs, want = append(bs, st.b), append(want, st.want)
			}
			wantResults(t, produce(t, s, 1, bs...), want...)
		})
	}
}

// cases.md C51
func TestRepeatsAfterARestartAreFoundInTheLog(t *testing.T) {
	s := newWithTopic(t, 1)
	send := func(want ...BatchResult) {
		t.Helper()
		for seq := range int32(5) {
			wantResults(t, produce(t, s, 1, idem(0, 1, 9, 0, seq)), want[seq])
		}
	}
	first := make([]BatchResult, 5)
	again := make([]BatchResult, 5)
	for i := range first {
		first[i].BaseOffset = int64(i)
		again[i] = BatchResult{BaseOffset: int64(i), Duplicate: true}
	}
	send(first...)
	send(again...)
	s, err := Decode(s.Encode(nil))
	if err != nil {
		t.Fatal(err)
	}
	send(again...)
	wantResults(t, produce(t, s, 1, idem(0, 1, 9, 0, 7)), BatchResult{BaseOffset: -1, Err: ErrOutOfOrderSequence})
	if b, _ := s.Bounds(TopicPartition{id(1), 0}); b != (Bounds{End: 5, LastStable: 5, Dense: true}) {
		t.Fatalf("bounds %+v", b)
	}
}

func TestBatchesOfOnePartitionInOneRequestFollowEachOther(t *testing.T) {
	s := newWithTopic(t, 2)
	wantResults(t, produce(t, s, 1, plain(0, 3), plain(1, 5), plain(0, 2), idem(0, 1, 4, 0, 0), plain(0, 1)),
		BatchResult{BaseOffset: 0}, BatchResult{BaseOffset: 0}, BatchResult{BaseOffset: 3},
		BatchResult{BaseOffset: 5}, BatchResult{BaseOffset: 6})
}

func TestARefusedBatchDoesNotHinderTheOthers(t *testing.T) {
	s := newWithTopic(t, 2)
	other := plain(0, 1)
	other.Topic = id(9)
	wantResults(t, produce(t, s, 1, plain(0, 1), plain(2, 1), other, plain(-1, 1), plain(1, 1)),
		BatchResult{BaseOffset: 0},
		BatchResult{BaseOffset: -1, LogStart: -1, Err: ErrUnknownTopic},
		BatchResult{BaseOffset: -1, LogStart: -1, Err: ErrUnknownTopic},
		BatchResult{BaseOffset: -1, LogStart: -1, Err: ErrUnknownTopic},
		BatchResult{BaseOffset: 0})
}

func TestAllOrNothingRefusesEveryBatchWithTheBadOne(t *testing.T) {
	s := newWithTopic(t, 2)
	produce(t, s, 1, idem(0, 1, 3, 0, 0))
	h := s.Hash()
	res := do(t, s, 1, Produce{AllOrNothing: true, Batches: []Batch{
		plain(0, 1), idem(0, 1, 3, 0, 0), idem(1, 1, 3, 0, 0), plain(7, 1),
	}}).(ProduceResult).Batches
	wantResults(t, res,
		BatchResult{BaseOffset: -1, Err: ErrRequestRefused},
		BatchResult{BaseOffset: -1, Err: ErrRequestRefused},
		BatchResult{BaseOffset: -1, Err: ErrRequestRefused},
		BatchResult{BaseOffset: -1, LogStart: -1, Err: ErrUnknownTopic})
	if s.Hash() != h {
		t.Fatal("a refused request changed the state")
	}
	wantResults(t, produce(t, s, 1, idem(1, 1, 3, 0, 0)), BatchResult{})
}

func TestProducersExpireByAppendTimeNotRecordTime(t *testing.T) {
	s := newWithTopic(t, 1)
	old := idem(0, 1, 3, 0, 5)
	old.MinTimestamp, old.MaxTimestamp = 1, 1 // a record time long ago
	produce(t, s, 1_000_000, old)
	do(t, s, 1_000_500, ExpireProducers{IdleMillis: 1000})
	wantResults(t, produce(t, s, 1_000_600, idem(0, 1, 3, 0, 9)), BatchResult{BaseOffset: -1, Err: ErrOutOfOrderSequence})
	do(t, s, 1_001_000, ExpireProducers{IdleMillis: 1000})
	wantResults(t, produce(t, s, 1_001_100, idem(0, 1, 3, 0, 9)), BatchResult{BaseOffset: 1})
}

func TestBatchesReturnsWhatWasDecided(t *testing.T) {
	s := newWithTopic(t, 3)
	do(t, s, 1, CreateTopic{ID: id(2), Name: "u", Partitions: 1})
	bs := []Batch{
		plain(0, 1),
		idem(2, 7, math.MaxInt64, 12, math.MaxInt32),
		{TopicPartition: TopicPartition{id(2), 0}, Records: math.MaxInt32, SizeBytes: math.MaxInt32, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1},
		{TopicPartition: TopicPartition{id(2), 0}, Records: 1, SizeBytes: 0, MinTimestamp: -1, MaxTimestamp: -1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1},
	}
	e, res := s.Decide(77, Produce{Batches: bs}, nil)
	got, err := Batches(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []AppliedBatch
	for i, b := range bs {
		want = append(want, AppliedBatch{Batch: b, BaseOffset: res.(ProduceResult).Batches[i].BaseOffset, AppendTime: 77})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

func TestProducerLimitRefusesNewProducersOnly(t *testing.T) {
	s := NewWithLimits(Limits{MaxProducers: 1})
	do(t, s, 1, CreateTopic{ID: id(1), Name: "t", Partitions: 1})
	wantResults(t, produce(t, s, 1, idem(0, 1, 1, 0, 0), idem(0, 1, 2, 0, 0), plain(0, 1)),
		BatchResult{BaseOffset: 0}, BatchResult{BaseOffset: -1, Err: ErrTooMany}, BatchResult{BaseOffset: 1})
	wantResults(t, produce(t, s, 1, idem(0, 1, 1, 0, 1)), BatchResult{BaseOffset: 2})
}

func BenchmarkProduceOneBatch(b *testing.B) { benchmarkProduce(b, 1) }
func BenchmarkProduce100Batches(b *testing.B) {
	benchmarkProduce(b, 100)
}

func benchmarkProduce(b *testing.B, n int) {
	s := newWithTopic(b, int32(n))
	bs := make([]Batch, n)
	buf := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	seq := int32(0)
	for b.Loop() {
		for i := range bs {
			bs[i] = idem(int32(i), 1, 1, 0, seq)
		}
		seq++
		e, _ := s.Decide(1_700_000_000_000, Produce{Batches: bs}, buf)
		if err := s.Apply(e); err != nil {
			b.Fatal(err)
		}
	}
}
