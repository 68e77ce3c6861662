package state

import "encoding/binary"

// A produce entry: append time, then until its end one batch after the other:
//
//	flags      1 byte: sameTopic, hasProducer, transactional
//	topic id   16 bytes, unless sameTopic (as the batch before)
//	partition, base offset, records, size                      unsigned
//	min timestamp − append time, max − min timestamp           zigzag, wrapping
//	producer id, epoch, first sequence                         unsigned, if hasProducer
//
// About 15 bytes for a second batch of a topic, 31 for the first.
const (
	flagSameTopic     = 1 << 0
	flagHasProducer   = 1 << 1
	flagTransactional = 1 << 2
	flagsKnown        = flagSameTopic | flagHasProducer | flagTransactional
)

// scratch is what Decide of a Produce works in; it is not part of the state.
type scratch struct {
	round   uint64 // number of the current request; a pending of another round is void
	overlay map[overlayKey]*producer
}

// pending is what the current request has already assigned in a partition.
// It lives in the partition so that the normal request, with one batch per
// partition, needs no map.
type pending struct {
	round      uint64
	end        int64
	first      int32 // index of the request's first accepted idempotent batch here
	idempotent bool  // first is set
	overlaid   bool  // first and all later ones are in scratch.overlay
}

type overlayKey struct {
	p   *partition
	pid int64
}

func (s *State) decideProduce(now Millis, in Produce, buf []byte) ([]byte, any) {
	s.scratch.round++
	if len(s.scratch.overlay) > 0 {
		clear(s.scratch.overlay)
	}
	res := make([]BatchResult, len(in.Batches))
	e := beginEntry(buf, EntryProduce)
	e = binary.AppendVarint(e, now)
	empty := len(e)

	var t *topic      // of the batch before
	var last *TopicID // topic last encoded
	newProducers := 0
	refused := false
	for i := range in.Batches {
		b, r := &in.Batches[i], &res[i]
		r.BaseOffset, r.LogStart = -1, -1
		if t == nil || t.ID != b.Topic {
			t = s.topics[b.Topic]
		}
		if t == nil || b.Partition < 0 || int(b.Partition) >= len(t.partitions) {
			r.Err, refused = ErrUnknownTopic, true
			continue
		}
		p := &t.partitions[b.Partition]
		r.LogStart = p.logStart
		if p.pending.round != s.scratch.round {
			p.pending = pending{round: s.scratch.round, end: p.end}
		}
		switch {
		case b.Records < 1 || b.SizeBytes < 0:
			r.Err = ErrInvalidBatch
		case b.Transactional && b.ProducerID < 0:
			r.Err = ErrInvalidBatch
		case b.ProducerID >= 0:
			known := s.pendingProducer(in.Batches, res, p, b.ProducerID)
			r.BaseOffset, r.Duplicate, r.Err = known.check(b)
			if !r.Duplicate {
				if err := s.checkTransaction(b, in.TransactionalID, in.AddPartitions); err != nil {
					r.Err = err // says more than a sequence out of order
				}
			}
			if r.Err == nil && !r.Duplicate {
				if known == nil {
					newProducers++
					if s.producerCount+newProducers > s.limits.MaxProducers {
						r.Err = ErrTooMany
						break
					}
				}
				s.notePending(p, known, b, i)
			}
		}
		if r.Err != nil {
			r.BaseOffset, refused = -1, true
			continue
		}
		if r.Duplicate {
			continue
		}
		r.BaseOffset = p.pending.end
		p.pending.end += int64(b.Records)

		var flags byte
		if last != nil && *last == b.Topic {
			flags |= flagSameTopic
		}
		if b.ProducerID >= 0 {
			flags |= flagHasProducer
		}
		if b.Transactional {
			flags |= flagTransactional
		}
		e = append(e, flags)
		if flags&flagSameTopic == 0 {
			e = append(e, b.Topic[:]...)
			last = &b.Topic
		}
		e = binary.AppendUvarint(e, uint64(b.Partition))
		e = binary.AppendUvarint(e, uint64(r.BaseOffset))
		e = binary.AppendUvarint(e, uint64(b.Records))
		e = binary.AppendUvarint(e, uint64(b.SizeBytes))
		e = binary.AppendVarint(e, b.MinTimestamp-now)
		e = binary.AppendVarint(e, b.MaxTimestamp-b.MinTimestamp)
		if b.ProducerID >= 0 {
			e = binary.AppendUvarint(e, uint64(b.ProducerID))
			e = binary.AppendUvarint(e, uint64(b.ProducerEpoch))
			e = binary.AppendUvarint(e, uint64(b.FirstSequence))
		}
	}
	if refused && in.AllOrNothing {
		for i := range res {
			if res[i].Err == nil {
				res[i] = BatchResult{Err: ErrRequestRefused, BaseOffset: -1, LogStart: res[i].LogStart}
			}
		}
		return nil, ProduceResult{Batches: res}
	}
	if len(e) == empty {
		return nil, ProduceResult{Batches: res}
	}
	return e, ProduceResult{Batches: res}
}

