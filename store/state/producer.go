package state

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// windowBatches is how many batches per producer and partition are remembered to
// recognise repeats: Kafka's number, the most that a client keeps in flight.
const windowBatches = 5

// maxEpoch is the highest producer epoch. Kafka keeps one above the last that it
// hands out for fencing.
const (
	maxEpoch        = math.MaxInt16
	lastHandedEpoch = maxEpoch - 1
)

// producer is the sequence state of one producer in one partition.
type producer struct {
	epoch     int16
	count     uint8 // of window in use
	oldest    uint8 // index in window
	appended  Millis
	timestamp Millis // highest of its last batch
	window    [windowBatches]sequenceRange
}

// sequenceRange is one remembered batch.
type sequenceRange struct {
	baseOffset  int64
	first, last int32
}

// at returns the i-th remembered batch, 0 the oldest.
func (pr *producer) at(i int) sequenceRange {
	return pr.window[(int(pr.oldest)+i)%windowBatches]
}

func (pr *producer) lastSequence() int32 {
	if pr.count == 0 {
		return -1
	}
	return pr.at(int(pr.count) - 1).last
}

// addSequence adds n to a sequence number; they wrap from 2^31-1 to 0.
func addSequence(seq, n int32) int32 {
	return int32((int64(seq) + int64(n)) & math.MaxInt32)
}

// check says what a batch of this producer means, by Kafka's rules:
// a remembered one of the same epoch is a duplicate; a lower epoch is fenced; a higher
// one must begin at sequence 0; in the same epoch sequences have no gap. A
// producer that is unknown here (nil; perhaps its state expired) may begin anywhere.
// What lies below the window is out of order, as in Kafka 4 (ErrDuplicateSequence
// is for clients only).
func (pr *producer) check(b *Batch) (baseOffset int64, duplicate bool, err error) {
	if b.ProducerEpoch < 0 {
		return -1, false, ErrInvalidProducerEpoch
	}
	if b.FirstSequence < 0 {
		return -1, false, ErrOutOfOrderSequence
	}
	if pr == nil {
		return -1, false, nil
	}
	switch {
	case b.ProducerEpoch < pr.epoch:
		return -1, false, ErrInvalidProducerEpoch
	case b.ProducerEpoch > pr.epoch:
		if b.FirstSequence != 0 {
			return -1, false, ErrOutOfOrderSequence
		}
		return -1, false, nil
	}
	if b.FirstSequence == addSequence(pr.lastSequence(), 1) {
		return -1, false, nil
	}
	last := addSequence(b.FirstSequence, b.Records-1)
	for i := range int(pr.count) {
		if w := pr.at(i); w.first == b.FirstSequence && w.last == last {
			return w.baseOffset, true, nil
		}
	}
	return -1, false, ErrOutOfOrderSequence
}

// append remembers an accepted batch.
func (pr *producer) append(b *Batch, baseOffset int64, now Millis) {
	if pr.count > 0 && pr.epoch != b.ProducerEpoch {
		pr.count, pr.oldest = 0, 0
	}
	pr.epoch = b.ProducerEpoch
	pr.appended = now
	pr.timestamp = b.MaxTimestamp
	pr.push(sequenceRange{
		baseOffset: baseOffset,
		first:      b.FirstSequence,
		last:       addSequence(b.FirstSequence, b.Records-1),
	})
}

func (pr *producer) push(w sequenceRange) {
	if pr.count < windowBatches {
		pr.window[(pr.oldest+pr.count)%windowBatches] = w
		pr.count++
		return
	}
	pr.window[pr.oldest] = w
	pr.oldest = (pr.oldest + 1) % windowBatches
}

func cloneProducers(m map[int64]*producer) map[int64]*producer {
	if len(m) == 0 {
		return nil
	}
	c := make(map[int64]*producer, len(m))
	slab := make([]producer, 0, len(m))
	for id, pr := range m {
		slab = append(slab, *pr)
		c[id] = &slab[len(slab)-1]
	}
	return c
}

// Producer is the sequence state of one producer in one partition.
type Producer struct {
	ProducerID    int64
	ProducerEpoch int16
	LastSequence  int32
	LastTimestamp Millis // highest of its last batch; -1 unknown
	LastAppend    Millis
	TxnStart      int64 // first offset of its open transaction here; -1 none
}

