package store

import (
	"context"
	"fmt"
	"time"

	"millrace/internal/topicconfig"
	"millrace/store/state"
)

// retentionMoves is how many log starts one entry moves.
const retentionMoves = 1000

// EnforceRetention runs one retention pass now: for topics whose cleanup.policy
// contains delete, log starts rise over whole batches that are older than
// retention.ms by their highest timestamp (by append time if they have none) and over
// the oldest whole batches as long as retention.bytes stay. Unlike Kafka, which
// deletes segment by segment, no segment size plays a part: what is due goes with the next pass.
func (s *Store) EnforceRetention(ctx context.Context) error {
	s.keeper.passes.Lock()
	defer s.keeper.passes.Unlock()
	now := s.o.Now()
	byTime := s.clock.believes(now, time.Now())
	if !byTime {
		s.o.Logger.Warn("the clock jumped ahead; retention by time waits", "for", clockSettle)
	}
	sn := s.Snapshot()
	moves, deleted, err := s.retentionMoves(ctx, sn, now.UnixMilli(), byTime)
	sn.Release()
	if err != nil {
		return err
	}
	done := 0
	for len(moves) > 0 {
		n := min(len(moves), retentionMoves)
		if _, err := s.Commit(ctx, state.AdvanceLogStart{Partitions: moves[:n]}); err != nil {
			return fmt.Errorf("store: retention: %w", err)
		}
		moves = moves[n:]
		done += n
		for len(deleted) > 0 && deleted[0].upTo <= done {
			deleted[0].log(s)
			deleted = deleted[1:]
		}
	}
	return nil
}

// retained is what a pass deletes of one topic: one line of the log, however many partitions it has.
type retained struct {
	topic      string
	first      state.LogStartMove // of its partitions
	partitions int
	offsets    int64
	byTime     bool
	bySize     bool
	upTo       int // the topic's moves are among the first upTo of the pass
}

func (r *retained) log(s *Store) {
	reason := "retention.ms"
	switch {
	case r.byTime && r.bySize:
		reason = "retention.ms and retention.bytes"
	case r.bySize:
		reason = "retention.bytes"
	}
	s.o.Logger.Info("retention deleted records", "topic", r.topic, "partition", r.first.Partition, "log start", r.first.Before,
		"partitions", r.partitions, "offsets", r.offsets, "reason", reason)
}

func (s *Store) retentionMoves(ctx context.Context, sn *Snapshot, now state.Millis, byTime bool) ([]state.LogStartMove, []retained, error) {
	var moves []state.LogStartMove
	var deleted []retained
	for _, t := range sn.Topics().All() {
		cfg, err := topicconfig.Parse(t.Configs)
		if err != nil {
			s.o.Logger.Warn("topic with an unreadable config is not trimmed", "topic", t.Name, "error", err)
			continue
		}
		if !cfg.CleanupDelete || cfg.RetentionMs < 0 && cfg.RetentionBytes < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r := retained{topic: t.Name}
		for i := range t.Partitions {
			tp := state.TopicPartition{Topic: t.ID, Partition: i}
			b, _ := sn.Bounds(tp)
			if b.LogStart == b.End {
				continue
			}
			start := b.LogStart
			if cfg.RetentionMs >= 0 && byTime {
				start, err = sn.firstNotBefore(tp, b, now-cfg.RetentionMs)
			}
			timely := start
			if err == nil && cfg.RetentionBytes >= 0 {
				start, err = sn.firstOfNewest(tp, b, start, cfg.RetentionBytes)
			}
			if err != nil {
				continue // reported; the other partitions go on
			}
			if start = min(start, b.LastStable); start > b.LogStart {
				move := state.LogStartMove{TopicPartition: tp, Before: start}
				moves = append(moves, move)
				if r.partitions++; r.partitions == 1 {
					r.first = move
				}
				r.offsets += start - b.LogStart
				r.byTime = r.byTime || timely > b.LogStart
				r.bySize = r.bySize || start > timely
			}
		}
		if r.partitions > 0 {
			r.upTo = len(moves)
			deleted = append(deleted, r)
		}
	}
	return moves, deleted, nil
}

// firstNotBefore is the base offset of the first batch that is not wholly older
// than cutoff; the end if all are.
func (sn *Snapshot) firstNotBefore(tp state.TopicPartition, b state.Bounds, cutoff state.Millis) (int64, error) {
	r := allOf(b.LogStart, b.End)
	r.MinTimestamp = cutoff // passes over older batches without looking at each, where that is known
	it, err := sn.iterate(tp, r, false)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	for it.Next() {
		if i := it.Info(); i.MaxTimestamp >= cutoff || i.MaxTimestamp < 0 && i.AppendTime >= cutoff {
			return max(i.BaseOffset, b.LogStart), nil
		}
	}
	return b.End, it.Err()
}

// firstOfNewest is the base offset of the first batch from start on that
// cannot go without leaving less than limit bytes.
func (sn *Snapshot) firstOfNewest(tp state.TopicPartition, b state.Bounds, start, limit int64) (int64, error) {
	surplus, err := sn.sizeFrom(tp, start, b.End)
	if err != nil {
		return 0, err
	}
	if surplus -= limit; surplus <= 0 {
		return start, nil
	}
	it, err := sn.iterate(tp, allOf(start, b.End), false)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	for it.Next() {
		i := it.Info()
		if surplus -= int64(i.SizeBytes); surplus < 0 {
			return max(i.BaseOffset, start), nil
		}
	}
	return b.End, it.Err()
}
