package state

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A snapshot is the whole state in canonical order (the commit log checksums it):
//
//	"MRST" | version | topics version | next producer id | document version
//	topics, in name order:  id, name, created, config version, configs, partitions:
//	    log start, end − log start,
//	    2 × open transactions + sparse (since version 2), open transactions in producer id order:
//	        producer id, first offset
//	    producers in id order:
//	        id, epoch, appended, timestamp, window (oldest first): base, first, last
//	bumped producers, in id order: id, epoch, time
//	transactional ids, in order (since version 2): id, producer id, epoch, last producer id,
//	    last epoch, timeout, status, started, updated, partitions in order,
//	    groups in order: name, offsets in (topic, partition) order
//	groups, in name order:  name, flags, data, empty since, offsets in (topic, partition) order
//	document kinds, by name: kind, version, documents in key order: key, version, data
//
// Each list has its count in front. Many versions are read, the newest is written.
const (
	snapshotMagic   = "MRST"
	snapshotVersion = 2
)

const (
	groupActive  = 1 << 0
	groupHasData = 1 << 1
)

// Encode appends a self-contained, versioned snapshot of s to dst; Decode reads
// it back. Equal states give equal bytes. Limits are not part of it.
func (s *State) Encode(dst []byte) []byte {
	b := append(dst, snapshotMagic...)
	b = append(b, snapshotVersion)
	b = binary.AppendUvarint(b, s.topicsVersion)
	b = binary.AppendUvarint(b, uint64(s.nextProducerID))
	b = binary.AppendUvarint(b, s.documentVersion)

	var ids []int64 // sorted producer ids of one partition after the other
	var tps []TopicPartition
	b = binary.AppendUvarint(b, uint64(len(s.sorted)))
	for _, t := range s.sorted {
		b = append(b, t.ID[:]...)
		b = putString(b, t.Name)
		b = binary.AppendVarint(b, t.CreatedAt)
		b = binary.AppendUvarint(b, t.ConfigVersion)
		b = putConfigs(b, t.Configs)
		b = binary.AppendUvarint(b, uint64(len(t.partitions)))
		for i := range t.partitions {
			b, ids = t.partitions[i].encode(b, ids)
		}
	}

	b = binary.AppendUvarint(b, uint64(len(s.bumped)))
	for _, id := range slices.Sorted(maps.Keys(s.bumped)) {
		b = binary.AppendUvarint(b, uint64(id))
		b = binary.AppendUvarint(b, uint64(s.bumped[id].epoch))
		b = binary.AppendVarint(b, s.bumped[id].at)
	}

	b = s.encodeTransactions(b)

	b = binary.AppendUvarint(b, uint64(len(s.groups)))
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		b = putString(b, name)
		b, tps = s.groups[name].encode(b, tps)
	}

	b = binary.AppendUvarint(b, uint64(len(s.kinds)))
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[name]
		b = putString(b, name)
		b = binary.AppendUvarint(b, k.version)
		b = binary.AppendUvarint(b, uint64(len(k.documents)))
		for _, key := range slices.Sorted(maps.Keys(k.documents)) {
			d := k.documents[key]
			b = putString(b, key)
			b = binary.AppendUvarint(b, d.Version)
			b = putBytes(b, d.Data)
		}
	}
	return b
}

