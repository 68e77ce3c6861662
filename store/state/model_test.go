package state

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// model is the state machine said as plainly as possible: every batch ever
// appended is kept, and answers are found by searching.
type model struct {
	topics  map[TopicID]*modelTopic
	groups  map[string]*modelGroup
	docs    map[[2]string]Document
	docSeq  uint64
	nextPID int64
}

type modelTopic struct {
	name    string
	configs map[string]string
	version uint64
	parts   []*modelPartition
}

type modelPartition struct {
	start, end int64
	log        []modelBatch
	forgotten  map[int64]int // producer → batches of log that expiry made it forget
}

type modelBatch struct {
	base int64
	b    Batch
	at   Millis
}

type modelGroup struct {
	data   []byte
	active bool
	since  Millis
	offs   map[TopicPartition]OffsetCommit
	at     map[TopicPartition]Millis
}

func (m *model) part(tp TopicPartition) *modelPartition {
	if t := m.topics[tp.Topic]; t != nil && tp.Partition >= 0 && int(tp.Partition) < len(t.parts) {
		return t.parts[tp.Partition]
	}
	return nil
}

// history is the producer's batches in its latest epoch, and that epoch.
func (p *modelPartition) history(pid int64) (h []modelBatch, epoch int16) {
	for i, mb := range p.log {
		if mb.b.ProducerID != pid || i < p.forgotten[pid] {
			continue
		}
		if mb.b.ProducerEpoch != epoch {
			h, epoch = nil, mb.b.ProducerEpoch
		}
		h = append(h, mb)
	}
	return h, epoch
}

func seqAfter(b Batch) int32 { return int32((int64(b.FirstSequence) + int64(b.Records)) % (1 << 31)) }

func (m *model) produceOne(now Millis, b Batch) BatchResult {
	p := m.part(b.TopicPartition)
	if p == nil {
		return BatchResult{Err: ErrUnknownTopic, BaseOffset: -1, LogStart: -1}
	}
	if b.ProducerID >= 0 {
		if h, epoch := p.history(b.ProducerID); len(h) > 0 {
			last := h[len(h)-1]
			switch {
			case b.ProducerEpoch < epoch:
				return BatchResult{Err: ErrInvalidProducerEpoch, BaseOffset: -1, LogStart: p.start}
			case b.ProducerEpoch > epoch:
				if b.FirstSequence != 0 {
					return BatchResult{Err: ErrOutOfOrderSequence, BaseOffset: -1, LogStart: p.start}
				}
			case b.FirstSequence != seqAfter(last.b):
				for _, old := range h[max(0, len(h)-5):] {
					if old.b.FirstSequence == b.FirstSequence && old.b.Records == b.Records {
						return BatchResult{BaseOffset: old.base, LogStart: p.start, Duplicate: true}
					}
				}
				return BatchResult{Err: ErrOutOfOrderSequence, BaseOffset: -1, LogStart: p.start}
			}
		}
	}
	base := p.end
	p.log = append(p.log, modelBatch{base, b, now})
	p.end += int64(b.Records)
	return BatchResult{BaseOffset: base, LogStart: p.start}
}

func (m *model) clone() *model {
	c := *m
	c.topics = map[TopicID]*modelTopic{}
	for id, t := range m.topics {
		n := *t
		n.parts = nil
		for _, p := range t.parts {
			q := *p
			q.log = slices.Clone(p.log)
			q.forgotten = maps.Clone(p.forgotten)
			n.parts = append(n.parts, &q)
		}
		c.topics[id] = &n
	}
	return &c
}

