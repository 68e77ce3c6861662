package state

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// topic is a topic and its partitions. Its description is replaced, never
// modified, where it is shared (Configs).
type topic struct {
	Topic
	partitions []partition
}

func (t *topic) clone() *topic {
	c := &topic{Topic: t.Topic, partitions: slices.Clone(t.partitions)}
	for i := range c.partitions {
		c.partitions[i].producers = cloneProducers(c.partitions[i].producers)
		c.partitions[i].open = maps.Clone(c.partitions[i].open)
		c.partitions[i].opened = slices.Clone(c.partitions[i].opened)
		c.partitions[i].pending = pending{}
	}
	return c
}

// Topic returns the topic with that id.
func (s *State) Topic(id TopicID) (Topic, bool) {
	if t := s.topics[id]; t != nil {
		return t.Topic, true
	}
	return Topic{}, false
}

// TopicByName returns the topic with that name.
func (s *State) TopicByName(name string) (Topic, bool) {
	if t := s.byName[name]; t != nil {
		return t.Topic, true
	}
	return Topic{}, false
}

// Topics returns all topics in name order, in a new slice.
func (s *State) Topics() []Topic {
	all := make([]Topic, len(s.sorted))
	for i, t := range s.sorted {
		all[i] = t.Topic
	}
	return all
}

// TopicsVersion changes whenever what Topics returns changes.
func (s *State) TopicsVersion() uint64 { return s.topicsVersion }

// PartitionCount is the number of partitions of all topics.
func (s *State) PartitionCount() int { return s.partitionCount }

func (s *State) insertTopic(t *topic) {
	i, _ := slices.BinarySearchFunc(s.sorted, t.Name, byTopicName)
	s.sorted = slices.Insert(s.sorted, i, t)
	s.topics[t.ID] = t
	s.byName[t.Name] = t
	s.partitionCount += len(t.partitions)
}

func byTopicName(t *topic, name string) int { return strings.Compare(t.Name, name) }

// --- CreateTopic: id, name, partitions, now, configs ---

func (s *State) decideCreateTopic(now Millis, in CreateTopic, buf []byte) ([]byte, any) {
	refuse := func(err error) ([]byte, any) { return nil, TopicResult{Err: err} }
	switch {
	case !ValidTopicName(in.Name):
		return refuse(ErrInvalidTopicName)
	case s.byName[in.Name] != nil:
		return nil, TopicResult{Err: ErrTopicExists, Topic: s.byName[in.Name].Topic}
	case s.topics[in.ID] != nil || in.ID == (TopicID{}):
		// Ids are random; a clash is the caller's fault. Never two topics under one id.
		return refuse(ErrTopicExists)
	case in.Partitions < 1:
		return refuse(ErrInvalidPartitions)
	case in.Partitions > maxTopicPartitions,
		len(s.topics) >= s.limits.MaxTopics,
		s.partitionCount+int(in.Partitions) > s.limits.MaxPartitions:
		return refuse(ErrTooMany)
	case !boundedConfigs(in.Configs):
		return refuse(ErrInvalidConfig)
	}
	e := beginEntry(buf, EntryCreateTopic)
	e = append(e, in.ID[:]...)
	e = putString(e, in.Name)
	e = binary.AppendUvarint(e, uint64(in.Partitions))
	e = binary.AppendVarint(e, now)
	e = putConfigs(e, in.Configs)
	return e, TopicResult{Topic: Topic{
		ID: in.ID, Name: in.Name, Partitions: in.Partitions,
		Configs: cloneConfigs(in.Configs), ConfigVersion: 1, CreatedAt: now,
	}}
}

func (s *State) applyCreateTopic(r *reader) {
	t := &topic{}
	t.ID = r.topicID()
	t.Name = r.string(MaxTopicNameBytes, "topic name")
	t.Partitions = int32(r.upTo(maxTopicPartitions, "partition count"))
	t.CreatedAt = r.varint()
	t.Configs = readConfigs(r)
	t.ConfigVersion = 1
	if r.err != nil {
		return
	}
	if s.topics[t.ID] != nil || s.byName[t.Name] != nil || t.Partitions < 1 || !ValidTopicName(t.Name) {
		r.fail("topic exists, has no partitions or no valid name")
		return
	}
	t.partitions = make([]partition, t.Partitions)
	t.markSparse()
	s.insertTopic(t)
	s.topicsVersion++
}

// --- DeleteTopic: id ---

func (s *State) decideDeleteTopic(in DeleteTopic, buf []byte) ([]byte, any) {
	t := s.topics[in.ID]
	if t == nil {
		return nil, TopicResult{Err: ErrUnknownTopic}
	}
	e := beginEntry(buf, EntryDeleteTopic)
	return append(e, in.ID[:]...), TopicResult{Topic: t.Topic}
}

