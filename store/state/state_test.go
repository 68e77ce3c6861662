package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestTopicNamesAreKafkas(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A.b_c-9": true, "...": true, "__consumer_offsets": true, strings.Repeat("x", 249): true,
		"": false, ".": false, "..": false, "a b": false, "ä": false, "a/b": false, "a$raw": false, strings.Repeat("x", 250): false,
	} {
		if ValidTopicName(name) != want {
			t.Errorf("ValidTopicName(%q) = %v", name, !want)
		}
		res := do(t, New(), 1, CreateTopic{ID: id(1), Name: name, Partitions: 1}).(TopicResult)
		if (res.Err == nil) != want || !want && !errors.Is(res.Err, ErrInvalidTopicName) {
			t.Errorf("CreateTopic(%q): %v", name, res.Err)
		}
	}
}

func TestNamesThatDifferInDotAndUnderscoreMayCoexist(t *testing.T) {
	s := New()
	for i, name := range []string{"a.b", "a_b"} {
		if r := do(t, s, 1, CreateTopic{ID: id(byte(i + 1)), Name: name, Partitions: 1}).(TopicResult); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

func TestLimitsRefuseTopicsAndPartitions(t *testing.T) {
	s := NewWithLimits(Limits{MaxTopics: 2, MaxPartitions: 5})
	create := func(n byte, partitions int32) error {
		return do(t, s, 1, CreateTopic{ID: id(n), Name: fmt.Sprint(n), Partitions: partitions}).(TopicResult).Err
	}
	if err := create(1, 6); !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	if err := create(1, 3); err != nil {
		t.Fatal(err)
	}
	if err := create(2, 1); err != nil {
		t.Fatal(err)
	}
	if err := create(3, 1); !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	if err := do(t, s, 1, CreatePartitions{ID: id(2), Count: 3}).(TopicResult).Err; !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	if err := do(t, s, 1, CreatePartitions{ID: id(2), Count: 2}).(TopicResult).Err; err != nil {
		t.Fatal(err)
	}
	// A lower limit keeps what is there.
	if _, err := DecodeWithLimits(s.Encode(nil), Limits{MaxTopics: 1, MaxPartitions: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestADeletedTopicTakesItsOffsetsAndStartsAnewUnderTheSameName(t *testing.T) {
	s := newWithTopic(t, 1)
	tp := TopicPartition{id(1), 0}
	produce(t, s, 1, idem(0, 3, 1, 0, 0))
	do(t, s, 1, CommitOffsets{Group: "g", Offsets: []OffsetCommit{{TopicPartition: tp, Offset: 2, ExpireAt: -1}}})
	do(t, s, 1, DeleteTopic{ID: id(1)})
	if offs, ok := s.GroupOffsets("g"); !ok || len(offs) != 0 {
		t.Fatalf("offsets %v %v", offs, ok)
	}
	if _, err := s.Bounds(tp); !errors.Is(err, ErrUnknownTopic) {
		t.Fatal(err)
	}
	do(t, s, 1, CreateTopic{ID: id(2), Name: "t", Partitions: 1})
	if b, err := s.Bounds(TopicPartition{id(2), 0}); err != nil || b.End != 0 {
		t.Fatalf("%+v %v", b, err)
	}
	if topic, ok := s.TopicByName("t"); !ok || topic.ID != id(2) {
		t.Fatalf("%+v", topic)
	}
}

func TestDocumentVersionsAreNeverReused(t *testing.T) {
	s := New()
	put := func(expect uint64, data []byte) DocumentResult {
		return do(t, s, 1, PutDocument{Kind: "user", Key: "u", ExpectVersion: expect, Data: data}).(DocumentResult)
	}
	first := put(0, []byte("a"))
	if first.Err != nil || first.Version == 0 {
		t.Fatalf("%+v", first)
	}
	kindVersion := s.DocumentsVersion("user")
	if r := put(0, []byte("b")); !errors.Is(r.Err, ErrVersionMismatch) || r.Version != first.Version {
		t.Fatalf("%+v", r)
	}
	if r := put(first.Version, nil); r.Err != nil || r.Version != 0 {
		t.Fatalf("%+v", r)
	}
	if s.DocumentsVersion("user") == kindVersion {
		t.Fatal("a delete left the kind's version")
	}
	second := put(0, []byte{})
	if second.Err != nil || second.Version <= first.Version {
		t.Fatalf("%+v after %+v", second, first)
	}
	if d, ok := s.Document("user", "u"); !ok || d.Data == nil || len(d.Data) != 0 {
		t.Fatalf("an empty document is not an absent one: %+v %v", d, ok)
	}
	if r := put(first.Version, []byte("stale")); !errors.Is(r.Err, ErrVersionMismatch) {
		t.Fatalf("%+v", r)
	}
}

func TestProducerIDs(t *testing.T) {
	s := New()
	alloc := func(pid int64, epoch int16) ProducerIDResult {
		return do(t, s, 1, AllocateProducerID{ProducerID: pid, ProducerEpoch: epoch}).(ProducerIDResult)
	}
	for _, step := range []struct {
		pid   int64
		epoch int16
		want  ProducerIDResult
	}{
		{-1, -1, ProducerIDResult{ProducerID: 0}},
		{-1, -1, ProducerIDResult{ProducerID: 1}},
		{0, 0, ProducerIDResult{ProducerID: 0, ProducerEpoch: 1}},
		{0, 0, ProducerIDResult{Err: ErrInvalidProducerEpoch, ProducerID: -1, ProducerEpoch: -1}},
		{0, 1, ProducerIDResult{ProducerID: 0, ProducerEpoch: 2}},
		{5, 0, ProducerIDResult{Err: ErrUnknownProducer, ProducerID: -1, ProducerEpoch: -1}},
		{1, lastHandedEpoch, ProducerIDResult{ProducerID: 2}},
	} {
		if got := alloc(step.pid, step.epoch); got != step.want {
			t.Fatalf("alloc(%d, %d) = %+v, want %+v", step.pid, step.epoch, got, step.want)
		}
	}
}

func TestTheLogStartNeverGoesBack(t *testing.T) {
	s := newWithTopic(t, 1)
	tp := TopicPartition{id(1), 0}
	produce(t, s, 1, plain(0, 10))
	for _, step := range []struct {
		before, want int64
		err          error
	}{{4, 4, nil}, {2, 4, nil}, {11, 4, ErrOffsetOutOfRange}, {-2, 4, ErrOffsetOutOfRange}, {-1, 10, nil}, {0, 10, nil}} {
		r := do(t, s, 1, AdvanceLogStart{Partitions: []LogStartMove{{tp, step.before}}}).(AdvanceLogStartResult).Partitions[0]
		if r.LogStart != step.want || !errors.Is(r.Err, step.err) {
			t.Fatalf("before %d: %+v", step.before, r)
		}
	}
	e, _ := newWithData(t).Decide(1, AdvanceLogStart{Partitions: []LogStartMove{{tp, 1}, {tp, 2}}}, nil)
	moves, err := LogStarts(e, nil)
	if err != nil || len(moves) != 2 || moves[1] != (LogStartMove{tp, 2}) {
		t.Fatal(moves, err)
	}
}

func newWithData(t testing.TB) *State {
	s := newWithTopic(t, 2)
	produce(t, s, 1000, plain(0, 3), idem(1, 2, 1, 0, 0))
	do(t, s, 2, AllocateProducerID{ProducerID: -1})
	do(t, s, 2, AllocateProducerID{ProducerID: 0})
	do(t, s, 3, PutGroup{Group: "g", Empty: true, Data: []byte("members")})
	do(t, s, 4, CommitOffsets{Group: "g", Offsets: []OffsetCommit{{TopicPartition: TopicPartition{id(1), 1}, Offset: 1, LeaderEpoch: -1, Metadata: "m", ExpireAt: -1}}})
	do(t, s, 5, PutDocument{Kind: "k", Key: "a", Data: []byte("v")})
	return s
}

func TestGroupsWithMembersKeepTheirOffsets(t *testing.T) {
	s := newWithData(t)
	do(t, s, 10, PutGroup{Group: "g", Data: []byte("members")})
	if r := do(t, s, 1e9, DeleteGroup{Group: "g"}).(GroupResult); !errors.Is(r.Err, ErrGroupNotEmpty) {
		t.Fatal(r.Err)
	}
	do(t, s, 1e9, ExpireOffsets{RetentionMillis: 1})
	if offs, _ := s.GroupOffsets("g"); len(offs) != 1 {
		t.Fatal(offs)
	}
	do(t, s, 1e9, PutGroup{Group: "g", Empty: true, Data: []byte("members")})
	do(t, s, 1e9+99, ExpireOffsets{RetentionMillis: 100})
	if offs, ok := s.GroupOffsets("g"); !ok || len(offs) != 1 {
		t.Fatal("retention counts from when the group became empty", offs, ok)
	}
	do(t, s, 1e9+100, ExpireOffsets{RetentionMillis: 100})
	if _, ok := s.GroupOffsets("g"); ok {
		t.Fatal("a group without members and offsets goes")
	}
}

func TestEveryTruncatedOrFlippedSnapshotIsRefusedOrConsistent(t *testing.T) {
	snap := newWithData(t).Encode(nil)
	for n := range snap {
		if _, err := Decode(snap[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(snap), err)
		}
	}
	if _, err := Decode(append(snap[:len(snap):len(snap)], 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatal("bytes left over are accepted")
	}
}

func entries(t testing.TB) [][]byte {
	var all [][]byte
	for _, in := range []Intent{
		Produce{Batches: []Batch{plain(0, 1), idem(1, 3, 1, 0, 2)}},
		CreateTopic{ID: id(2), Name: "u", Partitions: 3, Configs: map[string]string{"a": "b"}},
		DeleteTopic{ID: id(1)},
		CreatePartitions{ID: id(1), Count: 5},
		SetTopicConfigs{ID: id(1), ExpectVersion: 1, Configs: map[string]string{"a": "b"}},
		AdvanceLogStart{Partitions: []LogStartMove{{TopicPartition{id(1), 0}, -1}}},
		AllocateProducerID{ProducerID: -1},
		AllocateProducerID{ProducerID: 0, ProducerEpoch: 3},
		ExpireProducers{},
		CommitOffsets{Group: "h", Offsets: []OffsetCommit{{TopicPartition: TopicPartition{id(1), 0}, Metadata: "x"}}},
		DeleteOffsets{Group: "g", Partitions: []TopicPartition{{id(1), 1}}},
		PutGroup{Group: "h", Data: []byte("d")},
		DeleteGroup{Group: "g"},
		ExpireOffsets{},
		PutDocument{Kind: "k", Key: "b", Data: []byte("d")},
		PutDocument{Kind: "k", Key: "a", ExpectVersion: 1},
	} {
		e, res := newWithData(t).Decide(1e6, in, nil)
		if e == nil {
			t.Fatalf("%#v: no entry, %+v", in, res)
		}
		all = append(all, e)
	}
	return all
}

func TestATruncatedEntryIsRefusedOrShorter(t *testing.T) {
	base := newWithData(t).Encode(nil)
	for _, e := range entries(t) {
		for n := range e {
			s, err := Decode(base)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Apply(e[:n]); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d of %x: %v", n, e, err)
			}
		}
	}
}

// A corrupt entry may be refused or may be another valid entry, but never
// panics, and what it leaves can be saved and read back.
func FuzzApply(f *testing.F) {
	for _, e := range entries(f) {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, e []byte) {
		s := newWithData(t)
		_, batchErr := Batches(e, nil)
		_, startErr := LogStarts(e, nil)
		if err := s.Apply(e); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if batchErr != nil || startErr != nil {
			t.Fatal("an entry that applies does not decode:", batchErr, startErr)
		}
		c, err := Decode(s.Encode(nil))
		if err != nil {
			t.Fatalf("snapshot after %x: %v", e, err)
		}
		if c.Hash() != s.Hash() || s.Clone().Hash() != s.Hash() {
			t.Fatal("copies differ")
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(New().Encode(nil))
	f.Add(newWithData(f).Encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		c, err := Decode(s.Encode(nil))
		if err != nil || c.Hash() != s.Hash() {
			t.Fatal("a snapshot that is read does not survive another round", err)
		}
	})
}
