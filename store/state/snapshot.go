package state

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A snapshot is the whole state in canonical order (the commit log checksums it):
//
//	"MRST" | version | topics version | next producer id | document version
//	topics, in name order:  id, name, created, config version, configs, partitions:
//	    log start, end − log start, producers in id order:
//	        id, epoch, appended, timestamp, window (oldest first): base, first, last
//	bumped producers, in id order: id, epoch, time
//	groups, in name order:  name, flags, data, empty since, offsets in (topic, partition) order
//	document kinds, by name: kind, version, documents in key order: key, version, data
//
// Each list has its count in front. Many versions are read, the newest is written.
const (
	snapshotMagic   = "MRST"
	snapshotVersion = 1
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

	b = binary.AppendUvarint(b, uint64(len(s.sorted)))
	for _, t := range s.sorted {
		b = append(b, t.ID[:]...)
		b = putString(b, t.Name)
		b = binary.AppendVarint(b, t.CreatedAt)
		b = binary.AppendUvarint(b, t.ConfigVersion)
		b = putConfigs(b, t.Configs)
		b = binary.AppendUvarint(b, uint64(len(t.partitions)))
		for i := range t.partitions {
			b = t.partitions[i].encode(b)
		}
	}

	b = binary.AppendUvarint(b, uint64(len(s.bumped)))
	for _, id := range slices.Sorted(maps.Keys(s.bumped)) {
		b = binary.AppendUvarint(b, uint64(id))
		b = binary.AppendUvarint(b, uint64(s.bumped[id].epoch))
		b = binary.AppendVarint(b, s.bumped[id].at)
	}

	b = binary.AppendUvarint(b, uint64(len(s.groups)))
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		b = putString(b, name)
		b = s.groups[name].encode(b)
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

func (p *partition) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.logStart))
	b = binary.AppendUvarint(b, uint64(p.end-p.logStart))
	b = binary.AppendUvarint(b, uint64(len(p.producers)))
	if len(p.producers) == 0 {
		return b
	}
	for _, id := range slices.Sorted(maps.Keys(p.producers)) {
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
	return b
}

func (g *group) encode(b []byte) []byte {
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
	b = binary.AppendUvarint(b, uint64(len(g.offsets)))
	for _, tp := range slices.SortedFunc(maps.Keys(g.offsets), TopicPartition.Compare) {
		o := g.offsets[tp]
		b = append(b, tp.Topic[:]...)
		b = binary.AppendUvarint(b, uint64(tp.Partition))
		b = binary.AppendVarint(b, o.Offset)
		b = binary.AppendVarint(b, int64(o.LeaderEpoch))
		b = binary.AppendVarint(b, o.expireAt)
		b = putString(b, o.Metadata)
		b = binary.AppendVarint(b, o.CommitTime)
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
	if v := b[head-1]; v != snapshotVersion {
		return nil, fmt.Errorf("%w: snapshot version %d", ErrCorrupt, v)
	}
	s := NewWithLimits(l)
	r := &reader{b: b[head:]}
	s.topicsVersion = r.uvarint()
	s.nextProducerID = r.int64("next producer id")
	s.documentVersion = r.uvarint()
	s.decodeTopics(r)
	s.decodeBumped(r)
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
)

func (s *State) decodeTopics(r *reader) {
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
			s.producerCount += t.partitions[i].decode(r)
		}
		s.topics[t.ID], s.byName[t.Name] = t, t
		s.sorted = append(s.sorted, t)
		s.partitionCount += count
	}
}

// decode returns the number of producers.
func (p *partition) decode(r *reader) int {
	p.logStart = r.int64("log start")
	p.end = p.logStart + r.int64("end")
	if p.end < p.logStart {
		r.fail("end offset")
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
		count := r.count(minOffsetBytes, "offset count")
		for range count {
			tp, o := readOffset(r)
			o.CommitTime = r.varint()
			if r.err == nil && s.partition(tp) == nil {
				r.fail("offset of an unknown partition")
			}
			if r.err != nil {
				return
			}
			g.offsets[tp] = o
		}
		if len(g.offsets) != count {
			r.fail("offset twice")
		}
		s.offsetCount += count
	}
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
