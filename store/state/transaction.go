package state

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// transaction is one transactional id.
type transaction struct {
	id            string
	producerID    int64
	producerEpoch int16
	// What the producer had before the last step gave it another id or epoch, so that a
	// repeat of that step is recognised; -1 when no repeat may be.
	lastProducerID    int64
	lastProducerEpoch int16
	timeout           int32 // milliseconds
	status            TransactionStatus
	startedAt         Millis
	updatedAt         Millis
	partitions        map[TopicPartition]struct{}
	offsets           map[string]map[TopicPartition]committed // by group; an empty map: only added
}

func (t *transaction) clone() *transaction {
	c := *t
	c.partitions = maps.Clone(t.partitions)
	c.offsets = make(map[string]map[TopicPartition]committed, len(t.offsets))
	for g, o := range t.offsets {
		c.offsets[g] = maps.Clone(o)
	}
	return &c
}

func (t *transaction) describe() Transaction {
	d := Transaction{
		TransactionalID: t.id, ProducerID: t.producerID, ProducerEpoch: t.producerEpoch, TimeoutMillis: t.timeout,
		Status: t.status, StartedAt: -1, UpdatedAt: t.updatedAt,
		Partitions: t.sortedPartitions(),
		Groups:     slices.Sorted(maps.Keys(t.offsets)),
	}
	if t.status == TransactionOngoing {
		d.StartedAt = t.startedAt
	}
	return d
}

// sortedPartitions is the order of markers.
func (t *transaction) sortedPartitions() []TopicPartition {
	return slices.SortedFunc(maps.Keys(t.partitions), TopicPartition.Compare)
}

// begin makes the transaction ongoing unless it is.
func (t *transaction) begin(now Millis) {
	if t.status != TransactionOngoing {
		t.status, t.startedAt = TransactionOngoing, now
	}
	t.updatedAt = now
}

func (t *transaction) addPartition(tp TopicPartition, now Millis) {
	t.begin(now)
	if t.partitions == nil {
		t.partitions = map[TopicPartition]struct{}{}
	}
	t.partitions[tp] = struct{}{}
}

func (t *transaction) addGroup(group string, now Millis) map[TopicPartition]committed {
	t.begin(now)
	if t.offsets == nil {
		t.offsets = map[string]map[TopicPartition]committed{}
	}
	o := t.offsets[group]
	if o == nil {
		o = map[TopicPartition]committed{}
		t.offsets[group] = o
	}
	return o
}

// has says whether the ongoing transaction holds a partition.
func (t *transaction) has(tp TopicPartition) bool {
	_, ok := t.partitions[tp]
	return ok && t.status == TransactionOngoing
}

// Transaction describes a transactional id.
func (s *State) Transaction(id string) (Transaction, bool) {
	if t := s.transactions[id]; t != nil {
		return t.describe(), true
	}
	return Transaction{}, false
}

// TransactionOf is the transactional id of a producer id.
func (s *State) TransactionOf(producerID int64) (Transaction, bool) {
	if t := s.transactionOf[producerID]; t != nil {
		return t.describe(), true
	}
	return Transaction{}, false
}

// Transactions describes all transactional ids, in order.
func (s *State) Transactions() []Transaction {
	all := make([]Transaction, 0, len(s.transactions))
	for _, t := range s.transactions {
		all = append(all, t.describe())
	}
	slices.SortFunc(all, func(a, b Transaction) int { return cmp.Compare(a.TransactionalID, b.TransactionalID) })
	return all
}

// OpenTransactions appends the ongoing transactions to dst, in no order.
func (s *State) OpenTransactions(dst []OpenTransaction) []OpenTransaction {
	for _, t := range s.transactions {
		if t.status == TransactionOngoing {
			dst = append(dst, OpenTransaction{TransactionRef{t.id, t.producerID, t.producerEpoch}, t.startedAt, t.timeout})
		}
	}
	return dst
}

