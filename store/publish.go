package store

import (
	"fmt"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// maxPublish bounds how many slots are published under one hold of the publish
// lock, and so how long readers wait for it.
const maxPublish = 256

// publisher completes slots in submission order until the store is closed and
// the queue drained. It is the only writer of the published state.
func (s *Store) publisher() {
	defer s.wg.Done()
	batch := make([]*slot, 0, maxPublish)
	for {
		select {
		case <-s.queue.wake:
		case <-s.stopPublisher:
			return
		}
		for {
			batch = s.queue.take(batch[:0], maxPublish)
			if len(batch) == 0 {
				break
			}
			s.publish(batch)
			s.queue.finish(len(batch))
			clear(batch)
		}
	}
}

// publish makes a run of completed slots visible, then answers them. After the
// first failed entry everything is failed that was decided on top of it: the
// state it was decided against never came to be. That ends when the healer has
// rebuilt the decided state.
func (s *Store) publish(batch []*slot) {
	touched := s.touched[:0]
	entries := 0
	for _, sl := range batch {
		if sl.err != nil && !sl.refused {
			s.fail(sl.err)
		}
		if s.failing.Load() {
			if sl.err == nil {
				sl.err = commitlog.ErrStorage
			}
		} else if sl.entry != nil && sl.err == nil {
			entries++
		}
	}
	if entries > 0 {
		s.tail.push(batch)
		s.pub.Lock()
		for _, sl := range batch {
			if sl.err == nil && sl.entry != nil {
				touched = s.apply(sl, touched)
			}
		}
		full := s.sealDue(s.pub.version.active())
		over := s.pub.version.unsealedBytes() > s.o.UnsealedBytes
		s.pub.Unlock()
		for _, p := range touched {
			p.watchers.notify()
		}
		if over {
			s.budget.Block(true)
		}
		if full || over {
			s.wakeMaintenance()
		}
	}
	var bytes int64
	for _, sl := range batch {
		if sl.err != nil {
			sl.done(nil, sl.err)
		} else {
			sl.done(sl.result, nil)
		}
		bytes += sl.bytes
		if sl.entry != nil {
			s.entryBufs.put(sl.entry)
		}
	}
	s.budget.Release(bytes)
	s.publishedBytes.Add(bytes)
	s.metrics.published(batch, s.o.Now)
	clear(touched)
	s.touched = touched[:0]
}

// apply carries out one durable entry on the published state, under the publish
// lock, and appends the partitions that changed to touched.
func (s *Store) apply(sl *slot, touched []*partition) []*partition {
	if err := s.pub.state.Apply(sl.entry); err != nil {
		panic(fmt.Sprintf("store: published state refuses entry %d: %v", sl.lsn, err))
	}
	s.pub.lsn = sl.lsn
	mem := s.pub.version.active()
	mem.last = sl.lsn
	mem.metaBytes += int64(len(sl.entry))

	switch in := sl.intent.(type) {
	case state.Produce:
		results := sl.result.(state.ProduceResult).Batches
		if mem.batches == 0 {
			mem.since = s.o.Now()
		}
		offset := sl.loc.Offset
		for i := range in.Batches {
			if r := &results[i]; r.Err != nil || r.Duplicate {
				continue
			}
			b := &in.Batches[i]
			p := s.pub.parts[b.TopicPartition]
			if p.mem != mem {
				p.mem, p.part = mem, mem.part(b.TopicPartition)
			}
			if b.Transactional {
				mem.addBatch(p.part, s.pub.open, sl.lsn, sl.loc.File, offset, &state.AppliedBatch{Batch: *b, BaseOffset: results[i].BaseOffset, AppendTime: sl.now})
			} else {
				mem.add(p.part, sl.lsn, sl.loc.File, offset, b, results[i].BaseOffset, sl.now, false)
			}
			offset += uint32(b.SizeBytes)
			touched = s.refreshBounds(p, touched)
		}
	case state.AdvanceLogStart:
		s.keeper.mergeDue.Store(true)
		for _, m := range in.Partitions {
			if p := s.pub.parts[m.TopicPartition]; p != nil {
				touched = s.refreshBounds(p, touched)
			}
		}
	case state.CreateTopic:
		touched = s.refreshTopic(in.ID, touched)
	case state.CreatePartitions:
		touched = s.refreshTopic(in.ID, touched)
	case state.SetTopicConfigs:
		touched = s.refreshTopic(in.ID, touched)
		if e := s.pub.topics.entry(in.ID); e != nil {
			for _, p := range e.partitions {
				touched = s.refreshBounds(p, touched) // compaction makes them sparse
			}
		}
	case state.DeleteTopic:
		s.keeper.mergeDue.Store(true)
		touched = s.refreshTopic(in.ID, touched)
		s.pub.open.forgetTopic(in.ID)
	}
	if len(sl.markers) > 0 {
		touched = s.applyMarkers(sl, mem, touched)
	}
	return touched
}

// applyMarkers indexes the markers of one entry: all partitions of a transaction at once.
func (s *Store) applyMarkers(sl *slot, mem *memtable, touched []*partition) []*partition {
	if mem.batches == 0 {
		mem.since = s.o.Now()
	}
	offset := sl.loc.Offset
	for i := range sl.markers {
		b := &sl.markers[i]
		p := s.pub.parts[b.TopicPartition]
		if p.mem != mem {
			p.mem, p.part = mem, mem.part(b.TopicPartition)
		}
		mem.addBatch(p.part, s.pub.open, sl.lsn, sl.loc.File, offset, b)
		offset += uint32(b.SizeBytes)
		touched = s.refreshBounds(p, touched)
	}
	return touched
}

func (s *Store) refreshBounds(p *partition, touched []*partition) []*partition {
	b, err := s.pub.state.Bounds(p.tp)
	if err != nil {
		panic(fmt.Sprintf("store: no bounds of %v: %v", p.tp, err))
	}
	s.pub.bounds.set(p.slot, b)
	if p.watchers.n.Load() > 0 {
		touched = append(touched, p)
	}
	return touched
}

// refreshTopic brings the topic set and the partition table in line with the
// published state for one topic.
func (s *Store) refreshTopic(id state.TopicID, touched []*partition) []*partition {
	old := s.pub.topics.entry(id)
	t, ok := s.pub.state.Topic(id)
	if !ok {
		if old == nil {
			return touched
		}
		for _, p := range old.partitions {
			delete(s.pub.parts, p.tp)
			s.pub.freeSlots = append(s.pub.freeSlots, p.slot)
			touched = append(touched, p)
		}
		s.pub.topics = s.pub.topics.without(id)
		s.topics.Store(s.pub.topics)
		return touched
	}
	e := &topicEntry{topic: t, partitions: make([]*partition, t.Partitions)}
	n := 0
	if old != nil {
		n = copy(e.partitions, old.partitions)
	}
	for i := n; i < len(e.partitions); i++ {
		p := &partition{tp: state.TopicPartition{Topic: id, Partition: int32(i)}, slot: s.pub.takeSlot()}
		e.partitions[i] = p
		s.pub.parts[p.tp] = p
		touched = s.refreshBounds(p, touched)
	}
	s.pub.topics = s.pub.topics.with(e)
	s.topics.Store(s.pub.topics)
	return touched
}

func (p *published) takeSlot() int {
	if n := len(p.freeSlots); n > 0 {
		slot := p.freeSlots[n-1]
		p.freeSlots = p.freeSlots[:n-1]
		return slot
	}
	p.slots++
	return p.slots - 1
}
