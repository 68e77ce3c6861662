package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"millrace/store/segment"
	"millrace/store/state"
)

const (
	// mergeRun is how many neighbouring segments are merged into one. More means
	// fewer rewrites of each record, and more files.
	mergeRun = 8
	// mergeBytes bounds a merged segment. Larger ones take longer to rewrite
	// once they are half dead.
	mergeBytes = 4 << 30
	// manySegments is from where on neighbours are merged although one of them is much
	// larger than the rest, or all are as large as sealing makes them: merging those
	// gains nothing but fewer files, and costs what sealing them did once more.
	manySegments = 48
	// mergeTransactions bounds the transactions in a merged segment, so that their lists
	// stay small enough for the cache of indexes.
	mergeTransactions = 256 << 10
)

// mergeAll drops segments without living records, and merges or rewrites others
// until nothing is worth it, or something is to be sealed, which goes first.
// Under keeper.seals.
func (s *Store) mergeAll(ctx context.Context) error {
	for ctx.Err() == nil {
		s.pub.RLock()
		due := s.sealDue(s.pub.version.active())
		s.pub.RUnlock()
		if due {
			s.keeper.mergeDue.Store(true)
			s.wakeMaintenance()
			return nil
		}
		v := s.acquire()
		keep := s.aliveNow()
		merged, err := s.mergeCopies(ctx, v, keep)
		if merged || err != nil {
			v.unref()
			if err != nil {
				return err
			}
			continue
		}
		keep.version = v
		run := s.pickMerge(v.segs[v.copies:], keep)
		if len(run) > 0 {
			err = s.merge(ctx, run, keep)
		}
		v.unref()
		if len(run) == 0 || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pickMerge returns the neighbouring segments to rewrite into one next; none if
// nothing is worth it.
func (s *Store) pickMerge(segs []*segmentFile, keep alive) []*segmentFile {
	for i, f := range segs {
		if f.damaged.Load() {
			continue
		}
		if dead, data := keep.dead(f); dead == data || 2*dead > data {
			return segs[i : i+1]
		}
	}
	var best []*segmentFile
	bestBytes := int64(mergeBytes)
	for i := 0; i+mergeRun <= len(segs); i++ {
		run := segs[i : i+mergeRun]
		var total, largest, transactions int64
		damaged := false
		for _, f := range run {
			total += f.size
			largest = max(largest, f.size)
			transactions += f.TransactionCount()
			damaged = damaged || f.damaged.Load()
		}
		worth := 2*largest <= total && 2*total < mergeRun*s.o.SealBytes
		if !damaged && total < bestBytes && transactions <= mergeTransactions && (worth || len(segs) > manySegments) {
			best, bestBytes = run, total
		}
	}
	if best != nil {
		if _, free, err := s.o.FS.Free(s.o.Dir); err != nil || free < bestBytes+bestBytes/8 {
			return nil
		}
	}
	return best
}

// dead returns how many of a segment's data bytes, in whole blocks, nobody wants any more, of how many.
func (a alive) dead(f *segmentFile) (dead, data int64) {
	parts := f.Partitions()
	for i := range parts {
		p := &parts[i]
		data += p.DataBytes
		start, ok := a.start(p.TopicPartition)
		switch {
		case !ok || start >= p.EndOffset:
			dead += p.DataBytes
		case start > p.FirstOffset:
			// Whole blocks only: rewriting gets rid of those for sure, so a segment
			// is not rewritten again and again for a batch that stays.
			blocks, err := f.Blocks(p)
			if err != nil {
				continue // reported by who reads the records
			}
			for j := range blocks {
				if blocks[j].EndOffset <= start {
					dead += int64(blocks[j].DataBytes)
				}
			}
		}
	}
	return dead, data
}

// merge rewrites run, neighbours in the present version, into one segment with
// what keep wants, puts it in their place and saves a checkpoint.
func (s *Store) merge(ctx context.Context, run []*segmentFile, keep alive) error {
	began := time.Now()
	f, err := s.writeMerged(ctx, run, keep)
	if err != nil {
		s.metrics.sealFailures.Inc()
		var re *ReadError
		if errors.As(err, &re) {
			s.o.Logger.Error("segments stay unmerged because one cannot be read", "error", err)
			return nil // it is marked, so it is not tried again
		}
		return err
	}
	s.pub.Lock()
	v := s.pub.version
	i := slices.Index(v.segs, run[0])
	var in []*segmentFile
	if f != nil {
		in = append(in, f)
	}
	segs := slices.Replace(slices.Clone(v.segs), i, i+len(run), in...)
	s.pub.version = s.versions.add(segs, v.mems)
	s.pub.Unlock()
	v.unref()
	s.metrics.merges.Inc()
	s.o.Logger.Info("merged segments", "from", len(run), "into", len(in), "took", time.Since(began))
	return s.checkpoint()
}

func (s *Store) writeMerged(ctx context.Context, run []*segmentFile, keep alive) (*segmentFile, error) {
	var tps []state.TopicPartition
	for _, f := range run {
		parts := f.Partitions()
		for i := range parts {
			tps = append(tps, parts[i].TopicPartition)
		}
	}
	slices.SortFunc(tps, state.TopicPartition.Compare)
	tps = slices.Compact(tps)

	w := s.newSegment(run[0].FirstLSN, run[len(run)-1].LastLSN)
	c := copier{s: s, w: w}
	for _, tp := range tps {
		start, ok := keep.start(tp)
		if !ok {
			continue
		}
		for _, f := range run {
			p := f.Find(tp)
			if p == nil || p.EndOffset <= start {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, errors.Join(err, w.abort())
			}
			if err := c.copy(f, p, start); err != nil {
				return nil, errors.Join(err, w.abort())
			}
			if p.Transactions > 0 {
				all, err := f.Transactions(p)
				if err != nil {
					f.damaged.Store(true)
					err = s.segmentError(tp, f, p.FirstOffset, p.EndOffset-1, err)
				} else {
					err = w.addTransactions(all.All(), start)
				}
				if err != nil {
					return nil, errors.Join(err, w.abort())
				}
			}
		}
	}
	return w.finish()
}

// copier copies one partition's batches from a segment to a new one.
type copier struct {
	s       *Store
	w       *newSegmentFile
	batches []segment.Batch
	table   []byte
	data    []byte
}

// copy copies what ends after start. The batches' bytes are not checked: damage stays
// where it is, is found when it is read, and concerns only its offsets.
func (c *copier) copy(f *segmentFile, p *segment.Partition, start int64) error {
	blocks, err := f.Blocks(p)
	if err != nil {
		f.damaged.Store(true)
		return c.s.segmentError(p.TopicPartition, f, p.FirstOffset, p.EndOffset-1, err)
	}
	for i := range blocks {
		b := &blocks[i]
		if b.EndOffset <= start {
			continue
		}
		c.batches, c.table, err = f.Batches(b, c.batches[:0], c.table)
		if err == nil {
			if cap(c.data) < int(b.DataBytes) {
				c.data = make([]byte, max(int(b.DataBytes), segment.BlockBytes))
			}
			err = f.ReadAt(c.data[:b.DataBytes], b.At)
		}
		if err != nil {
			f.damaged.Store(true)
			return c.s.segmentError(p.TopicPartition, f, b.FirstOffset, b.EndOffset-1, err)
		}
		for j := range c.batches {
			m := &c.batches[j]
			if m.LastOffset < start {
				continue
			}
			if err := c.w.add(p.TopicPartition, *m, c.data[m.At-b.At:][:m.SizeBytes]); err != nil {
				return err
			}
		}
	}
	return nil
}