// encode also returns ids, whose memory it uses.
func (p *partition) encode(b []byte, ids []int64) ([]byte, []int64) {
	b = binary.AppendUvarint(b, uint64(p.logStart))
	b = binary.AppendUvarint(b, uint64(p.end-p.logStart))
	transactions := uint64(len(p.open)) << 1
	if p.sparse {
		transactions |= 1
	}
	b = binary.AppendUvarint(b, transactions)
	if len(p.open) > 0 {
		ids = sortedKeys(ids, p.open)
		for _, id := range ids {
			b = binary.AppendUvarint(b, uint64(id))
			b = binary.AppendUvarint(b, uint64(p.open[id]))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.producers)))
	ids = sortedKeys(ids, p.producers)
	for _, id := range ids {
		pr := p.producers[id]
		b = binary.AppendUvarint(b, uint64(id))
		b = binary.AppendUvarint(b, uint64(pr.epoch))
		b = binary.AppendVarint(b, pr.appended)
		b = binary.AppendVarint(b, pr.timestamp)
		b = append(b, pr.count)
		for i := range int(pr.count) {
			w := pr.at(i)
			b = binary.AppendUvarint(b, uint64(w.baseOffset))
			b = binary.AppendUvarint(b, uint64(w.first))
			b = binary.AppendUvarint(b, uint64(w.last))
		}
	}
	return b, ids
}

// sortedKeys overwrites ids: a state has many partitions, and is encoded under a lock.
func sortedKeys[V any](ids []int64, m map[int64]V) []int64 {
	ids = ids[:0]
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// encode also returns tps, whose memory it uses.
func (g *group) encode(b []byte, tps []TopicPartition) ([]byte, []TopicPartition) {
	var flags byte
	if g.active {
		flags |= groupActive
	}
	if g.data != nil {
		flags |= groupHasData
	}
	b = append(b, flags)
	b = putBytes(b, g.data)
	b = binary.AppendVarint(b, g.emptySince)
	return encodeOffsets(b, g.offsets, tps)
}

// encodeOffsets also returns tps, whose memory it uses.
func encodeOffsets(b []byte, offsets map[TopicPartition]committed, tps []TopicPartition) ([]byte, []TopicPartition) {
	b = binary.AppendUvarint(b, uint64(len(offsets)))
	tps = tps[:0]
	for tp := range offsets {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, TopicPartition.Compare)
	for _, tp := range tps {
		o := offsets[tp]
		b = putOffset(b, &OffsetCommit{TopicPartition: tp, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, ExpireAt: o.expireAt, Metadata: o.Metadata})
		b = binary.AppendVarint(b, o.CommitTime)
	}
	return b, tps
}

func (s *State) encodeTransactions(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.transactions)))
	for _, id := range slices.Sorted(maps.Keys(s.transactions)) {
		t := s.transactions[id]
		b = putString(b, id)
		b = binary.AppendUvarint(b, uint64(t.producerID))
		b = binary.AppendUvarint(b, uint64(t.producerEpoch))
		b = binary.AppendVarint(b, t.lastProducerID)
		b = binary.AppendVarint(b, int64(t.lastProducerEpoch))
		b = binary.AppendUvarint(b, uint64(t.timeout))
		b = append(b, byte(t.status))
		b = binary.AppendVarint(b, t.startedAt)
		b = binary.AppendVarint(b, t.updatedAt)
		b = binary.AppendUvarint(b, uint64(len(t.partitions)))
		for _, tp := range t.sortedPartitions() {
			b = putTopicPartition(b, tp)
		}
		b = binary.AppendUvarint(b, uint64(len(t.offsets)))
		for _, group := range slices.Sorted(maps.Keys(t.offsets)) {
			b = putString(b, group)
			b, _ = encodeOffsets(b, t.offsets[group], nil)
		}
	}
	return b
}

// Decode returns the state that Encode wrote, with default limits; ErrCorrupt.
// It keeps no reference to b.
func Decode(b []byte) (*State, error) { return DecodeWithLimits(b, Limits{}) }

// DecodeWithLimits is Decode for a state with limits l. A snapshot that exceeds
// them is fine.
func DecodeWithLimits(b []byte, l Limits) (*State, error) {
	const head = len(snapshotMagic) + 1
	if len(b) < head || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("%w: not a snapshot", ErrCorrupt)
	}
	version := b[head-1]
	if v := version; v < 1 || v > snapshotVersion {
		return nil, fmt.Errorf("%w: snapshot version %d", ErrCorrupt, v)
	}
	s := NewWithLimits(l)
	r := &reader{b: b[head:]}
	s.topicsVersion = r.uvarint()
	s.nextProducerID = r.int64("next producer id")
	s.documentVersion = r.uvarint()
	s.decodeTopics(r, version)
	s.decodeBumped(r)
	if version >= 2 {
		s.decodeTransactions(r)
	}
	s.decodeGroups(r)
	s.decodeDocuments(r)
	if err := r.end(); err != nil {
		return nil, err
	}
	return s, nil
}

