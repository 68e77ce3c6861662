package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"millrace/internal/recordbatch"
	"millrace/internal/topicconfig"
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// ErrNotCompacted: the topic's cleanup.policy does not contain compact.
var ErrNotCompacted = errors.New("store: the topic is not compacted")

// compactor is what compaction remembers between its passes. Guarded by keeper.compacts.
type compactor struct {
	topics  *TopicSet // that compacted was made of
	list    []compactedTopic
	horizon map[state.TopicPartition]state.Millis // of copies made since the start; that of others is their file's
	failed  map[state.TopicPartition]time.Time    // what could not be read, or had no room, and when it is tried again
	keys    *keyTable

	sealed    time.Time // when compaction last had the log sealed
	sealPause time.Duration
}

// compactedTopic is a topic with cleanup.policy compact.
type compactedTopic struct {
	topic state.Topic
	cfg   topicconfig.Config
}

const (
	// compactLookShare bounds what looking may take of the time: one part in so many.
	compactLookShare = 50
	// compactFileBytes is how large a file of copies may be before the next partition goes to another. Its partitions
	// are compacted for all only when it is finished.
	compactFileBytes = 1 << 30
	// compactRetry is how long a partition with unreadable batches is left alone.
	compactRetry = 10 * time.Minute
	// compactSealMin and compactSealShare bound how often a compacted topic's segment.ms and the like have the whole log
	// sealed: at most once in the former time, and for one part in so many of all time.
	compactSealMin   = 2 * time.Second
	compactSealShare = 20
	// compactYieldBytes is after how many bytes compaction looks whether producers are busy, and compactYieldMax
	// how long it then makes way for them: as long as the bytes took, at most.
	compactYieldBytes = 1 << 20
	compactYieldMax   = 50 * time.Millisecond
	// compactReserveShare and compactReserveMax are what compaction leaves free of the disk, for producers: one part in so
	// many, and no more than so many bytes.
	compactReserveShare = 20
	compactReserveMax   = 1 << 30
	// compactRoomRetry is how long a partition is left alone for which there was no room.
	compactRoomRetry = time.Minute
	// maxHorizon keeps delete horizons where every client can read them.
	maxHorizon = 1 << 53
)

// compaction compacts what is due now and then.
func (s *Store) compaction() {
	defer s.wg.Done()
	defer s.keeper.workers.Done()
	t := time.NewTicker(s.o.CompactEvery)
	defer t.Stop()
	var next time.Time
	for {
		select {
		case <-t.C:
		case <-s.stop:
			return
		}
		began := time.Now()
		if began.Before(next) {
			continue
		}
		worked, err := s.compactDue(s.keeper.ctx)
		switch {
		case err == nil && worked:
		case err == nil:
			next = began.Add(compactLookShare * time.Since(began))
		case s.keeper.ctx.Err() != nil:
			return
		default:
			s.metrics.compactFailures.Inc()
			s.o.Logger.Error("compaction failed and is tried again; no record is lost", "error", err, "next try in", maintenanceBackoffMax)
			next = began.Add(maintenanceBackoffMax)
		}
	}
}

// Compact seals the log and compacts all that a compacted topic allows, whatever min.cleanable.dirty.ratio says
// (CALL millrace.compact, tests). state.ErrUnknownTopic, ErrNotCompacted, a *ReadError, or commitlog.ErrNoSpace
// when the disk has too little room for the copy of a partition: the others had one pass then.
func (s *Store) Compact(ctx context.Context, id state.TopicID) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.keeper.ctx, cancel)()
	topic, ok := s.Topics().ByID(id)
	if !ok {
		return state.ErrUnknownTopic
	}
	cfg, err := topicconfig.Parse(topic.Configs)
	if err != nil {
		return err
	}
	if !cfg.CleanupCompact {
		return ErrNotCompacted
	}
	if err := s.Seal(ctx); err != nil {
		return err
	}
	s.keeper.compacts.Lock()
	defer s.keeper.compacts.Unlock()
	for {
		sn := s.Snapshot()
		var due []duePart
		for i := range topic.Partitions {
			tp := state.TopicPartition{Topic: id, Partition: i}
			if c, err := s.cleanable(sn, tp, &cfg); err != nil {
				sn.Release()
				return err
			} else if c.due || c.end > c.from {
				due = append(due, duePart{tp, cfg})
			}
		}
		sn.Release()
		if len(due) == 0 {
			return nil
		}
		if err := s.compactParts(ctx, due); err != nil {
			return err
		}
	}
}

