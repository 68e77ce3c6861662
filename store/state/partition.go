package state

import "encoding/binary"

// partition is the offsets and producers of one partition. It has no name: it
// lives in its topic's slice.
type partition struct {
	logStart  int64
	end       int64               // next offset to assign; the high watermark
	producers map[int64]*producer // by producer id; nil until an idempotent one comes
	open      map[int64]int64     // first offsets of open transactions, by producer id; nil when there are none
	opened    []opened            // them in offset order, and some that are not open any more, but never the first
	sparse    bool                // there are, or were, offsets that are no visible records
	pending   pending             // scratch of Decide
}

func (p *partition) bounds() Bounds {
	b := Bounds{LogStart: p.logStart, LastStable: p.end, End: p.end, Dense: !p.sparse}
	if len(p.open) > 0 {
		b.LastStable = max(p.opened[0].first, p.logStart)
	}
	return b
}

func (s *State) partition(tp TopicPartition) *partition {
	t := s.topics[tp.Topic]
	if t == nil || tp.Partition < 0 || int(tp.Partition) >= len(t.partitions) {
		return nil
	}
	return &t.partitions[tp.Partition]
}

// Bounds of one partition; ErrUnknownTopic.
func (s *State) Bounds(tp TopicPartition) (Bounds, error) {
	if p := s.partition(tp); p != nil {
		return p.bounds(), nil
	}
	return Bounds{}, ErrUnknownTopic
}

// AppendBounds appends the bounds of all partitions to dst: topics in the order
// of Topics, each with its partitions in order.
func (s *State) AppendBounds(dst []Bounds) []Bounds {
	for _, t := range s.sorted {
		for i := range t.partitions {
			dst = append(dst, t.partitions[i].bounds())
		}
	}
	return dst
}

// --- AdvanceLogStart: until the end: topic id, partition, new log start ---

func (s *State) decideAdvanceLogStart(in AdvanceLogStart, buf []byte) ([]byte, any) {
	var res AdvanceLogStartResult
	if len(in.Partitions) > 0 {
		res.Partitions = make([]struct {
			Err      error
			LogStart int64
		}, len(in.Partitions))
	}
	e := beginEntry(buf, EntryAdvanceLogStart)
	// The same partition may be named twice; its highest move counts for both.
	moved := make(map[TopicPartition]int64, len(in.Partitions))
	for i, m := range in.Partitions {
		r := &res.Partitions[i]
		p := s.partition(m.TopicPartition)
		if p == nil {
			r.Err, r.LogStart = ErrUnknownTopic, -1
			continue
		}
		start, ok := moved[m.TopicPartition]
		if !ok {
			start = p.logStart
		}
		before := m.Before
		if before == -1 {
			before = p.end
		}
		r.LogStart = start
		switch {
		case before < 0 || before > p.end:
			r.Err = ErrOffsetOutOfRange
		case before > start:
			moved[m.TopicPartition] = before
			r.LogStart = before
			e = append(e, m.Topic[:]...)
			e = binary.AppendUvarint(e, uint64(m.Partition))
			e = binary.AppendUvarint(e, uint64(before))
		}
	}
	if len(e) == entryHeaderBytes {
		return nil, res
	}
	return e, res
}

func readLogStart(r *reader) LogStartMove {
	var m LogStartMove
	m.Topic = r.topicID()
	m.Partition = r.int32("partition")
	m.Before = r.int64("log start")
	return m
}

func (s *State) applyAdvanceLogStart(r *reader) {
	for len(r.b) > 0 {
		m := readLogStart(r)
		if r.err != nil {
			return
		}
		p := s.partition(m.TopicPartition)
		if p == nil || m.Before > p.end || m.Before < p.logStart {
			r.fail("log start of an unknown partition or out of range")
			return
		}
		p.logStart = m.Before
	}
}

// LogStarts decodes the log starts that entry raises, appending to dst; none
// for other entries than EntryAdvanceLogStart.
func LogStarts(entry []byte, dst []LogStartMove) ([]LogStartMove, error) {
	kind, err := KindOf(entry)
	if err != nil || kind != EntryAdvanceLogStart {
		return dst, err
	}
	r := reader{b: entry[entryHeaderBytes:]}
	for len(r.b) > 0 {
		m := readLogStart(&r)
		if r.err != nil {
			return dst, r.err
		}
		dst = append(dst, m)
	}
	return dst, nil
}