// step applies in to the model and returns the answer that Decide must give.
func (m *model) step(now Millis, in Intent) any {
	switch in := in.(type) {
	case Produce:
		try := m.clone()
		var res ProduceResult
		refused := false
		for _, b := range in.Batches {
			r := try.produceOne(now, b)
			refused = refused || r.Err != nil
			res.Batches = append(res.Batches, r)
		}
		if refused && in.AllOrNothing {
			for i := range res.Batches {
				if r := &res.Batches[i]; r.Err == nil {
					*r = BatchResult{Err: ErrRequestRefused, BaseOffset: -1, LogStart: r.LogStart}
				}
			}
			return res
		}
		m.topics = try.topics
		return res
	case CreateTopic:
		for id, t := range m.topics {
			if t.name == in.Name { // a name clash is told before an id clash
				return TopicResult{Err: ErrTopicExists, Topic: m.describe(id)}
			}
		}
		if m.topics[in.ID] != nil {
			return TopicResult{Err: ErrTopicExists}
		}
		if in.Partitions < 1 {
			return TopicResult{Err: ErrInvalidPartitions}
		}
		t := &modelTopic{name: in.Name, version: 1, configs: in.Configs}
		for range in.Partitions {
			t.parts = append(t.parts, &modelPartition{forgotten: map[int64]int{}})
		}
		m.topics[in.ID] = t
		return TopicResult{Topic: m.describe(in.ID)}
	case DeleteTopic:
		if m.topics[in.ID] == nil {
			return TopicResult{Err: ErrUnknownTopic}
		}
		d := m.describe(in.ID)
		delete(m.topics, in.ID)
		for _, g := range m.groups {
			for tp := range g.offs {
				if tp.Topic == in.ID {
					delete(g.offs, tp)
				}
			}
		}
		return TopicResult{Topic: d}
	case CreatePartitions:
		t := m.topics[in.ID]
		if t == nil {
			return TopicResult{Err: ErrUnknownTopic}
		}
		if int(in.Count) <= len(t.parts) {
			return TopicResult{Err: ErrInvalidPartitions, Topic: m.describe(in.ID)}
		}
		for len(t.parts) < int(in.Count) {
			t.parts = append(t.parts, &modelPartition{forgotten: map[int64]int{}})
		}
		return TopicResult{Topic: m.describe(in.ID)}
	case SetTopicConfigs:
		t := m.topics[in.ID]
		if t == nil {
			return TopicResult{Err: ErrUnknownTopic}
		}
		if t.version != in.ExpectVersion {
			return TopicResult{Err: ErrVersionMismatch, Topic: m.describe(in.ID)}
		}
		if !maps.Equal(t.configs, in.Configs) {
			t.configs = in.Configs
			t.version++
		}
		return TopicResult{Topic: m.describe(in.ID)}
	case AdvanceLogStart:
		var res AdvanceLogStartResult
		for _, mv := range in.Partitions {
			r := struct {
				Err      error
				LogStart int64
			}{ErrUnknownTopic, -1}
			if p := m.part(mv.TopicPartition); p != nil {
				before := mv.Before
				if before == -1 {
					before = p.end
				}
				r.Err = nil
				if before < 0 || before > p.end {
					r.Err = ErrOffsetOutOfRange
				} else {
					p.start = max(p.start, before)
				}
				r.LogStart = p.start
			}
			res.Partitions = append(res.Partitions, r)
		}
		return res
	case AllocateProducerID:
		m.nextPID++
		return ProducerIDResult{ProducerID: m.nextPID - 1}
	case ExpireProducers:
		for _, t := range m.topics {
			for _, p := range t.parts {
				lastAppend := map[int64]Millis{}
				for _, mb := range p.log {
					lastAppend[mb.b.ProducerID] = mb.at
				}
				for pid, at := range lastAppend {
					if at <= now-in.IdleMillis {
						p.forgotten[pid] = len(p.log)
					}
				}
			}
		}
		return nil
	case CommitOffsets:
		res := CommitOffsetsResult{Errs: make([]error, len(in.Offsets))}
		for i, o := range in.Offsets {
			if m.part(o.TopicPartition) == nil {
				res.Errs[i] = ErrUnknownTopic
				continue
			}
			g := m.group(in.Group)
			g.offs[o.TopicPartition], g.at[o.TopicPartition] = o, now
		}
		return res
	case DeleteOffsets:
		res := CommitOffsetsResult{Errs: make([]error, len(in.Partitions))}
		for i, tp := range in.Partitions {
			switch {
			case m.groups[in.Group] == nil:
				res.Errs[i] = ErrUnknownGroup
			case m.part(tp) == nil:
				res.Errs[i] = ErrUnknownTopic
			default:
				delete(m.groups[in.Group].offs, tp)
			}
		}
		return res
	case PutGroup:
		g := m.group(in.Group)
		if in.Empty && (g.active || g.data == nil) {
			g.since = now
		}
		if !in.Empty {
			g.since = 0
		}
		g.active = !in.Empty
		g.data = append([]byte{}, in.Data...)
		return GroupResult{}
	case DeleteGroup:
		g := m.groups[in.Group]
		if g == nil {
			return GroupResult{Err: ErrUnknownGroup}
		}
		if g.active {
			return GroupResult{Err: ErrGroupNotEmpty}
		}
		delete(m.groups, in.Group)
		return GroupResult{}
	case ExpireOffsets:
		for name, g := range m.groups {
			if g.active {
				continue
			}
			for tp, o := range g.offs {
				if o.ExpireAt >= 0 && o.ExpireAt <= now || o.ExpireAt < 0 && max(g.since, g.at[tp])+in.RetentionMillis <= now {
					delete(g.offs, tp)
				}
			}
			if len(g.offs) == 0 {
				delete(m.groups, name)
			}
		}
		return nil
	case PutDocument:
		key := [2]string{in.Kind, in.Key}
		have := m.docs[key].Version
		if have != in.ExpectVersion {
			return DocumentResult{Err: ErrVersionMismatch, Version: have}
		}
		if in.Data == nil {
			if have != 0 {
				m.docSeq++
				delete(m.docs, key)
			}
			return DocumentResult{}
		}
		m.docSeq++
		m.docs[key] = Document{Kind: in.Kind, Key: in.Key, Version: m.docSeq, Data: in.Data}
		return DocumentResult{Version: m.docSeq}
	}
	panic(fmt.Sprintf("%T", in))
}