// compactDue seals and compacts what is due by the topics' configs; worked is false when that was nothing.
func (s *Store) compactDue(ctx context.Context) (worked bool, err error) {
	s.keeper.compacts.Lock()
	defer s.keeper.compacts.Unlock()
	k := &s.keeper.compactor
	topics := k.compacted(s)
	if len(topics) == 0 {
		s.metrics.dirty.Store(0)
		return false, nil
	}
	now := time.Now()
	if now.Sub(k.sealed) >= k.sealPause && s.sealForCompaction(topics) {
		if err := s.Seal(ctx); err != nil {
			return false, err
		}
		k.sealed = time.Now()
		k.sealPause = max(compactSealMin, compactSealShare*k.sealed.Sub(now))
	}
	sn := s.Snapshot()
	var due []duePart
	var dirty int64
	for i := range topics {
		t := &topics[i]
		for p := range t.topic.Partitions {
			tp := state.TopicPartition{Topic: t.topic.ID, Partition: p}
			if at, failed := k.failed[tp]; failed && now.Before(at) {
				continue
			}
			c, err := s.cleanable(sn, tp, &t.cfg)
			if err != nil {
				k.fail(tp, err, s)
				continue
			}
			dirty += c.dirty
			if c.due {
				due = append(due, duePart{tp, t.cfg})
			}
		}
	}
	sn.Release()
	s.metrics.dirty.Store(dirty)
	if len(due) == 0 {
		return false, nil
	}
	if err := s.compactParts(ctx, due); !errors.Is(err, errNoRoom) {
		return true, err
	}
	return true, nil // logged, and counted
}

// compacted returns the compacted topics, in id order.
func (k *compactor) compacted(s *Store) []compactedTopic {
	set := s.Topics()
	if k.topics == set {
		return k.list
	}
	k.topics, k.list = set, nil
	live := make(map[state.TopicID]bool)
	for _, e := range set.byID {
		// An unreadable config is reported by retention.
		if cfg, err := topicconfig.Parse(e.topic.Configs); err == nil && cfg.CleanupCompact {
			k.list = append(k.list, compactedTopic{e.topic, cfg})
			live[e.topic.ID] = true
		}
	}
	for tp := range k.horizon {
		if !live[tp.Topic] {
			delete(k.horizon, tp)
		}
	}
	for tp := range k.failed {
		if !live[tp.Topic] {
			delete(k.failed, tp)
		}
	}
	return k.list
}

// leave lets a partition be for a while.
func (k *compactor) leave(tp state.TopicPartition, pause time.Duration) {
	if k.failed == nil {
		k.failed = map[state.TopicPartition]time.Time{}
	}
	k.failed[tp] = time.Now().Add(pause)
}

func (k *compactor) skip(tp state.TopicPartition, err error, s *Store) {
	k.leave(tp, compactRoomRetry)
	s.metrics.compactSkipped.Inc()
	s.o.Logger.Warn("a partition is not compacted for want of room on the disk; no record is lost", "error", err, "next try in", compactRoomRetry)
}

func (k *compactor) fail(tp state.TopicPartition, err error, s *Store) {
	k.leave(tp, compactRetry)
	s.metrics.compactFailures.Inc()
	s.o.Logger.Error("a partition is not compacted because it cannot be read", "error", err, "next try in", compactRetry)
}

// sealForCompaction says whether a compacted topic has records in the unsealed log that may not stay there any longer.
func (s *Store) sealForCompaction(topics []compactedTopic) bool {
	now := s.o.Now().UnixMilli()
	s.pub.RLock()
	defer s.pub.RUnlock()
	for i := range topics {
		cfg := &topics[i].cfg
		age := min(cfg.SegmentMs, cfg.MaxCompactionLagMs)
		for p := range topics[i].topic.Partitions {
			for _, m := range s.pub.version.mems {
				part := m.parts[state.TopicPartition{Topic: topics[i].topic.ID, Partition: p}]
				if part != nil && len(part.refs) > 0 && (now-part.refs[0].appendTime >= age || part.bytes >= cfg.SegmentBytes) {
					return true
				}
			}
		}
	}
	return false
}

// cleanableRange is what compaction may deal with in one partition.
type cleanableRange struct {
	from  int64 // what lies below was compacted, or is gone
	end   int64 // sealed, decided and older than min.compaction.lag.ms up to here
	dirty int64 // bytes in [from, end)
	due   bool
}

