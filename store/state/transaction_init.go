package state

import "encoding/binary"

// --- InitTransaction: end of the open transaction (see transaction_end.go), transactional
// id, producer id, epoch, last producer id, last epoch, timeout ---

func (s *State) decideInitTransaction(now Millis, in InitTransaction, buf []byte) ([]byte, any) {
	refuse := func(err error) ([]byte, any) {
		return nil, ProducerIDResult{Err: err, ProducerID: -1, ProducerEpoch: -1}
	}
	t := s.transactions[in.TransactionalID]
	next := ProducerIDResult{ProducerID: s.nextProducerID}
	lastID, lastEpoch := int64(-1), int16(-1)
	switch {
	case t == nil:
		// Also for a producer that comes with an id: its transactional id has expired, and
		// nobody else can have it.
		if len(in.TransactionalID) > maxNameBytes || len(s.transactions) >= s.limits.MaxTransactions {
			return refuse(ErrTooMany)
		}
	case in.ProducerID >= 0 && t.repeats(in):
		return nil, ProducerIDResult{ProducerID: t.producerID, ProducerEpoch: t.producerEpoch}
	case in.ProducerID >= 0 && (in.ProducerID != t.producerID || in.ProducerEpoch != t.producerEpoch):
		return refuse(ErrInvalidProducerEpoch)
	default:
		if in.ProducerID >= 0 {
			lastID, lastEpoch = t.producerID, t.producerEpoch
		}
		if t.producerEpoch < lastHandedEpoch {
			next = ProducerIDResult{ProducerID: t.producerID, ProducerEpoch: t.producerEpoch + 1}
		}
	}
	e := beginEntry(buf, EntryInitTransaction)
	if t != nil && t.status == TransactionOngoing {
		e = s.putEnd(e, now, t, AbortMarker, t.producerEpoch)
	} else {
		e = putNoEnd(e, now)
	}
	e = putString(e, in.TransactionalID)
	e = binary.AppendUvarint(e, uint64(next.ProducerID))
	e = binary.AppendUvarint(e, uint64(next.ProducerEpoch))
	e = binary.AppendVarint(e, lastID)
	e = binary.AppendVarint(e, int64(lastEpoch))
	return binary.AppendUvarint(e, uint64(max(in.TimeoutMillis, 0))), next
}

// repeats says that the request was carried out already: the producer did not get the answer.
func (t *transaction) repeats(in InitTransaction) bool {
	return t.status != TransactionOngoing && t.lastProducerID == in.ProducerID && t.lastProducerEpoch == in.ProducerEpoch
}

func (s *State) applyInitTransaction(r *reader) {
	end := readEnd(r)
	id := r.string(maxNameBytes, "transactional id")
	producerID := r.int64("producer id")
	epoch := int16(r.upTo(maxEpoch, "producer epoch"))
	lastID := r.varint()
	lastEpoch := int16(r.varint())
	timeout := r.int32("transaction timeout")
	if r.err != nil {
		return
	}
	t := s.transactions[id]
	if t == nil {
		t = &transaction{id: id, producerID: -1}
		s.transactions[id] = t
	}
	s.applyEnd(r, t, end)
	s.setProducer(r, t, producerID, epoch)
	t.lastProducerID, t.lastProducerEpoch = lastID, lastEpoch
	t.timeout = timeout
	t.status = TransactionEmpty
	t.updatedAt = end.now
}

// setProducer gives the transactional id another producer id or epoch.
func (s *State) setProducer(r *reader, t *transaction, id int64, epoch int16) {
	switch {
	case r.err != nil:
		return
	case id == t.producerID:
	case id == s.nextProducerID:
		s.nextProducerID++
		delete(s.transactionOf, t.producerID)
		s.transactionOf[id] = t
	default:
		r.fail("producer id out of order")
		return
	}
	t.producerID, t.producerEpoch = id, epoch
}