// PendingOffsets is the partitions for which an ongoing transaction holds an offset of
// the group; nil when there are none.
func (s *State) PendingOffsets(group string) map[TopicPartition]struct{} {
	var all map[TopicPartition]struct{}
	for t := range s.holders[group] {
		for tp := range t.offsets[group] {
			if all == nil {
				all = map[TopicPartition]struct{}{}
			}
			all[tp] = struct{}{}
		}
	}
	return all
}

// hold notes that t may hold offsets of the group; letGo that it does no longer.
func (s *State) hold(group string, t *transaction) {
	of := s.holders[group]
	if of == nil {
		of = map[*transaction]struct{}{}
		s.holders[group] = of
	}
	of[t] = struct{}{}
}

func (s *State) letGo(group string, t *transaction) {
	of := s.holders[group]
	delete(of, t)
	if len(of) == 0 {
		delete(s.holders, group)
	}
}

// forgetPending: who deletes offsets of a group does not want them back by the commit of a
// transaction that holds newer ones.
func (s *State) forgetPending(group string, gone map[TopicPartition]struct{}) {
	if len(gone) == 0 {
		return
	}
	for t := range s.holders[group] {
		offsets := t.offsets[group]
		for tp := range gone {
			if _, ok := offsets[tp]; ok {
				delete(offsets, tp)
				s.pendingOffsets--
			}
		}
	}
}

// claim is the transaction that ref speaks for.
func (s *State) claim(ref TransactionRef) (*transaction, error) {
	t := s.transactions[ref.TransactionalID]
	switch {
	case t == nil || t.producerID != ref.ProducerID:
		return nil, ErrInvalidProducerID
	case t.producerEpoch != ref.ProducerEpoch:
		return t, ErrInvalidProducerEpoch
	}
	return t, nil
}

// checkTransaction says whether the batch of a producer agrees with what its transaction
// is at. add: the batch itself may begin the transaction and add the partition.
func (s *State) checkTransaction(b *Batch, id string, add bool) error {
	t := s.transactionOf[b.ProducerID]
	switch {
	case !b.Transactional:
		if t != nil && t.status == TransactionOngoing {
			return ErrNoTransaction // its transaction would not hold it
		}
		return nil
	case t == nil || t.id != id:
		return ErrInvalidProducerID
	case t.producerEpoch != b.ProducerEpoch:
		return ErrInvalidProducerEpoch
	case !add && !t.has(b.TopicPartition):
		return ErrNoTransaction
	}
	return nil
}

// noteTransactional is the applied side of checkTransaction.
func (s *State) noteTransactional(p *partition, b *AppliedBatch) {
	p.sparse = true
	s.transactionOf[b.ProducerID].addPartition(b.TopicPartition, b.AppendTime)
	if _, open := p.open[b.ProducerID]; !open {
		if p.open == nil {
			p.open = map[int64]int64{}
		}
		p.open[b.ProducerID] = b.BaseOffset
		p.opened = append(p.opened, opened{b.ProducerID, b.BaseOffset})
	}
}

// opened is a transaction that was opened in a partition.
type opened struct{ producerID, first int64 }

// isOpen says whether it still is: a later one of the same producer begins elsewhere.
func (p *partition) isOpen(o opened) bool {
	first, ok := p.open[o.producerID]
	return ok && first == o.first
}

// close ends a producer's transaction in the partition. What is closed is forgotten once it comes to the front, or most
// are closed, so that the whole costs as much as opening did.
func (p *partition) close(producerID int64) {
	delete(p.open, producerID)
	if len(p.open) == 0 {
		p.open, p.opened = nil, nil
		return
	}
	for !p.isOpen(p.opened[0]) {
		p.opened = p.opened[1:]
	}
	if len(p.opened) > 2*len(p.open)+minOpened {
		p.opened = slices.DeleteFunc(p.opened, func(o opened) bool { return !p.isOpen(o) })
	}
}