// cleanable looks at a partition's indexes and, as a rule, at no batch tables.
func (s *Store) cleanable(sn *Snapshot, tp state.TopicPartition, cfg *topicconfig.Config) (cleanableRange, error) {
	b, err := sn.Bounds(tp)
	if err != nil {
		return cleanableRange{}, nil // deleted meanwhile
	}
	v := sn.version
	f, copied, floor := v.compacted(tp)
	c := cleanableRange{from: max(b.LogStart, floor)}
	sealed := c.from
	for _, f := range v.segs[v.copies:] {
		p := f.Find(tp)
		if p == nil || p.EndOffset <= c.from {
			continue
		}
		sealed = p.EndOffset
		if p.FirstOffset >= c.from {
			c.dirty += p.DataBytes
			continue
		}
		blocks, err := f.Blocks(p)
		if err != nil {
			return c, s.segmentError(tp, f, p.FirstOffset, p.EndOffset-1, err)
		}
		for i := range blocks {
			if blocks[i].EndOffset > c.from {
				c.dirty += int64(blocks[i].DataBytes)
			}
		}
	}
	c.end = max(c.from, min(sealed, b.LastStable))
	now := s.o.Now().UnixMilli()
	if c.end > c.from && (c.end < sealed || cfg.MinCompactionLagMs > 0) {
		if err := c.walk(sn, tp, now-cfg.MinCompactionLagMs, cfg.MinCompactionLagMs > 0); err != nil {
			return c, err
		}
	}
	if f != nil && copied.EndOffset > b.LogStart {
		horizon, known := s.keeper.compactor.horizon[tp]
		if !known {
			horizon = f.DeleteHorizon
		}
		c.due = horizon != 0 && now >= horizon
	}
	if c.end == c.from {
		c.dirty = 0
		return c, nil
	}
	var clean int64
	if copied != nil && copied.EndOffset > b.LogStart {
		clean = copied.DataBytes
	}
	if float64(c.dirty) > cfg.MinCleanableDirtyRatio*float64(clean+c.dirty) {
		c.due = true
	}
	if !c.due && cfg.MaxCompactionLagMs < math.MaxInt64 {
		it, err := sn.iterate(tp, allOf(c.from, c.end), false)
		if err != nil {
			return c, err
		}
		c.due = it.Next() && now-it.Info().AppendTime >= cfg.MaxCompactionLagMs
		it.Close()
		return c, it.Err()
	}
	return c, nil
}

// walk ends c before the first batch that is younger than cutoff, if aged, and counts its bytes one by one.
func (c *cleanableRange) walk(sn *Snapshot, tp state.TopicPartition, cutoff state.Millis, aged bool) error {
	it, err := sn.iterate(tp, allOf(c.from, c.end), false)
	if err != nil {
		return err
	}
	defer it.Close()
	c.dirty = 0
	for it.Next() {
		i := it.Info()
		t := i.MaxTimestamp
		if t < 0 {
			t = i.AppendTime
		}
		if aged && t > cutoff {
			c.end = max(c.from, i.BaseOffset)
			break
		}
		c.dirty += int64(i.SizeBytes)
	}
	return it.Err()
}

type duePart struct {
	state.TopicPartition
	cfg topicconfig.Config
}

// compactParts compacts partitions, which are in order, into as few files as their size allows. Those for which there is
// no room are left out; the last one's errNoRoom is returned once the others are done. Under keeper.compacts.
func (s *Store) compactParts(ctx context.Context, parts []duePart) error {
	k := &s.keeper.compactor
	if k.keys == nil {
		k.keys = newKeyTable(s.o.CompactKeyBytes)
	}
	defer func() { k.keys = nil }() // the memory is only taken while it is used
	var noRoom error
	for len(parts) > 0 {
		c := &compaction{s: s, keys: k.keys, now: s.o.Now().UnixMilli(), began: time.Now(), horizons: map[state.TopicPartition]state.Millis{}}
		for len(parts) > 0 && c.bytesOut < compactFileBytes {
			err := c.part(ctx, &parts[0])
			if errors.Is(err, errNoRoom) {
				k.skip(parts[0].TopicPartition, err, s)
				noRoom, err = err, nil
			}
			if err != nil {
				err = errors.Join(err, c.abort())
				var re *ReadError
				if errors.As(err, &re) {
					// The file was given up with what others have in it: they are due still.
					k.fail(parts[0].TopicPartition, err, s)
				}
				return err
			}
			parts = parts[1:]
		}
		if err := c.install(); err != nil {
			return err
		}
	}
	return noRoom
}

