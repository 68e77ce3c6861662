package store

import (
	"context"
	"time"

	"millrace/internal/recordbatch"
	"millrace/store/segment"
	"millrace/store/state"
)

// compactPart is one partition of a pass.
type compactPart struct {
	*compaction
	sn        *Snapshot
	tp        state.TopicPartition
	vis       *visibility
	start     int64 // log start
	end       int64
	retention int64 // delete.retention.ms

	horizon state.Millis   // when the first of what is kept only for a while may go
	open    map[int64]bool // producers with records kept since their last marker
	kept    []segment.Transaction
	written int64 // end offset of what was written
}

// transactional says what the index of a sealed batch has about transactions.
func (it *BatchIter) transactional() (producer int64, transactional, control bool) {
	b := &it.c.batches[it.c.i]
	return b.ProducerID, b.Transactional, b.Control
}

// visible says whether the iterator's data batch counts.
func (x *compactPart) visible(it *BatchIter) (bool, error) {
	producer, transactional, _ := it.transactional()
	if !transactional {
		return true, nil
	}
	v, err := x.vis.of(producer, it.Info().BaseOffset)
	if err != nil {
		i := it.Info()
		return false, x.s.readError(x.tp, i.BaseOffset, i.LastOffset, it.c.sourceName(), it.c.at, err)
	}
	return v.committed, nil
}

// newest notes the newest offset of each key in [from, end), and returns up to where the table held them.
func (x *compactPart) newest(ctx context.Context, from, end int64) (int64, error) {
	x.keys.reset()
	if from >= end {
		return end, nil
	}
	it, err := x.sn.iterate(x.tp, allOf(from, end), false)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	var rec recordbatch.Record
	for it.Next() {
		i := it.Info()
		if _, _, control := it.transactional(); control {
			continue
		}
		if counts, err := x.visible(it); !counts {
			if err != nil {
				return 0, err
			}
			continue
		}
		raw, err := x.read(ctx, it)
		if err != nil {
			return 0, err
		}
		b, _, err := recordbatch.Parse(raw)
		if err != nil {
			return 0, err // not reached: it was compared with its index
		}
		if i.BaseOffset > from && !x.keys.room(int(b.NumRecords)) {
			return i.BaseOffset, nil
		}
		if x.reader.Reset(&b) != nil {
			continue // kept as it is
		}
		for x.reader.Next(&rec) {
			if rec.Key != nil && rec.Offset >= x.start {
				x.keys.put(rec.Key, rec.Offset)
			}
		}
	}
	return end, it.Err()
}

// read reads the iterator's batch, and lets producers go first now and then.
func (x *compactPart) read(ctx context.Context, it *BatchIter) ([]byte, error) {
	x.quota -= int(it.Info().SizeBytes)
	if x.quota < 0 {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if now := time.Now(); !x.quotaFrom.IsZero() && x.s.budget.InUse() > 0 {
			t := time.NewTimer(min(now.Sub(x.quotaFrom), compactYieldMax))
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
		}
		x.quota, x.quotaFrom = compactYieldBytes, time.Now()
	}
	return it.Bytes()
}

// rewrite writes what is left of [start, end).
func (x *compactPart) rewrite(ctx context.Context) error {
	it, err := x.sn.iterate(x.tp, allOf(x.start, x.end), false)
	if err != nil {
		return err
	}
	defer it.Close()
	x.open = map[int64]bool{}
	x.written = -1
	var last segment.Batch // and its header, for holding the place of the end
	var header []byte
	for it.Next() {
		raw, err := x.read(ctx, it)
		if err != nil {
			return err
		}
		b, _, err := recordbatch.Parse(raw)
		if err != nil {
			return err // not reached: it was compared with its index
		}
		i := it.Info()
		m := segment.Batch{
			BaseOffset: i.BaseOffset, LastOffset: i.LastOffset, MinTimestamp: i.MinTimestamp, MaxTimestamp: i.MaxTimestamp,
			LSN: uint64(i.LSN), AppendTime: i.AppendTime, SizeBytes: i.SizeBytes,
		}
		m.ProducerID, m.Transactional, m.Control = it.transactional()
		x.bytesIn += int64(i.SizeBytes)
		if m.Control {
			err = x.marker(&b, &m)
		} else {
			var counts bool
			if counts, err = x.visible(it); err == nil && counts {
				err = x.data(&b, &m)
			} else {
				x.recordsIn += int64(b.NumRecords)
			}
		}
		if err != nil {
			return err
		}
		last, header = m, append(header[:0], raw[:recordbatch.HeaderBytes]...)
	}
	if err := it.Err(); err != nil {
		return err
	}
	if header != nil && x.written <= last.LastOffset {
		// Consumers, and who looks for holes, must get to the end.
		b := recordbatch.Batch{Raw: header, BaseOffset: last.BaseOffset, Attributes: int16(header[21])<<8 | int16(header[22])}
		if err := x.add(last, recordbatch.Empty(&b, last.LastOffset)); err != nil {
			return err
		}
	}
	if header == nil {
		return nil
	}
	x.horizons[x.tp] = x.horizon
	for _, t := range x.kept {
		if err := x.w.w.AddTransaction(t); err != nil {
			return err
		}
	}
	return nil
}

