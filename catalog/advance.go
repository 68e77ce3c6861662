package catalog

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"millrace/blobexpand"
	"millrace/internal/recordbatch"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// noLimit lets advance go all the way.
const noLimit = math.MaxInt64

// source is one partition with unread batches; the heap has the lowest LSN first, that of
// the commit for a batch of a transaction. Batches that became visible with one entry
// come in the order of partitions and offsets.
type source struct {
	it        *store.BatchIter
	lsn       commitlog.LSN
	partition int32
	// visits, unless nil, are the batches in the order in which they became visible,
	// where that is not the order of offsets; it stands on the first one.
	visits []visit
}

type visit struct {
	lsn  commitlog.LSN
	base int64
}

type sources []source

func (h sources) Len() int { return len(h) }
func (h sources) Less(i, j int) bool {
	if c := cmp.Compare(h[i].lsn, h[j].lsn); c != 0 {
		return c < 0
	}
	return h[i].partition < h[j].partition
}
func (h sources) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *sources) Push(x any)   { *h = append(*h, x.(source)) }
func (h *sources) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// advance brings s, which the caller has entered and prepared, up to sn, reading
// all partitions' batches merged in log order so that names do not depend on who
// asked when. After limit bytes it stops early, between two entries (done is then
// false). pause, unless nil, is called before each batch; who pauses also stops as
// soon as somebody waits to enter.
//
// A batch that cannot be read is left out with a warning: its rows cannot be read
// either, and the rest of the table must not suffer.
func (c *Catalog) advance(ctx context.Context, s *schema, sn *store.Snapshot, t state.Topic, limit int64, pause func(context.Context) error) (done bool, err error) {
	upTo := commitlog.LSN(s.upTo.Load())
	if sn.LSN() <= upTo {
		return true, nil
	}
	for int32(len(s.ends)) < t.Partitions {
		s.ends = append(s.ends, -1)
	}
	var h sources
	defer func() {
		for i := range h {
			h[i].close()
		}
	}()
	ends := make([]int64, t.Partitions)
	for p := range t.Partitions {
		tp := state.TopicPartition{Topic: t.ID, Partition: p}
		b, err := sn.Bounds(tp)
		if err != nil {
			return false, err
		}
		ends[p] = max(b.End, s.ends[p])
		if b.End <= max(s.ends[p], b.LogStart) {
			continue // an end of a transaction would have moved the end as well
		}
		src, err := c.unread(sn, t, p, b, max(s.ends[p], 0), upTo)
		if err != nil {
			return false, err
		}
		if src != nil {
			h = append(h, *src)
		}
	}
	heap.Init(&h)

	r := c.readers.Get().(*recordbatch.Reader)
	defer c.readers.Put(r)
	var read int64
	var last commitlog.LSN // of the last batch taken in
	changed := false
	publish := func(lsn commitlog.LSN) {
		if changed || s.table.Load() == nil {
			s.table.Store(s.build(t, s.conf, s.declared))
		}
		s.upTo.Store(uint64(lsn))
	}
	if s.confOf != t.ConfigVersion {
		// An older snapshot than others already saw: leave the cached table to them.
		publish = func(lsn commitlog.LSN) {
			if changed {
				s.table.Store(nil)
			}
			s.upTo.Store(uint64(lsn))
		}
	}
	for len(h) > 0 {
		src := &h[0]
		err := ctx.Err()
		leave := src.lsn != last && (read >= limit || pause != nil && s.waiting.Load() > 0)
		if err == nil && !leave && pause != nil {
			err = pause(ctx)
		}
		if err != nil || leave {
			publish(src.lsn - 1) // everything before this entry is in
			return false, err
		}
		last = src.lsn
		n, ch := c.observe(s, r, src.it, t, src.partition)
		read += n
		s.freshness += n
		changed = changed || ch
		if src.visits != nil {
			ok, err := c.nextVisit(sn, t, src, upTo)
			switch {
			case err != nil:
				return false, err
			case ok:
				heap.Fix(&h, 0)
			default:
				src.close()
				heap.Pop(&h)
			}
			continue
		}
		if src.it.Next() {
			src.lsn = src.it.Info().VisibleLSN
			heap.Fix(&h, 0)
			continue
		}
		if err := src.it.Err(); err != nil {
			from, err := c.unreadable(t, src.partition, src.it.Info().LastOffset+1, err)
			if err != nil {
				return false, err
			}
			it, err := c.batchesFrom(sn, t, src.partition, from, upTo)
			if err != nil {
				return false, err
			}
			if it != nil {
				src.it.Close()
				src.it, src.lsn = it, it.Info().VisibleLSN
				heap.Fix(&h, 0)
				continue
			}
		}
		src.close()
		heap.Pop(&h)
	}
	publish(sn.LSN())
	s.ends = ends
	if read > 0 {
		c.touch(s)
	}
	return true, nil
}