// Fewest bytes that one element of a list takes: what makes its count believable.
const (
	minTopicBytes     = 16 + 1 + 1 + 1 + 1 + 1 + 1
	minPartitionBytes = 3
	minProducerBytes  = 5
	minGroupBytes     = 5
	minOffsetBytes    = 16 + 6

	minTransactionBytes = 11
)

func (s *State) decodeTopics(r *reader, version byte) {
	last := ""
	for n := r.count(minTopicBytes, "topic count"); n > 0 && r.err == nil; n-- {
		t := &topic{}
		t.ID = r.topicID()
		t.Name = r.string(MaxTopicNameBytes, "topic name")
		t.CreatedAt = r.varint()
		t.ConfigVersion = r.uvarint()
		t.Configs = readConfigs(r)
		count := r.count(minPartitionBytes, "partition count")
		if count < 1 || count > maxTopicPartitions || t.Name <= last || s.topics[t.ID] != nil {
			r.fail("topics out of order")
		}
		if r.err != nil {
			return
		}
		last = t.Name
		t.Partitions = int32(count)
		t.partitions = make([]partition, count)
		for i := range t.partitions {
			s.producerCount += t.partitions[i].decode(r, version)
		}
		t.markSparse() // version 1 did not know
		s.topics[t.ID], s.byName[t.Name] = t, t
		s.sorted = append(s.sorted, t)
		s.partitionCount += count
	}
}

// decode returns the number of producers.
func (p *partition) decode(r *reader, version byte) int {
	p.logStart = r.int64("log start")
	p.end = p.logStart + r.int64("end")
	if p.end < p.logStart {
		r.fail("end offset")
	}
	if version >= 2 {
		p.decodeOpen(r)
	}
	n := r.count(minProducerBytes, "producer count")
	if n == 0 || r.err != nil {
		return 0
	}
	p.producers = make(map[int64]*producer, n)
	slab := make([]producer, n)
	for i := range slab {
		pr := &slab[i]
		id := r.int64("producer id")
		pr.epoch = int16(r.upTo(maxEpoch, "producer epoch"))
		pr.appended = r.varint()
		pr.timestamp = r.varint()
		for count := r.upTo(windowBatches, "producer window"); count > 0; count-- {
			pr.push(sequenceRange{r.int64("base offset"), r.int32("sequence"), r.int32("sequence")})
		}
		p.producers[id] = pr
	}
	if len(p.producers) != n {
		r.fail("producer named twice")
	}
	return n
}

func (p *partition) decodeOpen(r *reader) {
	n := r.uvarint()
	p.sparse = n&1 != 0
	n >>= 1
	if n > uint64(len(r.b)/2) {
		r.fail("open transaction count")
	}
	if n == 0 || r.err != nil {
		return
	}
	p.open = make(map[int64]int64, n)
	for range n {
		id, first := r.int64("producer id"), r.int64("first offset")
		if first >= p.end {
			r.fail("open transaction beyond the end")
		}
		p.open[id] = first
		p.opened = append(p.opened, opened{id, first})
	}
	if uint64(len(p.open)) != n {
		r.fail("open transaction twice")
	}
	slices.SortFunc(p.opened, func(a, b opened) int { return cmp.Compare(a.first, b.first) })
}

