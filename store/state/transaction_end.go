package state

import "encoding/binary"

// ControlBatchBytes is the size of a transaction marker as a record batch: the batch
// header, and one record with a key of 4 and a value of 6 bytes.
const ControlBatchBytes = 78

// --- EndTransaction (also what ExpireTransaction becomes): the end, transactional id,
// then the producer id and epoch to go on with, and those that a repeat may come with ---
//
// The end, which InitTransaction begins with as well:
//
//	now, marker (0: nothing ends), and if there is one:
//	producer id and epoch of the markers, count, and for each marker: topic id, partition, offset

func (s *State) decideEndTransaction(now Millis, in EndTransaction, buf []byte) ([]byte, any) {
	refuse := func(err error) ([]byte, any) {
		return nil, ProducerIDResult{Err: err, ProducerID: -1, ProducerEpoch: -1}
	}
	t := s.transactions[in.TransactionalID]
	if t == nil {
		return refuse(ErrInvalidProducerID)
	}
	present := ProducerIDResult{ProducerID: t.producerID, ProducerEpoch: t.producerEpoch}
	ended := t.status == TransactionCompleteCommit || t.status == TransactionCompleteAbort
	done := ended && (t.status == TransactionCompleteCommit) == in.Commit
	switch {
	case in.BumpEpoch && ended && in.ProducerID == t.lastProducerID && in.ProducerEpoch == t.lastProducerEpoch:
		if done {
			return nil, present // the answer did not arrive
		}
		return refuse(ErrNoTransaction)
	case t.producerID != in.ProducerID:
		return refuse(ErrInvalidProducerID)
	case t.producerEpoch != in.ProducerEpoch:
		return refuse(ErrInvalidProducerEpoch)
	case t.status == TransactionOngoing:
	case in.BumpEpoch && !in.Commit:
		// Version 2 producers abort also what never began here: their partitions
		// would have been added on the way. The new epoch keeps late batches out.
	case done && !in.BumpEpoch:
		return nil, present
	default:
		return refuse(ErrNoTransaction)
	}
	marker := AbortMarker
	if in.Commit {
		marker = CommitMarker
	}
	next := present
	lastID, lastEpoch := int64(-1), int16(-1)
	if in.BumpEpoch {
		lastID, lastEpoch = t.producerID, t.producerEpoch
		next.ProducerEpoch++
		if t.producerEpoch >= lastHandedEpoch {
			next = ProducerIDResult{ProducerID: s.nextProducerID}
		}
	}
	return s.putEndEntry(buf, now, t, marker, next, lastID, lastEpoch), next
}

func (s *State) decideExpireTransaction(now Millis, in ExpireTransaction, buf []byte) ([]byte, any) {
	t, err := s.claim(in.TransactionRef)
	if err != nil || t.status != TransactionOngoing || t.startedAt != in.StartedAt {
		return nil, TransactionResult{}
	}
	// One epoch above: what the producer still sends is fenced, and it must ask for a new one.
	next := ProducerIDResult{ProducerID: t.producerID, ProducerEpoch: min(t.producerEpoch, lastHandedEpoch) + 1}
	return s.putEndEntry(buf, now, t, AbortMarker, next, -1, -1), TransactionResult{}
}

func (s *State) putEndEntry(buf []byte, now Millis, t *transaction, m Marker, next ProducerIDResult, lastID int64, lastEpoch int16) []byte {
	e := s.putEnd(beginEntry(buf, EntryEndTransaction), now, t, m, t.producerEpoch)
	e = putString(e, t.id)
	e = binary.AppendUvarint(e, uint64(next.ProducerID))
	e = binary.AppendUvarint(e, uint64(next.ProducerEpoch))
	e = binary.AppendVarint(e, lastID)
	return binary.AppendVarint(e, int64(lastEpoch))
}

func (s *State) applyEndTransaction(r *reader) {
	end := readEnd(r)
	t := s.readTransaction(r)
	producerID := r.int64("producer id")
	epoch := int16(r.upTo(maxEpoch, "producer epoch"))
	lastID := r.varint()
	lastEpoch := int16(r.varint())
	if r.err != nil {
		return
	}
	s.applyEnd(r, t, end)
	s.setProducer(r, t, producerID, epoch)
	t.lastProducerID, t.lastProducerEpoch = lastID, lastEpoch
}

// putEnd writes the end of t's transaction with markers for all its partitions.
func (s *State) putEnd(e []byte, now Millis, t *transaction, m Marker, epoch int16) []byte {
	e = binary.AppendVarint(e, now)
	e = append(e, byte(m))
	e = binary.AppendUvarint(e, uint64(t.producerID))
	e = binary.AppendUvarint(e, uint64(epoch))
	e = binary.AppendUvarint(e, uint64(len(t.partitions)))
	for _, tp := range t.sortedPartitions() {
		e = putTopicPartition(e, tp)
		e = binary.AppendUvarint(e, uint64(s.partition(tp).end))
	}
	return e
}

func putNoEnd(e []byte, now Millis) []byte {
	return append(binary.AppendVarint(e, now), byte(NoMarker))
}

// end is how a transaction ends.
type end struct {
	now     Millis
	marker  Marker
	markers []AppliedBatch
}

func readEnd(r *reader) end {
	e := end{now: r.varint(), marker: Marker(r.byte())}
	if e.marker == NoMarker || r.err != nil {
		return e
	}
	if e.marker > CommitMarker {
		r.fail("transaction marker")
		return e
	}
	producerID := r.int64("producer id")
	epoch := int16(r.upTo(maxEpoch, "producer epoch"))
	n := r.count(16+1+1, "marker count")
	e.markers = make([]AppliedBatch, 0, n)
	for range n {
		tp := r.topicPartition()
		offset := r.int64("marker offset")
		if r.err != nil {
			return e
		}
		e.markers = append(e.markers, AppliedBatch{
			Batch: Batch{
				TopicPartition: tp, Records: 1, SizeBytes: ControlBatchBytes, MinTimestamp: e.now, MaxTimestamp: e.now,
				ProducerID: producerID, ProducerEpoch: epoch, FirstSequence: -1, Transactional: true,
			},
			BaseOffset: offset, AppendTime: e.now, Marker: e.marker,
		})
	}
	return e
}

// applyEnd writes the markers and, on a commit, lets the transaction's offsets count.
func (s *State) applyEnd(r *reader, t *transaction, e end) {
	if e.marker == NoMarker {
		return
	}
	for i := range e.markers {
		m := &e.markers[i]
		p := s.partition(m.TopicPartition)
		if p == nil || m.BaseOffset != p.end || m.ProducerID != t.producerID {
			r.fail("transaction marker for an unknown partition or out of order")
			return
		}
		p.end++
		p.sparse = true
		p.close(m.ProducerID)
	}
	for name, offsets := range t.offsets {
		s.letGo(name, t)
		s.pendingOffsets -= len(offsets)
		if e.marker != CommitMarker || len(offsets) == 0 {
			continue
		}
		g := s.groupOrNew(name)
		for tp, o := range offsets {
			if _, ok := g.offsets[tp]; !ok {
				s.offsetCount++
			}
			o.CommitTime = e.now
			g.offsets[tp] = o
		}
	}
	t.partitions, t.offsets = nil, nil
	t.status = TransactionCompleteAbort
	if e.marker == CommitMarker {
		t.status = TransactionCompleteCommit
	}
	t.updatedAt = e.now
}
