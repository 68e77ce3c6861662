package store

import (
	"math"
	"slices"
	"sort"
	"sync"

	"millrace/internal/recordbatch"
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// openKey names the open transaction of one producer in one partition.
type openKey struct {
	state.TopicPartition
	producer int64
}

// openTransactions are the partitions' open transactions that have batches, with the
// offset of the first one. The publisher keeps them under the publish lock; each
// memtable and the checkpoint keep them as they are where they begin.
type openTransactions map[openKey]int64

// partTransactions is what a memtable keeps of the transactional batches of one partition.
// The publisher appends under the publish lock and mu; readers use mu alone, or what they
// captured under the publish lock.
type partTransactions struct {
	// producers of the transactional batches and markers among the part's refs, by offset.
	producers []batchProducer

	mu sync.RWMutex
	// decided transactions whose marker lies in the part, in the order of markers.
	decided    []segment.Transaction
	byProducer map[int64][]int32 // positions in decided
	minFirst   []int64           // per run; see segment.AppendAborted
}

// batchProducer is the producer of the batch at base.
type batchProducer struct {
	base, producer int64
}

// transactionBytes is about what a transactional batch and what a transaction add to a
// part's memory.
const (
	batchProducerBytes = 16
	transactionBytes   = 80
)

// addTransactional notes the producer of a batch or marker that was just added.
func (p *memPart) addTransactional(base, producer int64) {
	if p.transactions == nil {
		p.transactions = &partTransactions{}
	}
	p.transactions.producers = append(p.transactions.producers, batchProducer{base, producer})
}

// decide notes the end of a transaction. Only the publisher and recovery call it.
func (t *partTransactions) decide(x segment.Transaction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := len(t.decided)
	t.decided = append(t.decided, x)
	if t.byProducer == nil {
		t.byProducer = map[int64][]int32{}
	}
	t.byProducer[x.ProducerID] = append(t.byProducer[x.ProducerID], int32(i))
	if i%segment.AbortedRun == 0 {
		t.minFirst = append(t.minFirst, math.MaxInt64)
	}
	if run := &t.minFirst[len(t.minFirst)-1]; !x.Committed {
		*run = min(*run, x.First)
	}
}

// find returns the first transaction of the producer whose marker lies behind offset.
func (t *partTransactions) find(producer, offset int64) (segment.Transaction, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := t.byProducer[producer]
	i := sort.Search(len(all), func(i int) bool { return t.decided[all[i]].Marker > offset })
	if i == len(all) {
		return segment.Transaction{}, false
	}
	return t.decided[all[i]], true
}

// aborted appends the aborted transactions that reach to from or behind and begin before to.
func (t *partTransactions) aborted(from, to int64, dst []segment.Transaction) []segment.Transaction {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return segment.AppendAborted(dst, t.decided, t.minFirst, from, to)
}

// all returns what is decided so far, in the order of markers; read-only.
func (t *partTransactions) all() []segment.Transaction {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.decided[:len(t.decided):len(t.decided)]
}

// producerOf finds the producer of the transactional batch at base.
func producerOf(all []batchProducer, base int64) int64 {
	i, ok := sort.Find(len(all), func(i int) int {
		switch {
		case base < all[i].base:
			return -1
		case base > all[i].base:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return all[i].producer
}

// addBatch indexes one batch of entry lsn, data or marker, in p, tp's part of m, and brings
// the open transactions up to date with it.
func (m *memtable) addBatch(p *memPart, open openTransactions, lsn commitlog.LSN, file, offset uint32, b *state.AppliedBatch) {
	m.add(p, lsn, file, offset, &b.Batch, b.BaseOffset, b.AppendTime, b.Marker != state.NoMarker)
	if b.Marker == state.NoMarker && !b.Transactional {
		return
	}
	p.addTransactional(b.BaseOffset, b.ProducerID)
	m.transactionBytes += batchProducerBytes
	key := openKey{b.TopicPartition, b.ProducerID}
	first, begun := open[key]
	if b.Marker == state.NoMarker {
		if !begun {
			open[key] = b.BaseOffset
		}
		return
	}
	if !begun {
		return // a marker without batches decides nothing
	}
	delete(open, key)
	p.transactions.decide(segment.Transaction{
		ProducerID: b.ProducerID, First: first, Marker: b.BaseOffset,
		LSN: uint64(lsn), Committed: b.Marker == state.CommitMarker,
	})
	m.transactionBytes += transactionBytes
}

// forgetTopic drops the open transactions of a topic that is gone.
func (o openTransactions) forgetTopic(id state.TopicID) {
	for key := range o {
		if key.Topic == id {
			delete(o, key)
		}
	}
}

// deciders are the places, oldest first, that may know how a transaction of one partition
// ended.
type decider struct {
	mem *partTransactions

	seg  *segmentFile
	part *segment.Partition
	from int64 // transactions with a marker below are a compacted copy's
}

// deciders returns those of tp in v. The caller holds the publish lock (shared suffices).
func (v *version) deciders(tp state.TopicPartition, dst []decider) []decider {
	f, p, compacted := v.compacted(tp)
	if f != nil && p.Transactions > 0 {
		dst = append(dst, decider{seg: f, part: p})
	}
	for _, f := range v.segs[v.copies:] {
		if p := f.Find(tp); p != nil && p.Transactions > 0 && p.EndOffset > compacted {
			dst = append(dst, decider{seg: f, part: p, from: compacted})
		}
	}
	for _, m := range v.mems {
		if p := m.parts[tp]; p != nil && p.transactions != nil {
			dst = append(dst, decider{mem: p.transactions})
		}
	}
	return dst
}

func (d *decider) find(producer, offset int64) (segment.Transaction, bool, error) {
	if d.mem != nil {
		t, ok := d.mem.find(producer, offset)
		return t, ok, nil
	}
	if d.part.EndOffset <= offset {
		return segment.Transaction{}, false, nil
	}
	all, err := d.seg.Transactions(d.part)
	if err != nil {
		return segment.Transaction{}, false, err
	}
	t, ok := all.Find(producer, offset)
	return t, ok, nil
}

// all of its transactions, in the order of markers and entries; read-only.
func (d *decider) all() ([]segment.Transaction, error) {
	if d.mem != nil {
		return d.mem.all(), nil
	}
	t, err := d.seg.Transactions(d.part)
	if err != nil {
		return nil, err
	}
	all := t.All()
	return all[sort.Search(len(all), func(i int) bool { return all[i].Marker >= d.from }):], nil
}

func (d *decider) aborted(from, to int64, dst []segment.Transaction) ([]segment.Transaction, error) {
	if d.mem != nil {
		return d.mem.aborted(from, to, dst), nil
	}
	if d.part.EndOffset <= from || d.part.MinAborted >= to {
		return dst, nil
	}
	all, err := d.seg.Transactions(d.part)
	if err != nil {
		return dst, err
	}
	return all.Aborted(max(from, d.from), to, dst), nil
}

// abortedIn returns the aborted transactions that overlap [from, to), by first offset.
func abortedIn(s *Store, tp state.TopicPartition, all []decider, from, to int64) ([]state.AbortedTransaction, error) {
	var found []segment.Transaction
	for i := range all {
		d := &all[i]
		var err error
		if found, err = d.aborted(from, to, found); err != nil {
			return nil, s.segmentError(tp, d.seg, from, to-1, err)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	out := make([]state.AbortedTransaction, len(found))
	for i := range found {
		out[i] = state.AbortedTransaction{ProducerID: found[i].ProducerID, FirstOffset: found[i].First, LastOffset: found[i].Marker}
	}
	slices.SortFunc(out, func(a, b state.AbortedTransaction) int {
		// No two transactions begin at the same offset.
		if a.FirstOffset < b.FirstOffset {
			return -1
		}
		return 1
	})
	return out, nil
}

// visibility tells which transactional batches of a partition count in a snapshot.
type visibility struct {
	s        *Store
	tp       state.TopicPartition
	deciders []decider
	lsn      commitlog.LSN     // of the snapshot: what was decided later is open
	own      int64             // the producer whose open transaction counts; NoProducer: none does
	known    map[int64]verdict // by producer, the last one looked up
}

// verdict is what is known of the batches of one producer with offsets in [from, to).
type verdict struct {
	from, to  int64
	committed bool // at lsn; otherwise aborted or open
	own       bool // open, and counts all the same
	lsn       commitlog.LSN
}

// of returns the verdict on the batch at base of a producer.
func (v *visibility) of(producer, base int64) (verdict, error) {
	k, seen := v.known[producer]
	if seen && k.from <= base && base < k.to {
		return k, nil
	}
	// The transaction of base ends with the producer's first marker behind it.
	x := verdict{from: base, to: math.MaxInt64}
	if producer == v.own {
		x.own, x.lsn = true, v.lsn
	}
	decided := false
	for i := range v.deciders {
		t, ok, err := v.deciders[i].find(producer, base)
		if err != nil {
			return verdict{}, err
		}
		if !ok {
			continue
		}
		x.from = t.First
		if commitlog.LSN(t.LSN) <= v.lsn {
			x = verdict{from: t.First, to: t.Marker, committed: t.Committed, lsn: commitlog.LSN(t.LSN)}
		}
		decided = true
		break
	}
	if !decided {
		// Known once for all of it, which matters to those who read backwards.
		v.s.pub.RLock()
		if first, ok := v.s.pub.open[openKey{v.tp, producer}]; ok {
			x.from = min(x.from, first)
		}
		v.s.pub.RUnlock()
	}
	if v.known == nil {
		v.known = map[int64]verdict{}
	}
	v.known[producer] = x
	return x, nil
}

// coordinatorEpoch of all markers: there is one coordinator, and it never moves.
const coordinatorEpoch = 0

// buildMarkers makes the control batches of an entry's markers, in entry order, in one
// piece of memory: a transaction may have many partitions.
func buildMarkers(batches []state.AppliedBatch) [][]byte {
	all := make([]byte, 0, len(batches)*recordbatch.MarkerBytes)
	payload := make([][]byte, len(batches))
	for i := range batches {
		b := &batches[i]
		at := len(all)
		all = recordbatch.AppendMarker(all, &recordbatch.Marker{
			ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, BaseOffset: b.BaseOffset, Timestamp: b.MaxTimestamp,
			Commit: b.Marker == state.CommitMarker, CoordinatorEpoch: coordinatorEpoch,
		})
		payload[i] = all[at:len(all):len(all)]
	}
	return payload
}

// Transaction describes a transactional id, as published.
func (s *Store) Transaction(id string) (state.Transaction, bool) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.Transaction(id)
}

// Transactions describes all transactional ids, in order.
func (s *Store) Transactions() []state.Transaction {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.Transactions()
}

// PendingOffsets is the partitions for which an ongoing transaction holds an offset of
// the group.
func (s *Store) PendingOffsets(group string) map[state.TopicPartition]struct{} {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.PendingOffsets(group)
}

// TransactionOf is the transactional id of a producer id.
func (s *Store) TransactionOf(producerID int64) (state.Transaction, bool) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.TransactionOf(producerID)
}

// OpenTransactions are the ongoing ones, in no order.
func (s *Store) OpenTransactions() []state.OpenTransaction {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return s.pub.state.OpenTransactions(nil)
}
