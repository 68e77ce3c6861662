package store

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"millrace/store/state"
)

// partition is what the store keeps of one live partition for the life of its topic.
type partition struct {
	tp   state.TopicPartition
	slot int // in the boundsTable; reused after the topic is gone

	// Guarded by the publish lock.
	mem  *memtable // the memtable that part belongs to; nil when that was sealed
	part *memPart

	watchers watchList
}

// topicEntry is one topic of a TopicSet; immutable.
type topicEntry struct {
	topic      state.Topic
	partitions []*partition
}

// TopicSet is immutable.
type TopicSet struct {
	byName []*topicEntry // in name order
	byID   []*topicEntry // in id order

	allOnce sync.Once
	all     []state.Topic
}

// ByName finds a topic by its name.
func (t *TopicSet) ByName(name string) (state.Topic, bool) {
	if i, ok := t.findName(name); ok {
		return t.byName[i].topic, true
	}
	return state.Topic{}, false
}

// ByID finds a topic by its id.
func (t *TopicSet) ByID(id state.TopicID) (state.Topic, bool) {
	if e := t.entry(id); e != nil {
		return e.topic, true
	}
	return state.Topic{}, false
}

// All topics in name order. The slice must not be modified.
func (t *TopicSet) All() []state.Topic {
	t.allOnce.Do(func() {
		t.all = make([]state.Topic, len(t.byName))
		for i, e := range t.byName {
			t.all[i] = e.topic
		}
	})
	return t.all
}

func (t *TopicSet) findName(name string) (int, bool) {
	return sort.Find(len(t.byName), func(i int) int { return strings.Compare(name, t.byName[i].topic.Name) })
}

func (t *TopicSet) findID(id state.TopicID) (int, bool) {
	return sort.Find(len(t.byID), func(i int) int { return bytes.Compare(id[:], t.byID[i].topic.ID[:]) })
}

func (t *TopicSet) entry(id state.TopicID) *topicEntry {
	if i, ok := t.findID(id); ok {
		return t.byID[i]
	}
	return nil
}

// partition returns nil when the set has no such partition.
func (t *TopicSet) partition(tp state.TopicPartition) *partition {
	e := t.entry(tp.Topic)
	if e == nil || tp.Partition < 0 || int(tp.Partition) >= len(e.partitions) {
		return nil
	}
	return e.partitions[tp.Partition]
}

// with returns a set in which e takes the place of the topic with its id, or is new.
func (t *TopicSet) with(e *topicEntry) *TopicSet {
	n := &TopicSet{byName: put(t.byName, e, t.findName, e.topic.Name)}
	n.byID = put(t.byID, e, t.findID, e.topic.ID)
	return n
}

// without returns a set that lacks the topic.
func (t *TopicSet) without(id state.TopicID) *TopicSet {
	i, ok := t.findID(id)
	if !ok {
		return t
	}
	n := &TopicSet{byID: cut(t.byID, i)}
	i, _ = t.findName(t.byID[i].topic.Name)
	n.byName = cut(t.byName, i)
	return n
}

func put[K any](list []*topicEntry, e *topicEntry, find func(K) (int, bool), key K) []*topicEntry {
	i, ok := find(key)
	out := make([]*topicEntry, 0, len(list)+1)
	out = append(out, list[:i]...)
	out = append(out, e)
	if ok {
		i++
	}
	return append(out, list[i:]...)
}

func cut(list []*topicEntry, i int) []*topicEntry {
	out := make([]*topicEntry, 0, len(list)-1)
	out = append(out, list[:i]...)
	return append(out, list[i+1:]...)
}

func sortedByID(list []*topicEntry) []*topicEntry {
	out := append([]*topicEntry(nil), list...)
	sort.Slice(out, func(i, j int) bool { return bytes.Compare(out[i].topic.ID[:], out[j].topic.ID[:]) < 0 })
	return out
}