func (s *source) close() {
	if s.it != nil {
		s.it.Close()
		s.it = nil
	}
}

// unread returns the source of what became visible in a partition after entry upTo, when
// everything visible below offset end was read; nil when there is nothing. Below end that
// is what transactions wrote that were open then.
func (c *Catalog) unread(sn *store.Snapshot, t state.Topic, p int32, b state.Bounds, end int64, upTo commitlog.LSN) (*source, error) {
	from := end
	if !b.Dense && end > 0 {
		first, any, err := sn.CommittedSince(state.TopicPartition{Topic: t.ID, Partition: p}, upTo)
		if err != nil {
			if _, err := c.unreadable(t, p, 0, err); err != nil {
				return nil, err
			}
		}
		if any {
			from = min(from, first)
		}
	}
	it, err := c.batchesFrom(sn, t, p, from, upTo)
	if err != nil || it == nil {
		return nil, err
	}
	src := &source{it: it, lsn: it.Info().VisibleLSN, partition: p}
	if b.Dense {
		return src, nil
	}
	// The index alone tells in which order they became visible.
	visits, ordered, err := c.visits(sn, t, p, from, upTo)
	if err != nil {
		src.close()
		return nil, err
	}
	if ordered || len(visits) == 0 {
		return src, nil
	}
	src.visits = append([]visit{{}}, visits...) // nextVisit leaves the first behind
	ok, err := c.nextVisit(sn, t, src, upTo)
	if err != nil || !ok {
		src.close()
		return nil, err
	}
	return src, nil
}

// visits lists the batches of a partition from an offset on in the order in which they
// became visible; ordered says that it is that of offsets.
func (c *Catalog) visits(sn *store.Snapshot, t state.Topic, p int32, from int64, after commitlog.LSN) (list []visit, ordered bool, err error) {
	ordered = true
	for {
		it, err := c.batchesFrom(sn, t, p, from, after)
		if err != nil {
			return nil, false, err
		}
		if it == nil {
			break
		}
		for more := true; more; more = it.Next() {
			i := it.Info()
			if n := len(list); n > 0 && list[n-1].lsn > i.VisibleLSN {
				ordered = false
			}
			list = append(list, visit{i.VisibleLSN, i.BaseOffset})
			from = i.LastOffset + 1
		}
		err = it.Err()
		it.Close()
		if err == nil {
			break
		}
		if from, err = c.unreadable(t, p, from, err); err != nil {
			return nil, false, err
		}
	}
	if !ordered {
		slices.SortStableFunc(list, func(a, b visit) int { return cmp.Compare(a.lsn, b.lsn) })
	}
	return list, ordered, nil
}

// nextVisit goes to the next of src's visits; false after the last one. What can no longer
// be found is passed over.
func (c *Catalog) nextVisit(sn *store.Snapshot, t state.Topic, src *source, after commitlog.LSN) (bool, error) {
	for src.visits = src.visits[1:]; len(src.visits) > 0; src.visits = src.visits[1:] {
		v := src.visits[0]
		if src.it != nil && src.it.Info().BaseOffset < v.base && src.it.Next() && src.it.Info().BaseOffset == v.base {
			src.lsn = v.lsn
			return true, nil
		}
		src.close()
		it, err := c.batchesFrom(sn, t, src.partition, v.base, after)
		if err != nil {
			return false, err
		}
		if src.it = it; it != nil && it.Info().BaseOffset == v.base {
			src.lsn = v.lsn
			return true, nil
		}
	}
	return false, nil
}

// batchesFrom returns an iterator that stands on the first batch of a partition
// from an offset on that can be found, nil if there is none.
func (c *Catalog) batchesFrom(sn *store.Snapshot, t state.Topic, p int32, from int64, after commitlog.LSN) (*store.BatchIter, error) {
	for {
		it, err := sn.Batches(state.TopicPartition{Topic: t.ID, Partition: p}, store.BatchRange{
			FromOffset: from, ToOffset: math.MaxInt64,
			MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
			AfterLSN: after,
		})
		if err != nil {
			return nil, err
		}
		if it.Next() {
			return it, nil
		}
		err = it.Err()
		it.Close()
		if err == nil {
			return nil, nil
		}
		if from, err = c.unreadable(t, p, from, err); err != nil {
			return nil, err
		}
	}
}