// pendingProducer is the producer's state in p as the batches of this request
// that were accepted so far leave it; nil if it is unknown.
func (s *State) pendingProducer(batches []Batch, res []BatchResult, p *partition, pid int64) *producer {
	if !p.pending.idempotent {
		return p.producers[pid]
	}
	if !p.pending.overlaid {
		// The second idempotent batch for this partition: bring in the first's effect.
		p.pending.overlaid = true
		if s.scratch.overlay == nil {
			s.scratch.overlay = map[overlayKey]*producer{}
		}
		first := &batches[p.pending.first]
		s.overlay(p, p.producers[first.ProducerID], first, res[p.pending.first].BaseOffset)
	}
	if pr := s.scratch.overlay[overlayKey{p, pid}]; pr != nil {
		return pr
	}
	return p.producers[pid]
}

// notePending remembers that batch i, b, was accepted in p, where its producer
// was known until now.
func (s *State) notePending(p *partition, known *producer, b *Batch, i int) {
	if !p.pending.idempotent {
		p.pending.idempotent, p.pending.first = true, int32(i)
		return
	}
	s.overlay(p, known, b, p.pending.end)
}

func (s *State) overlay(p *partition, known *producer, b *Batch, base int64) {
	key := overlayKey{p, b.ProducerID}
	pr := s.scratch.overlay[key]
	if pr == nil {
		pr = &producer{}
		if known != nil {
			*pr = *known
		}
		s.scratch.overlay[key] = pr
	}
	pr.append(b, base, 0)
}

// batchReader decodes the batches of a produce entry.
type batchReader struct {
	r    *reader
	now  Millis
	last TopicID
	any  bool
}

func newBatchReader(r *reader) batchReader { return batchReader{r: r, now: r.varint()} }

func (br *batchReader) next(b *AppliedBatch) bool {
	r := br.r
	if len(r.b) == 0 {
		return false
	}
	flags := r.byte()
	if flags&^flagsKnown != 0 || flags&flagSameTopic != 0 && !br.any {
		r.fail("batch flags")
		return false
	}
	if flags&flagSameTopic == 0 {
		br.last, br.any = r.topicID(), true
	}
	b.Topic = br.last
	b.Partition = r.int32("partition")
	b.BaseOffset = r.int64("base offset")
	b.Records = r.int32("record count")
	b.SizeBytes = r.int32("size")
	b.MinTimestamp = r.varint() + br.now
	b.MaxTimestamp = r.varint() + b.MinTimestamp
	b.Transactional = flags&flagTransactional != 0
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = -1, -1, -1
	if flags&flagHasProducer != 0 {
		b.ProducerID = r.int64("producer id")
		b.ProducerEpoch = int16(r.upTo(maxEpoch, "producer epoch"))
		b.FirstSequence = r.int32("sequence")
	}
	b.AppendTime = br.now
	if b.Records < 1 || b.BaseOffset+int64(b.Records) < 0 {
		r.fail("record count or base offset")
	}
	return r.err == nil
}

func (s *State) applyProduce(r *reader) {
	var b AppliedBatch
	for br := newBatchReader(r); br.next(&b); {
		p := s.partition(b.TopicPartition)
		if p == nil || b.BaseOffset != p.end {
			r.fail("batch for an unknown partition or out of order")
			return
		}
		p.end += int64(b.Records)
		if b.ProducerID < 0 {
			continue
		}
		pr := p.producers[b.ProducerID]
		if pr == nil {
			if p.producers == nil {
				p.producers = make(map[int64]*producer, 1)
			}
			pr = &producer{}
			p.producers[b.ProducerID] = pr
			s.producerCount++
		}
		pr.append(&b.Batch, b.BaseOffset, b.AppendTime)
		if b.Transactional {
			t := s.transactionOf[b.ProducerID]
			if t == nil || t.producerEpoch != b.ProducerEpoch {
				r.fail("transactional batch without its transaction")
				return
			}
			s.noteTransactional(p, &b)
		}
	}
}

// AppliedBatch is one record batch of an applied produce entry.
type AppliedBatch struct {
	Batch
	BaseOffset int64
	AppendTime Millis
	Marker     Marker // with one, the batch is a control batch that the store has built
}

// Batches decodes the record batches that entry appends, in payload order,
// appending to dst: those of producers and transaction markers; none for other entries.
// Batches without a producer have ProducerID, ProducerEpoch and FirstSequence -1.
func Batches(entry []byte, dst []AppliedBatch) ([]AppliedBatch, error) {
	kind, err := KindOf(entry)
	if err != nil {
		return dst, err
	}
	r := reader{b: entry[entryHeaderBytes:]}
	switch kind {
	case EntryProduce:
	case EntryInitTransaction, EntryEndTransaction:
		return append(dst, readEnd(&r).markers...), r.err
	default:
		return dst, nil
	}
	br := newBatchReader(&r)
	var b AppliedBatch
	for br.next(&b) {
		dst = append(dst, b)
	}
	return dst, r.end()
}
