package store

import (
	"millrace/store/commitlog"
	"millrace/store/state"
)

// BatchRange says which batches a scan needs; it may only save work: a batch is
// skipped only if it certainly holds no record in the range.
type BatchRange struct {
	FromOffset, ToOffset       int64         // [From, To)
	MinTimestamp, MaxTimestamp state.Millis  // [Min, Max], closed; math.MinInt64/MaxInt64: no bound
	AfterLSN                   commitlog.LSN // only batches with a higher VisibleLSN
	Reverse                    bool          // last batch first
	Once                       bool          // nobody will read them again soon: they need not stay in the system's cache
}

// BatchInfo is what is known of a batch without reading it.
type BatchInfo struct {
	BaseOffset   int64
	LastOffset   int64
	MinTimestamp state.Millis // -1 unknown
	// MaxTimestamp is the true one if MinTimestamp is known. Otherwise nobody looked
	// into the batch, and it is what the producer's header says.
	MaxTimestamp state.Millis
	LSN          commitlog.LSN
	VisibleLSN   commitlog.LSN // of the commit for a batch of a transaction, the snapshot's where Own, otherwise LSN
	Own          bool          // of the open transaction that counts in the snapshot; see Store.SnapshotOf
	AppendTime   state.Millis
	SizeBytes    int32
	Opaque       bool // known to have nothing for column inference; see state.Batch
}

// Batches iterates over a partition's batches in the range, visible in this
// snapshot, which must not be released before the iterator is closed. No markers, nothing of
// aborted transactions, nor of open ones but the snapshot's own; what was committed above the last stable offset is visible.
// state.ErrUnknownTopic.
func (sn *Snapshot) Batches(tp state.TopicPartition, r BatchRange) (*BatchIter, error) {
	return sn.iterate(tp, r, true)
}

// iterate is Batches, or, unless visible, the same over all batches as they lie there.
func (sn *Snapshot) iterate(tp state.TopicPartition, r BatchRange, visible bool) (*BatchIter, error) {
	b, err := sn.Bounds(tp)
	if err != nil {
		return nil, err
	}
	r.FromOffset = max(r.FromOffset, b.LogStart)
	r.ToOffset = min(r.ToOffset, b.End)
	it := &BatchIter{}
	if r.FromOffset < r.ToOffset {
		sn.s.pub.RLock()
		if visible && !b.Dense {
			it.c.visible = &visibility{s: sn.s, tp: tp, deciders: sn.version.deciders(tp, nil), lsn: sn.lsn, own: sn.own}
		}
		it.c.open(sn.s, sn.version, tp, r)
		sn.s.pub.RUnlock()
	}
	return it, nil
}

// CommittedSince is the least first offset, in one partition, of the transactions that were
// committed after an entry; any is false when there is none. So who knew all that was
// visible at that entry finds the rest from there on, with AfterLSN. It costs what was
// decided since, however long other transactions are open.
// state.ErrUnknownTopic, or a *ReadError.
func (sn *Snapshot) CommittedSince(tp state.TopicPartition, after commitlog.LSN) (first int64, any bool, err error) {
	b, err := sn.Bounds(tp)
	if err != nil || b.Dense {
		return 0, false, err
	}
	sn.s.pub.RLock()
	all := sn.version.deciders(tp, nil)
	sn.s.pub.RUnlock()
	for i := len(all) - 1; i >= 0; i-- {
		d := &all[i]
		if d.seg != nil && commitlog.LSN(d.part.LastLSN) <= after {
			break
		}
		list, err := d.all()
		if err != nil {
			return 0, false, sn.s.segmentError(tp, d.seg, d.part.FirstOffset, d.part.EndOffset-1, err)
		}
		for j := len(list) - 1; j >= 0 && commitlog.LSN(list[j].LSN) > after; j-- {
			if x := &list[j]; x.Committed && commitlog.LSN(x.LSN) <= sn.lsn && (!any || x.First < first) {
				first, any = x.First, true
			}
		}
	}
	return first, any, nil
}

// OwnFrom is the least offset, in one partition, of the open transaction that counts in this snapshot alone; any is
// false when there is none. Below it the snapshot and Others are the same.
// state.ErrUnknownTopic, or a *ReadError.
func (sn *Snapshot) OwnFrom(tp state.TopicPartition) (first int64, any bool, err error) {
	b, err := sn.Bounds(tp)
	if err != nil || b.Dense || sn.own == NoProducer || b.LogStart >= b.End {
		return 0, false, err
	}
	sn.s.pub.RLock()
	first, any = sn.s.pub.open[openKey{tp, sn.own}]
	now := sn.s.pub.version.ref()
	all := now.deciders(tp, nil)
	sn.s.pub.RUnlock()
	defer now.unref()
	if any && first < b.End {
		return first, true, nil
	}
	// It may have ended since: then it is the one whose marker lies behind the snapshot's end.
	for i := range all {
		x, ok, err := all[i].find(sn.own, b.End-1)
		if err != nil {
			return 0, false, sn.s.segmentError(tp, all[i].seg, all[i].part.FirstOffset, all[i].part.EndOffset-1, err)
		}
		if ok {
			return x.First, x.First < b.End, nil
		}
	}
	return 0, false, nil
}

// BatchIter is used by one goroutine.
type BatchIter struct {
	c       cursor
	scratch []byte
	err     error
}

// Next moves to the next batch; false at the end or after an error.
func (it *BatchIter) Next() bool {
	if it.err != nil {
		return false
	}
	ok, err := it.c.next()
	it.err = err
	return ok && err == nil
}

// Info describes the current batch.
func (it *BatchIter) Info() BatchInfo { return it.c.info }

// Bytes reads the current batch (raw, as stored; checked against its CRC). Valid
// until the next call of Next. A *ReadError concerns this batch only: Next may go on.
func (it *BatchIter) Bytes() ([]byte, error) {
	b, scratch, err := it.c.read(it.scratch)
	it.scratch = scratch
	return b, err
}

// Err is what ended the iteration early: a *ReadError.
func (it *BatchIter) Err() error { return it.err }

// Close releases the iterator's memory.
func (it *BatchIter) Close() { it.c, it.scratch = cursor{}, nil }
