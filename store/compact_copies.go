package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"millrace/store/segment"
	"millrace/store/state"
)

// manyCopies is from how many files with compacted copies on some are merged, although one of them is much larger
// than the rest. Every one costs each cursor of a compacted topic a look into its directory.
const manyCopies = 32

// mergeCopies drops files of compacted copies in which nothing is wanted any more, rewrites those that are more than
// half dead, and merges small ones; merged says that it did one of these. keep must not count copies. Under keeper.seals.
func (s *Store) mergeCopies(ctx context.Context, v *version, keep alive) (merged bool, err error) {
	run := pickCopies(v, keep)
	if len(run) == 0 {
		return false, nil
	}
	var size int64
	for _, f := range run {
		size += f.size
	}
	if _, free, err := s.o.FS.Free(s.o.Dir); len(run) > 1 && (err != nil || free < size+size/8) {
		return false, nil // as with other merges; rewriting one that is mostly dead makes room
	}
	began := time.Now()
	f, err := s.writeCopies(ctx, v, run, keep)
	if err != nil {
		s.metrics.sealFailures.Inc()
		var re *ReadError
		if errors.As(err, &re) {
			s.o.Logger.Error("compacted segments stay unmerged because one cannot be read", "error", err)
			return false, nil // it is marked, so it is not tried again
		}
		return false, err
	}
	s.replaceCopies(run, f)
	s.metrics.merges.Inc()
	s.o.Logger.Info("merged compacted segments", "from", len(run), "empty", f == nil, "took", time.Since(began))
	return true, s.checkpoint()
}

// replaceCopies makes a version with f, unless nil, behind the other files of compacted copies and without old. Under keeper.seals.
func (s *Store) replaceCopies(old []*segmentFile, f *segmentFile) {
	s.pub.Lock()
	v := s.pub.version
	segs := make([]*segmentFile, 0, len(v.segs)+1)
	for i, x := range v.segs {
		if i == v.copies && f != nil {
			segs = append(segs, f)
		}
		if !slices.Contains(old, x) {
			segs = append(segs, x)
		}
	}
	if v.copies == len(v.segs) && f != nil {
		segs = append(segs, f)
	}
	s.pub.version = s.versions.add(segs, v.mems)
	s.pub.Unlock()
	v.unref()
}

func pickCopies(v *version, keep alive) []*segmentFile {
	var sound []*segmentFile
	for _, f := range v.segs[:v.copies] {
		if f.damaged.Load() {
			continue
		}
		if dead, data := deadCopies(v, f, keep); dead == data || 2*dead > data {
			return []*segmentFile{f}
		}
		sound = append(sound, f)
	}
	if len(sound) < mergeRun {
		return nil
	}
	slices.SortStableFunc(sound, func(a, b *segmentFile) int { return cmp.Compare(a.size, b.size) })
	run := sound[:mergeRun]
	var total, largest int64
	for _, f := range run {
		total += f.size
		largest = max(largest, f.size)
	}
	if total < mergeBytes && (2*largest <= total || len(sound) > manyCopies) {
		return run
	}
	return nil
}

// deadCopies returns how many of f's data bytes nobody wants any more, of how many.
func deadCopies(v *version, f *segmentFile, keep alive) (dead, data int64) {
	parts := f.Partitions()
	for i := range parts {
		p := &parts[i]
		data += p.DataBytes
		start, ok := keep.start(p.TopicPartition)
		live, _, _ := v.compacted(p.TopicPartition)
		switch {
		case !ok || live != f || start >= p.EndOffset:
			dead += p.DataBytes
		case start > p.FirstOffset:
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

// writeCopies writes what is wanted of run into one file; nil when that is nothing.
func (s *Store) writeCopies(ctx context.Context, v *version, run []*segmentFile, keep alive) (*segmentFile, error) {
	type part struct {
		f *segmentFile
		p *segment.Partition
	}
	var all []part
	var horizon state.Millis
	first, last := run[0].FirstLSN, run[0].LastLSN
	for _, f := range run {
		first, last = min(first, f.FirstLSN), max(last, f.LastLSN)
		horizon = earlier(horizon, f.DeleteHorizon)
		parts := f.Partitions()
		for i := range parts {
			if live, _, _ := v.compacted(parts[i].TopicPartition); live == f {
				all = append(all, part{f, &parts[i]})
			}
		}
	}
	slices.SortFunc(all, func(a, b part) int { return a.p.TopicPartition.Compare(b.p.TopicPartition) })
	w := s.newSegment(first, last)
	w.header.Level = segment.Compacted
	c := copier{s: s, w: w}
	for _, x := range all {
		start, ok := keep.start(x.p.TopicPartition)
		if !ok || x.p.EndOffset <= start {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = c.copy(x.f, x.p, start)
		}
		if err == nil && x.p.Transactions > 0 {
			var t *segment.Transactions
			if t, err = x.f.Transactions(x.p); err != nil {
				x.f.damaged.Store(true)
				err = s.segmentError(x.p.TopicPartition, x.f, x.p.FirstOffset, x.p.EndOffset-1, err)
			} else {
				err = w.addTransactions(t.All(), start)
			}
		}
		if err != nil {
			return nil, errors.Join(err, w.abort())
		}
	}
	if w.w != nil {
		w.w.DeleteHorizon = horizon
	}
	return w.finish()
}

// earlier is the earlier of two delete horizons; 0 is none.
func earlier(a, b state.Millis) state.Millis {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