// unreadable is told why a partition's iterator ended at an offset. It returns
// where to go on behind damage, which is what damage to the index of batches
// takes, and any other error.
func (c *Catalog) unreadable(t state.Topic, p int32, from int64, err error) (next int64, _ error) {
	re := (*store.ReadError)(nil)
	if !errors.As(err, &re) || !errors.Is(err, store.ErrCorrupt) || re.LastOffset < from {
		return 0, fmt.Errorf("reading topic %s partition %d: %w", t.Name, p, err)
	}
	c.m.skippedBatches.Inc()
	c.log.Warn("records left out of column inference", "topic", t.Name, "partition", p, "from", from, "to", re.LastOffset, "error", err)
	return re.LastOffset + 1, nil
}

// Opaque says that inference has nothing to learn from an uncompressed batch: no value is a
// JSON object, no key longer than inferred text. Whoever walked its records anyway (ingest)
// saves observe the second walk.
func Opaque(s *recordbatch.Summary) bool {
	return !s.Objects && s.LongestKey <= blobexpand.InferredTextLength
}

// observe takes in one batch. One that cannot be read is left out with a warning.
func (c *Catalog) observe(s *schema, r *recordbatch.Reader, it *store.BatchIter, t state.Topic, p int32) (bytes int64, changed bool) {
	bytes, changed, err := s.learn(r, it, func(offset int64) { c.logChanges(s, t, p, offset) })
	if err != nil {
		c.m.skippedBatches.Inc()
		c.log.Warn("batch left out of column inference", "topic", t.Name, "partition", p, "offset", it.Info().BaseOffset, "error", err)
	}
	s.unsaved = s.unsaved || changed
	c.m.inferredBytes.Add(float64(bytes))
	return max(bytes, int64(it.Info().SizeBytes)), changed
}

// learn takes in one batch, up to where it cannot be read, and says how many bytes of values it looked at. widened is
// called with the offset of each record whose value changed columns.
func (s *schema) learn(r *recordbatch.Reader, it *store.BatchIter, widened func(offset int64)) (bytes int64, changed bool, err error) {
	if it.Info().Opaque {
		return 0, false, nil
	}
	raw, err := it.Bytes()
	if err != nil {
		return 0, false, err
	}
	b, _, err := recordbatch.Parse(raw)
	if err != nil || b.Control() {
		return 0, false, err
	}
	if s.inf == nil && s.longKey {
		return 0, false, nil // nothing left to learn
	}
	if err := r.Reset(&b); err != nil {
		return 0, false, err
	}
	var rec recordbatch.Record
	for r.Next(&rec) {
		bytes += int64(len(rec.Value))
		if !s.longKey && len(rec.Key) > blobexpand.InferredTextLength && utf8.RuneCount(rec.Key) > blobexpand.InferredTextLength {
			s.longKey, changed = true, true
		}
		if s.inf != nil && len(rec.Value) > 0 && s.inf.Observe(rec.Value) {
			changed = true
			widened(rec.Offset)
		}
	}
	return bytes, changed, r.Err()
}

// logChanges words what one record changed.
func (c *Catalog) logChanges(s *schema, t state.Topic, p int32, offset int64) {
	now := s.inf.Columns()
	for i := range now {
		col := &now[i]
		switch {
		case i >= len(s.columns):
			c.m.newColumns.Inc()
			c.log.Debug("new column", "topic", t.Name, "column", col.Name, "type", col.Type.String(), "partition", p, "offset", offset)
		case !col.Type.Equal(s.columns[i].Type):
			c.m.widened.Inc()
			c.log.Info("column type widened", "topic", t.Name, "column", col.Name, "from", s.columns[i].Type.String(),
				"to", col.Type.String(), "partition", p, "offset", offset)
		}
	}
	s.columns = now
	if !s.rest && s.inf.Rest() {
		s.rest = true
		c.m.overflows.Inc()
		c.log.Warn("members without a column: the limits of columns are reached, see _rest", "topic", t.Name, "objects", restOf(s.inf),
			"columns", len(now), "partition", p, "offset", offset)
	}
}