func (s *State) applyDeleteTopic(r *reader) {
	t := s.readTopic(r)
	if t == nil {
		return
	}
	i, _ := slices.BinarySearchFunc(s.sorted, t.Name, byTopicName)
	s.sorted = slices.Delete(s.sorted, i, i+1)
	delete(s.topics, t.ID)
	delete(s.byName, t.Name)
	s.partitionCount -= len(t.partitions)
	for i := range t.partitions {
		s.producerCount -= len(t.partitions[i].producers)
	}
	for _, g := range s.groups {
		for tp := range g.offsets {
			if tp.Topic == t.ID {
				s.dropOffset(g, tp)
			}
		}
	}
	s.forgetTopicInTransactions(t.ID)
	s.topicsVersion++
}

// markSparse notes that the topic is compacted, or was once: records may be missing.
func (t *topic) markSparse() {
	if !strings.Contains(t.Configs["cleanup.policy"], "compact") {
		return
	}
	for i := range t.partitions {
		t.partitions[i].sparse = true
	}
}

// --- CreatePartitions: id, count ---

func (s *State) decideCreatePartitions(in CreatePartitions, buf []byte) ([]byte, any) {
	t := s.topics[in.ID]
	if t == nil {
		return nil, TopicResult{Err: ErrUnknownTopic}
	}
	if in.Count <= t.Partitions { // Kafka refuses the present count too
		return nil, TopicResult{Err: ErrInvalidPartitions, Topic: t.Topic}
	}
	if in.Count > maxTopicPartitions || s.partitionCount+int(in.Count-t.Partitions) > s.limits.MaxPartitions {
		return nil, TopicResult{Err: ErrTooMany, Topic: t.Topic}
	}
	e := beginEntry(buf, EntryCreatePartitions)
	e = append(e, in.ID[:]...)
	e = binary.AppendUvarint(e, uint64(in.Count))
	after := t.Topic
	after.Partitions = in.Count
	return e, TopicResult{Topic: after}
}

func (s *State) applyCreatePartitions(r *reader) {
	t := s.readTopic(r)
	count := int(r.upTo(maxTopicPartitions, "partition count"))
	if t == nil || r.err != nil {
		return
	}
	if count <= len(t.partitions) {
		r.fail("partition count shrinks")
		return
	}
	s.partitionCount += count - len(t.partitions)
	t.partitions = append(t.partitions, make([]partition, count-len(t.partitions))...)
	t.Partitions = int32(count)
	t.markSparse()
	s.topicsVersion++
}

// --- SetTopicConfigs: id, configs ---

func (s *State) decideSetTopicConfigs(in SetTopicConfigs, buf []byte) ([]byte, any) {
	t := s.topics[in.ID]
	switch {
	case t == nil:
		return nil, TopicResult{Err: ErrUnknownTopic}
	case t.ConfigVersion != in.ExpectVersion:
		return nil, TopicResult{Err: ErrVersionMismatch, Topic: t.Topic}
	case !boundedConfigs(in.Configs):
		return nil, TopicResult{Err: ErrInvalidConfig, Topic: t.Topic}
	case maps.Equal(t.Configs, in.Configs):
		return nil, TopicResult{Topic: t.Topic}
	}
	e := beginEntry(buf, EntrySetTopicConfigs)
	e = append(e, in.ID[:]...)
	e = putConfigs(e, in.Configs)
	after := t.Topic
	after.Configs = cloneConfigs(in.Configs)
	after.ConfigVersion++
	return e, TopicResult{Topic: after}
}

func (s *State) applySetTopicConfigs(r *reader) {
	t := s.readTopic(r)
	configs := readConfigs(r)
	if t == nil || r.err != nil {
		return
	}
	t.Configs = configs
	t.ConfigVersion++
	t.markSparse()
	s.topicsVersion++
}

// readTopic reads the id of a topic that must exist.
func (s *State) readTopic(r *reader) *topic {
	id := r.topicID()
	t := s.topics[id]
	if t == nil {
		r.fail("unknown topic id")
	}
	return t
}

// --- configs: count, then name and value in name order ---

func boundedConfigs(c map[string]string) bool {
	if len(c) > maxConfigs {
		return false
	}
	for k, v := range c {
		if len(k) > maxNameBytes || len(v) > maxConfigBytes {
			return false
		}
	}
	return true
}

func putConfigs(b []byte, c map[string]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(c)))
	for _, k := range slices.Sorted(maps.Keys(c)) {
		b = putString(b, k)
		b = putString(b, c[k])
	}
	return b
}

func readConfigs(r *reader) map[string]string {
	n := r.count(2, "config count")
	if n > maxConfigs {
		r.fail("config count")
	}
	if n == 0 || r.err != nil {
		return nil
	}
	c := make(map[string]string, n)
	for range n {
		k := r.string(maxNameBytes, "config name")
		c[k] = r.string(maxConfigBytes, "config value")
	}
	if len(c) != n {
		r.fail("config named twice")
	}
	return c
}

func cloneConfigs(c map[string]string) map[string]string {
	if len(c) == 0 {
		return nil
	}
	return maps.Clone(c)
}