func (m *model) group(name string) *modelGroup {
	g := m.groups[name]
	if g == nil {
		g = &modelGroup{offs: map[TopicPartition]OffsetCommit{}, at: map[TopicPartition]Millis{}}
		m.groups[name] = g
	}
	return g
}

func (m *model) describe(id TopicID) Topic {
	t := m.topics[id]
	return Topic{ID: id, Name: t.name, Partitions: int32(len(t.parts)), Configs: t.configs, ConfigVersion: t.version}
}

// check compares everything that can be read.
func (m *model) check(t *rapid.T, s *State) {
	var topics []Topic
	for id := range m.topics {
		topics = append(topics, m.describe(id))
	}
	slices.SortFunc(topics, func(a, b Topic) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	equal(t, "topics", topics, s.Topics())
	var bounds []Bounds
	for _, tt := range topics {
		for _, p := range m.topics[tt.ID].parts {
			bounds = append(bounds, Bounds{LogStart: p.start, LastStable: p.end, End: p.end, Dense: true})
		}
	}
	equal(t, "bounds", bounds, s.AppendBounds(nil))
	equal(t, "partition count", len(bounds), s.PartitionCount())
	var names []string
	s.Groups(func(name string, data []byte) {
		names = append(names, name)
		offs, _ := s.GroupOffsets(name)
		want := map[TopicPartition]CommittedOffset{}
		g := m.groups[name]
		if g == nil {
			t.Fatalf("group %q should not exist", name)
		}
		equal(t, "group data", g.data, data)
		for tp, o := range g.offs {
			want[tp] = CommittedOffset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitTime: g.at[tp]}
		}
		equal(t, "offsets of "+name, want, offs)
	})
	equal(t, "groups", slices.Sorted(maps.Keys(m.groups)), names)
	docs := map[[2]string]Document{}
	for _, kind := range []string{"k", "l"} {
		for _, d := range s.Documents(kind) {
			docs[[2]string{d.Kind, d.Key}] = d
		}
	}
	equal(t, "documents", m.docs, docs)
	for tid, mt := range m.topics {
		for i, p := range mt.parts {
			var want []Producer
			for pid := range int64(3) {
				if h, epoch := p.history(pid); len(h) > 0 {
					last := h[len(h)-1]
					want = append(want, Producer{pid, epoch, (seqAfter(last.b) - 1) & 0x7fffffff, last.b.MaxTimestamp, last.at, -1})
				}
			}
			equal(t, "producers", want, s.Producers(TopicPartition{tid, int32(i)}))
		}
	}
}

func equal(t *rapid.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateErrors(), cmpopts.IgnoreFields(Topic{}, "CreatedAt")); d != "" {
		t.Fatalf("%s (-model +state):\n%s", what, d)
	}
}