// compaction is one pass over some partitions, into one file.
type compaction struct {
	s     *Store
	keys  *keyTable
	now   state.Millis
	began time.Time

	w        *newSegmentFile // nil until there is something to write
	horizons map[state.TopicPartition]state.Millis

	reader    recordbatch.Reader
	rewriter  recordbatch.Compactor
	quota     int // bytes until the next look at producers
	quotaFrom time.Time

	bytesIn, bytesOut     int64
	recordsIn, recordsOut int64
}

func (c *compaction) abort() error {
	if c.w == nil {
		return nil
	}
	return c.w.abort()
}

// install finishes the file and lets it take the place of what it was made of.
func (c *compaction) install() error {
	if c.w == nil {
		return nil
	}
	s := c.s
	for _, h := range c.horizons {
		c.w.w.DeleteHorizon = earlier(c.w.w.DeleteHorizon, h)
	}
	f, err := c.w.finish()
	if err != nil {
		return err
	}
	s.keeper.seals.Lock()
	if s.keeper.closed {
		s.keeper.seals.Unlock()
		return errors.Join(commitlog.ErrClosed, f.Close(), c.abort())
	}
	s.replaceCopies(nil, f)
	s.keeper.seals.Unlock()
	k := &s.keeper.compactor
	if k.horizon == nil {
		k.horizon = map[state.TopicPartition]state.Millis{}
	}
	for tp, h := range c.horizons {
		k.horizon[tp] = h
	}
	m := s.metrics
	m.compactions.Inc()
	m.compactedIn.Add(float64(c.bytesIn))
	m.compactedOut.Add(float64(c.bytesOut))
	m.compactedAway.Add(float64(c.recordsIn - c.recordsOut))
	s.o.Logger.Info("compacted", "segment", f.id, "partitions", len(c.horizons), "bytes in", c.bytesIn, "bytes out", c.bytesOut,
		"records in", c.recordsIn, "records out", c.recordsOut, "took", time.Since(c.began))
	s.keeper.mergeDue.Store(true)
	s.wakeMaintenance()
	return s.checkpoint()
}

// part compacts one partition: what is cleanable of it, or as much of that as has keys enough for the table,
// and all that was compacted before.
func (c *compaction) part(ctx context.Context, p *duePart) error {
	sn := c.s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(p.TopicPartition)
	if err != nil {
		return nil // deleted meanwhile
	}
	r, err := c.s.cleanable(sn, p.TopicPartition, &p.cfg)
	if err != nil {
		return err
	}
	c.s.pub.RLock()
	vis := &visibility{s: c.s, tp: p.TopicPartition, deciders: sn.version.deciders(p.TopicPartition, nil), lsn: sn.lsn, own: NoProducer}
	c.s.pub.RUnlock()
	if err := c.room(sn, p.TopicPartition, r.end); err != nil {
		return err
	}
	x := compactPart{compaction: c, sn: sn, tp: p.TopicPartition, start: b.LogStart, vis: vis, retention: p.cfg.DeleteRetentionMs}
	if x.end, err = x.newest(ctx, r.from, r.end); err != nil {
		return err
	}
	return x.rewrite(ctx)
}

// errNoRoom: compacting a partition takes room for all of it, until what it replaces is gone.
var errNoRoom = fmt.Errorf("store: too little room for compaction: %w", commitlog.ErrNoSpace)

// room says whether the disk can take a second copy of the partition, in the worst case, and leaves room for producers.
// It is asked before anything of the partition is written.
func (c *compaction) room(sn *Snapshot, tp state.TopicPartition, end int64) error {
	size, err := sn.sizeFrom(tp, 0, end)
	if err != nil {
		return err
	}
	total, free, err := c.s.o.FS.Free(c.s.o.Dir)
	if err != nil {
		return nil // a full disk shows when it is written to
	}
	if need := size + size/8 + min(total/compactReserveShare, compactReserveMax); free < need {
		return fmt.Errorf("%w: a copy of topic %q partition %d, and the reserve, need %d bytes, and %d are free", errNoRoom, c.s.topicName(tp), tp.Partition, need, free)
	}
	return nil
}

// create makes the file. Its number is taken under the lock that others take theirs under; writing it goes on without.
func (c *compaction) create() error {
	s := c.s
	w := s.newSegment(0, uint64(s.pubLSN()))
	w.header.Level = segment.Compacted
	s.keeper.seals.Lock()
	s.keeper.lastID++
	w.header.ID = s.keeper.lastID
	s.keeper.seals.Unlock()
	var err error
	if w.w, err = segment.Create(s.o.FS, s.segmentPath(w.header.ID), w.header); err != nil {
		return fmt.Errorf("store: compaction: %w", err)
	}
	c.w = w
	return nil
}