// minOpened is how many closed transactions a partition may keep in its list whatever is open.
const minOpened = 16

// --- AddPartitionsToTransaction: now, transactional id, then until the end: topic id, partition ---

func (s *State) decideAddPartitions(now Millis, in AddPartitionsToTransaction, buf []byte) ([]byte, any) {
	t, err := s.claim(in.TransactionRef)
	if err != nil {
		return nil, AddPartitionsResult{Err: err}
	}
	res := AddPartitionsResult{Errs: make([]error, len(in.Partitions))}
	refused, added := false, false
	for i, tp := range in.Partitions {
		switch {
		case s.partition(tp) == nil:
			res.Errs[i], refused = ErrUnknownTopic, true
		case t.has(tp):
		case in.VerifyOnly:
			res.Errs[i] = ErrNoTransaction
		default:
			added = true
		}
	}
	if refused && !in.VerifyOnly {
		for i := range res.Errs {
			if res.Errs[i] == nil {
				res.Errs[i] = ErrRequestRefused
			}
		}
	}
	if refused || in.VerifyOnly || !added {
		return nil, res
	}
	e := binary.AppendVarint(beginEntry(buf, EntryAddPartitions), now)
	e = putString(e, t.id)
	for _, tp := range in.Partitions {
		e = putTopicPartition(e, tp)
	}
	return e, res
}

func (s *State) applyAddPartitions(r *reader) {
	now := r.varint()
	t := s.readTransaction(r)
	for len(r.b) > 0 {
		tp := r.topicPartition()
		if r.err == nil && s.partition(tp) == nil {
			r.fail("transaction over an unknown partition")
		}
		if r.err == nil {
			t.addPartition(tp, now)
		}
	}
}

// readTransaction reads the id of a transaction that must exist; after a failure it
// returns one that belongs to nobody.
func (s *State) readTransaction(r *reader) *transaction {
	t := s.transactions[r.string(maxNameBytes, "transactional id")]
	if t == nil {
		r.fail("unknown transactional id")
		return &transaction{}
	}
	return t
}

func putTopicPartition(b []byte, tp TopicPartition) []byte {
	return binary.AppendUvarint(append(b, tp.Topic[:]...), uint64(tp.Partition))
}

func (r *reader) topicPartition() (tp TopicPartition) {
	tp.Topic = r.topicID()
	tp.Partition = r.int32("partition")
	return tp
}

// forgetTopicInTransactions: what is deleted no longer takes part.
func (s *State) forgetTopicInTransactions(id TopicID) {
	for _, t := range s.transactions {
		for tp := range t.partitions {
			if tp.Topic == id {
				delete(t.partitions, tp)
			}
		}
		for _, offsets := range t.offsets {
			for tp := range offsets {
				if tp.Topic == id {
					delete(offsets, tp)
					s.pendingOffsets--
				}
			}
		}
	}
}

// --- ExpireTransactionalIDs: cut-off time of the last step ---

func (s *State) decideExpireTransactionalIDs(now Millis, in ExpireTransactionalIDs, buf []byte) ([]byte, any) {
	cutoff := now - in.IdleMillis
	for _, t := range s.transactions {
		if t.idleSince(cutoff) {
			return binary.AppendVarint(beginEntry(buf, EntryExpireTransactionalIDs), cutoff), nil
		}
	}
	return nil, nil
}

func (t *transaction) idleSince(cutoff Millis) bool {
	return t.status != TransactionOngoing && t.updatedAt <= cutoff
}

func (s *State) applyExpireTransactionalIDs(r *reader) {
	cutoff := r.varint()
	if r.err != nil {
		return
	}
	for id, t := range s.transactions {
		if t.idleSince(cutoff) {
			delete(s.transactions, id)
			delete(s.transactionOf, t.producerID)
			for group := range t.offsets {
				s.letGo(group, t)
			}
		}
	}
}