func (s *State) decodeTransactions(r *reader) {
	for n := r.count(minTransactionBytes, "transaction count"); n > 0 && r.err == nil; n-- {
		t := &transaction{id: r.string(maxNameBytes, "transactional id")}
		t.producerID = r.int64("producer id")
		t.producerEpoch = int16(r.upTo(maxEpoch, "producer epoch"))
		t.lastProducerID = r.varint()
		t.lastProducerEpoch = int16(r.varint())
		t.timeout = r.int32("transaction timeout")
		t.status = TransactionStatus(r.byte())
		t.startedAt = r.varint()
		t.updatedAt = r.varint()
		if t.status > TransactionCompleteAbort || s.transactions[t.id] != nil || s.transactionOf[t.producerID] != nil {
			r.fail("transaction status, or twice")
		}
		for count := r.count(17, "transaction's partition count"); count > 0 && r.err == nil; count-- {
			if t.partitions == nil {
				t.partitions = map[TopicPartition]struct{}{}
			}
			tp := r.topicPartition()
			if s.partition(tp) == nil {
				r.fail("transaction over an unknown partition")
			}
			t.partitions[tp] = struct{}{}
		}
		for count := r.count(2, "transaction's group count"); count > 0 && r.err == nil; count-- {
			if t.offsets == nil {
				t.offsets = map[string]map[TopicPartition]committed{}
			}
			group := r.string(maxNameBytes, "group name")
			offsets := map[TopicPartition]committed{}
			s.pendingOffsets += s.decodeOffsets(r, offsets)
			t.offsets[group] = offsets
			s.hold(group, t)
		}
		if r.err != nil {
			return
		}
		s.transactions[t.id] = t
		s.transactionOf[t.producerID] = t
	}
}

func (s *State) decodeBumped(r *reader) {
	for n := r.count(3, "bumped producer count"); n > 0 && r.err == nil; n-- {
		id := r.int64("producer id")
		s.bumped[id] = bump{int16(r.upTo(maxEpoch, "producer epoch")), r.varint()}
	}
}

func (s *State) decodeGroups(r *reader) {
	for n := r.count(minGroupBytes, "group count"); n > 0 && r.err == nil; n-- {
		name := r.string(maxNameBytes, "group name")
		flags := r.byte()
		data := r.bytes(maxDataBytes, "group data")
		if flags&^(groupActive|groupHasData) != 0 || flags&groupHasData == 0 && len(data) > 0 || s.groups[name] != nil {
			r.fail("group flags or name")
			return
		}
		g := s.groupOrNew(name)
		g.active = flags&groupActive != 0
		if flags&groupHasData != 0 {
			g.data = append([]byte{}, data...)
		}
		g.emptySince = r.varint()
		s.offsetCount += s.decodeOffsets(r, g.offsets)
	}
}

func (s *State) decodeOffsets(r *reader, into map[TopicPartition]committed) (count int) {
	count = r.count(minOffsetBytes, "offset count")
	for range count {
		tp, o := readOffset(r)
		o.CommitTime = r.varint()
		if r.err == nil && s.partition(tp) == nil {
			r.fail("offset of an unknown partition")
		}
		if r.err != nil {
			return 0
		}
		into[tp] = o
	}
	if len(into) != count {
		r.fail("offset twice")
	}
	return count
}

func (s *State) decodeDocuments(r *reader) {
	for n := r.count(3, "document kind count"); n > 0 && r.err == nil; n-- {
		kind := r.string(maxNameBytes, "document kind")
		k := &documentKind{version: r.uvarint(), documents: map[string]Document{}}
		count := r.count(3, "document count")
		for range count {
			key := r.string(maxNameBytes, "document key")
			version := r.uvarint()
			if version > s.documentVersion {
				r.fail("document version")
			}
			data := r.bytes(maxDataBytes, "document data")
			if r.err != nil {
				return
			}
			k.documents[key] = Document{Kind: kind, Key: key, Version: version, Data: append([]byte{}, data...)}
		}
		if len(k.documents) != count || s.kinds[kind] != nil || k.version > s.documentVersion {
			r.fail("document or kind twice")
			return
		}
		s.kinds[kind] = k
		s.documentCount += count
	}
}