func (x *compactPart) add(m segment.Batch, raw []byte) error {
	if x.w == nil {
		if err := x.create(); err != nil {
			return err
		}
	}
	m.SizeBytes = int32(len(raw))
	x.bytesOut += int64(len(raw))
	x.written = m.LastOffset + 1
	return x.w.w.Add(x.tp, m, raw)
}

// newHorizon is when what is seen for the first time now may go.
func (x *compactPart) newHorizon() state.Millis {
	if x.retention > maxHorizon-x.now {
		return maxHorizon
	}
	return x.now + x.retention
}

// data writes what is left of a batch whose records count.
func (x *compactPart) data(b *recordbatch.Batch, m *segment.Batch) error {
	x.recordsIn += int64(b.NumRecords)
	horizon, has := b.DeleteHorizon()
	expired := has && x.now >= horizon
	keep := func(r *recordbatch.Record) bool {
		return r.Key != nil && r.Offset >= x.start && x.keys.newest(r.Key) <= r.Offset && (r.Value != nil || !expired)
	}
	err := x.reader.Reset(b)
	kept, deletes := int32(0), false
	var rec recordbatch.Record
	for err == nil && x.reader.Next(&rec) {
		if keep(&rec) {
			kept++
			deletes = deletes || rec.Value == nil
		}
	}
	if err != nil || x.reader.Err() != nil {
		// Its keys are unknown: it stays, and readers report it.
		kept, deletes = b.NumRecords, false
	}
	if kept == 0 {
		return nil
	}
	x.recordsOut += int64(kept)
	if m.Transactional {
		x.open[m.ProducerID] = true
	}
	stamp := int64(recordbatch.NoHorizon)
	switch {
	case deletes && !has:
		stamp = x.newHorizon()
		x.horizon = earlier(x.horizon, stamp)
	case deletes:
		x.horizon = earlier(x.horizon, horizon)
	}
	if kept == b.NumRecords && stamp == recordbatch.NoHorizon {
		return x.add(*m, b.Raw)
	}
	if err := x.reader.Reset(b); err != nil {
		return err // not reached: it worked before
	}
	raw, _, minTime, maxTime, err := x.rewriter.Rewrite(b, &x.reader, stamp, keep)
	if err != nil {
		return err // not reached either
	}
	m.MinTimestamp, m.MaxTimestamp = minTime, maxTime
	if minTime < 0 {
		m.MinTimestamp = -1
	}
	return x.add(*m, raw)
}

// marker writes a transaction's marker, unless nothing of the transaction is left and that long enough.
func (x *compactPart) marker(b *recordbatch.Batch, m *segment.Batch) error {
	live := x.open[m.ProducerID]
	delete(x.open, m.ProducerID)
	horizon, has := b.DeleteHorizon()
	raw := b.Raw
	if !live {
		switch {
		case !has:
			if err := x.reader.Reset(b); err != nil {
				return err
			}
			var err error
			horizon = x.newHorizon()
			if raw, _, _, _, err = x.rewriter.Rewrite(b, &x.reader, horizon, func(*recordbatch.Record) bool { return true }); err != nil {
				return err
			}
			x.horizon = earlier(x.horizon, horizon)
		case x.now < horizon:
			x.horizon = earlier(x.horizon, horizon)
		case m.LastOffset+1 < x.end:
			return nil
		}
	}
	for i := range x.vis.deciders {
		t, ok, err := x.vis.deciders[i].find(m.ProducerID, m.BaseOffset-1)
		if err != nil {
			return x.s.readError(x.tp, m.BaseOffset, m.LastOffset, segmentsDir, 0, err)
		}
		if ok {
			if t.Marker == m.BaseOffset {
				x.kept = append(x.kept, t)
			}
			break
		}
	}
	return x.add(*m, raw)
}
