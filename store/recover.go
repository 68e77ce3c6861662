package store

import (
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// recover loads the checkpoint, opens its segments and replays the log: batches
// that are not sealed go into the first memtable, entries after the checkpoint
// into the state. Sealed data is not read.
func (s *Store) recover(ctx context.Context) error {
	began := time.Now()
	var c checkpointData
	st := state.NewWithLimits(s.limits())
	found, err := s.log.LoadSnapshot(func(r io.Reader) error { return c.read(r) })
	if err != nil {
		return fmt.Errorf("store: checkpoint: %w", err)
	}
	if found {
		if st, err = s.decodeState(c.state); err != nil {
			return fmt.Errorf("store: checkpoint: %w", err)
		}
		c.state = nil
	}
	if last := s.log.Last(); last < max(c.lsn, c.sealed) {
		return fmt.Errorf("%w: the log ends at entry %d, before the checkpoint at %d", ErrCorrupt, last, max(c.lsn, c.sealed))
	}
	// Before anything is taken for a leftover: without its checkpoint a truncated log
	// knows of no segment, and all of them would go.
	if first := s.log.First(); min(c.lsn, c.sealed)+1 < first {
		return fmt.Errorf("%w: the log begins at entry %d, and no checkpoint says what came before", ErrCorrupt, first)
	}
	// Before segments that no checkpoint names are removed: if this one is not the
	// last that was saved, they may be the only place of what the log gave up.
	if err := c.joins(s.log.First()); err != nil {
		return err
	}
	segs, err := s.openSegments(c.segments)
	if err != nil {
		return err
	}
	s.keeper.listed = segs
	s.keeper.saved = min(c.lsn, c.sealed)

	mem := newMemtable(c.sealed+1, c.open)
	s.pub.open = openTransactions{}
	maps.Copy(s.pub.open, c.open)
	s.pub.state = st
	s.pub.lsn = c.lsn
	s.pub.parts = map[state.TopicPartition]*partition{}
	s.pub.version = s.versions.add(segs, []*memtable{mem})
	// When it was last in use: at the last append, or when that was sealed.
	var lastUse state.Millis
	if n := len(segs); n > 0 && segs[n-1].lost == nil {
		lastUse = segs[n-1].Created
	}
	if err := s.replay(ctx, mem, c.lsn, &lastUse); err != nil {
		return err
	}
	used := time.Time{}
	if lastUse > 0 {
		used = time.UnixMilli(lastUse)
	}
	s.clock.started(used, s.o.Now(), time.Now())
	s.rebuildTopics()
	s.seq.decided = s.pub.state.Clone()
	s.seq.last = s.pub.lsn
	s.updateBacklog()
	s.o.Logger.Info("store opened", "lsn", s.pub.lsn, "checkpoint", c.lsn, "sealed", c.sealed,
		"segments", len(segs), "topics", len(s.pub.topics.byName), "took", time.Since(began))
	return nil
}

// replayCheckEvery is how many entries pass between looks at ctx.
const replayCheckEvery = 4096

// replay also tells the time of the last append among what it reads, if there is one.
func (s *Store) replay(ctx context.Context, mem *memtable, lsn commitlog.LSN, lastAppend *state.Millis) error {
	var batches []state.AppliedBatch
	from := min(s.pub.lsn+1, mem.first)
	if last := s.log.Last(); from > last {
		mem.last = max(mem.last, last)
		return nil
	}
	each := func(r commitlog.Replayed) error {
		if r.LSN%replayCheckEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var err error
		if r.LSN >= mem.first {
			mem.last = r.LSN
			mem.metaBytes += int64(len(r.Meta))
			batches, err = state.Batches(r.Meta, batches[:0])
			if err != nil {
				return fmt.Errorf("store: log entry %d: %w", r.LSN, err)
			}
			if len(batches) > 0 && mem.batches == 0 {
				mem.since = s.o.Now()
			}
			offset := r.Location.Offset
			for i := range batches {
				b := &batches[i]
				mem.addBatch(mem.part(b.TopicPartition), s.pub.open, r.LSN, r.Location.File, offset, b)
				offset += uint32(b.SizeBytes)
				*lastAppend = b.AppendTime
			}
		}
		if r.LSN > lsn {
			if err := s.pub.state.Apply(r.Meta); err != nil {
				return fmt.Errorf("store: log entry %d: %w", r.LSN, err)
			}
			s.pub.lsn = r.LSN
		}
		return nil
	}
	if m, ok := s.log.(commitlog.MetaReader); ok {
		return m.ReadMeta(from, each)
	}
	return s.log.Read(from, each)
}

// rebuildTopics makes the topic set, the partition table and the bounds from the
// published state.
func (s *Store) rebuildTopics() {
	set := &TopicSet{}
	for _, t := range s.pub.state.Topics() {
		e := &topicEntry{topic: t, partitions: make([]*partition, t.Partitions)}
		for i := range e.partitions {
			p := &partition{tp: state.TopicPartition{Topic: t.ID, Partition: int32(i)}, slot: s.pub.takeSlot()}
			e.partitions[i] = p
			s.pub.parts[p.tp] = p
			s.refreshBounds(p, nil)
		}
		set.byName = append(set.byName, e)
	}
	for key := range s.pub.open {
		if s.pub.parts[key.TopicPartition] == nil {
			delete(s.pub.open, key) // its topic was deleted
		}
	}
	set.byID = sortedByID(set.byName)
	s.pub.topics = set
	s.topics.Store(set)
}