// Producers returns the producers of a partition in id order; nil if there is
// no such partition.
func (s *State) Producers(tp TopicPartition) []Producer {
	p := s.partition(tp)
	if p == nil {
		return nil
	}
	all := make([]Producer, 0, len(p.producers))
	for id, pr := range p.producers {
		start, open := p.open[id]
		if !open {
			start = -1
		}
		all = append(all, Producer{id, pr.epoch, pr.lastSequence(), pr.timestamp, pr.appended, start})
	}
	slices.SortFunc(all, func(a, b Producer) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return all
}

// bump is an epoch handed out to a producer beyond its first.
type bump struct {
	epoch int16
	at    Millis
}

// --- AllocateProducerID: producer id, epoch, now ---

func (s *State) decideProducerID(now Millis, in AllocateProducerID, buf []byte) ([]byte, any) {
	res := ProducerIDResult{ProducerID: s.nextProducerID}
	if in.ProducerID >= 0 {
		switch {
		case in.ProducerID >= s.nextProducerID:
			return nil, ProducerIDResult{Err: ErrUnknownProducer, ProducerID: -1, ProducerEpoch: -1}
		case in.ProducerEpoch < s.bumped[in.ProducerID].epoch: // fenced by a later bump
			return nil, ProducerIDResult{Err: ErrInvalidProducerEpoch, ProducerID: -1, ProducerEpoch: -1}
		case in.ProducerEpoch < lastHandedEpoch && len(s.bumped) < s.limits.MaxProducers:
			res = ProducerIDResult{ProducerID: in.ProducerID, ProducerEpoch: in.ProducerEpoch + 1}
		}
	}
	e := beginEntry(buf, EntryProducerID)
	e = binary.AppendUvarint(e, uint64(res.ProducerID))
	e = binary.AppendUvarint(e, uint64(res.ProducerEpoch))
	return binary.AppendVarint(e, now), res
}

func (s *State) applyProducerID(r *reader) {
	id := r.int64("producer id")
	epoch := int16(r.upTo(maxEpoch, "producer epoch"))
	now := r.varint()
	switch {
	case r.err != nil:
	case id == s.nextProducerID && id < math.MaxInt64 && epoch == 0:
		s.nextProducerID++
	case id < s.nextProducerID && epoch > s.bumped[id].epoch:
		s.bumped[id] = bump{epoch, now}
	default:
		r.fail("producer id out of order")
	}
}

// --- ExpireProducers: cut-off append time ---

func (s *State) decideExpireProducers(now Millis, in ExpireProducers, buf []byte) ([]byte, any) {
	cutoff := now - in.IdleMillis
	if !s.anyProducerBefore(cutoff) {
		return nil, nil
	}
	return binary.AppendVarint(beginEntry(buf, EntryExpireProducers), cutoff), nil
}

func (s *State) anyProducerBefore(cutoff Millis) bool {
	for _, b := range s.bumped {
		if b.at <= cutoff {
			return true
		}
	}
	for _, t := range s.sorted {
		for i := range t.partitions {
			p := &t.partitions[i]
			for id, pr := range p.producers {
				if p.expired(id, pr, cutoff) {
					return true
				}
			}
		}
	}
	return false
}

// expired: a producer with an open transaction stays, however slow it is.
func (p *partition) expired(id int64, pr *producer, cutoff Millis) bool {
	_, open := p.open[id]
	return !open && pr.appended <= cutoff
}

func (s *State) applyExpireProducers(r *reader) {
	cutoff := r.varint()
	if r.err != nil {
		return
	}
	for id, b := range s.bumped {
		if b.at <= cutoff {
			delete(s.bumped, id)
		}
	}
	for _, t := range s.sorted {
		for i := range t.partitions {
			p := &t.partitions[i]
			for id, pr := range p.producers {
				if p.expired(id, pr, cutoff) {
					delete(p.producers, id)
					s.producerCount--
				}
			}
			if len(p.producers) == 0 {
				p.producers = nil // maps do not shrink
			}
		}
	}
}