func genIntent(t *rapid.T, m *model) Intent {
	small := func(hi int, what string) int { return rapid.IntRange(0, hi).Draw(t, what) }
	topicID := func() TopicID { return id(byte(1 + small(3, "topic"))) }
	tp := func() TopicPartition { return TopicPartition{topicID(), int32(small(2, "partition"))} }
	groupName := func() string { return fmt.Sprintf("g%d", small(2, "group")) }
	configs := func() map[string]string {
		if small(1, "configs") == 0 {
			return nil
		}
		return map[string]string{"a": fmt.Sprint(small(1, "value")), "b": ""}
	}
	data := func() []byte { return []byte(fmt.Sprint(small(2, "data"))) }
	batch := func() Batch {
		b := Batch{
			TopicPartition: tp(), Records: int32(1 + small(2, "records")), SizeBytes: int32(small(1000, "size")),
			MinTimestamp: int64(small(9, "min")) - 1, MaxTimestamp: int64(small(9, "max")), ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		}
		if small(3, "idempotent") > 0 {
			b.ProducerID, b.ProducerEpoch = int64(small(2, "pid")), int16(small(9, "epoch")/8)
			b.FirstSequence = int32(small(8, "sequence"))
			if p := m.part(b.TopicPartition); p != nil {
				if h, epoch := p.history(b.ProducerID); len(h) > 0 {
					switch small(4, "how") {
					case 0:
					case 1: // a repeat
						old := h[small(len(h)-1, "which")].b
						b.FirstSequence, b.Records, b.ProducerEpoch = old.FirstSequence, old.Records, epoch
					default: // the next one
						b.FirstSequence, b.ProducerEpoch = seqAfter(h[len(h)-1].b), epoch
					}
				} else if small(1, "wrap") == 1 {
					b.FirstSequence = 1<<31 - 1 - int32(small(3, "before wrap"))
				}
			}
		}
		return b
	}
	switch small(19, "kind") {
	default:
		in := Produce{AllOrNothing: small(5, "all or nothing") == 0}
		for range small(5, "batches") {
			in.Batches = append(in.Batches, batch())
		}
		return in
	case 0, 1:
		return CreateTopic{ID: topicID(), Name: fmt.Sprintf("t%d", small(3, "name")), Partitions: int32(small(3, "partitions")), Configs: configs()}
	case 2:
		return DeleteTopic{ID: topicID()}
	case 3:
		return CreatePartitions{ID: topicID(), Count: int32(small(4, "count"))}
	case 4:
		return SetTopicConfigs{ID: topicID(), ExpectVersion: uint64(1 + small(2, "version")), Configs: configs()}
	case 5:
		in := AdvanceLogStart{}
		for range small(3, "moves") {
			in.Partitions = append(in.Partitions, LogStartMove{tp(), int64(small(9, "before")) - 2})
		}
		return in
	case 6:
		return AllocateProducerID{ProducerID: -1}
	case 7:
		return ExpireProducers{IdleMillis: int64(small(30, "idle"))}
	case 8, 9:
		in := CommitOffsets{Group: groupName()}
		for range small(3, "offsets") {
			in.Offsets = append(in.Offsets, OffsetCommit{TopicPartition: tp(), Offset: int64(small(9, "offset")), LeaderEpoch: -1, Metadata: string(data()), ExpireAt: int64(small(60, "expire")) - 30})
			if o := &in.Offsets[len(in.Offsets)-1]; o.ExpireAt < 0 {
				o.ExpireAt = -1
			}
		}
		return in
	case 10:
		return DeleteOffsets{Group: groupName(), Partitions: []TopicPartition{tp(), tp()}}
	case 11:
		return PutGroup{Group: groupName(), Empty: small(1, "empty") == 1, Data: data()}
	case 12:
		return DeleteGroup{Group: groupName()}
	case 13:
		return ExpireOffsets{RetentionMillis: int64(small(30, "retention"))}
	case 14, 15:
		in := PutDocument{Kind: []string{"k", "l"}[small(1, "doc kind")], Key: fmt.Sprint(small(2, "key"))}
		if small(3, "right version") > 0 {
			in.ExpectVersion = m.docs[[2]string{in.Kind, in.Key}].Version
		} else {
			in.ExpectVersion = uint64(small(4, "version"))
		}
		if small(3, "delete") > 0 {
			in.Data = data()
		}
		return in
	}
}

func TestTheStateMachineAgreesWithANaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		m := &model{topics: map[TopicID]*modelTopic{}, groups: map[string]*modelGroup{}, docs: map[[2]string]Document{}}
		replica := New() // gets the entries only
		now := Millis(0)
		var buf []byte
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += int64(rapid.IntRange(0, 10).Draw(t, "time"))
			in := genIntent(t, m)
			before := s.Hash()
			e, got := s.Decide(now, in, buf)
			if s.Hash() != before {
				t.Fatalf("Decide(%#v) changed the state", in)
			}
			want := m.step(now, in)
			equal(t, fmt.Sprintf("answer to %#v", in), want, got)
			if e != nil {
				if err := s.Apply(e); err != nil {
					t.Fatalf("Apply(%#v): %v", in, err)
				}
				if err := replica.Apply(e); err != nil {
					t.Fatalf("replay of %#v: %v", in, err)
				}
				if s.Hash() == before {
					t.Fatalf("the entry of %#v changed nothing", in)
				}
				buf = e
			}
			m.check(t, s)
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				var err error
				if replica, err = Decode(replica.Encode(nil)); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "clone") == 0 {
				old, c := s, s.Clone()
				if e, _ := old.Decide(now, AllocateProducerID{ProducerID: -1}, nil); old.Apply(e) != nil || old.Hash() == c.Hash() {
					t.Fatal("a clone follows its original")
				}
				s = c
			}
			if s.Hash() != replica.Hash() {
				t.Fatalf("after %#v the replica differs", in)
			}
		}
	})
}
