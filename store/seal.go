package store

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"millrace/internal/recordbatch"
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// Seal seals everything published so far into segments and waits for it
// (CALL millrace.seal, tests). ctx is looked at between partitions.
func (s *Store) Seal(ctx context.Context) error {
	s.keeper.seals.Lock()
	defer s.keeper.seals.Unlock()
	if s.keeper.closed {
		return commitlog.ErrClosed
	}
	s.freeze(false)
	return s.sealFrozen(ctx)
}

// freeze ends the active memtable's range at the last published entry. A range
// without batches needs no segment and is passed over at once; onlyEmpty leaves others as they are.
func (s *Store) freeze(onlyEmpty bool) {
	s.pub.Lock()
	v := s.pub.version
	m := v.active()
	if m.last < m.first || onlyEmpty && m.batches > 0 {
		s.pub.Unlock()
		return
	}
	mems := slices.Clone(v.mems)
	if m.batches == 0 {
		mems = mems[:len(mems)-1]
	}
	s.pub.version = s.versions.add(v.segs, append(mems, newMemtable(m.last+1, s.pub.open)))
	s.pub.Unlock()
	v.unref()
}

// sealFrozen turns the frozen memtables into segments, oldest first, and saves a
// checkpoint that says so. Under keeper.seals.
func (s *Store) sealFrozen(ctx context.Context) error {
	for {
		v := s.acquire()
		if len(v.mems) == 1 {
			v.unref()
			break
		}
		err := s.sealRange(ctx, v.mems[0])
		v.unref()
		if err != nil {
			s.metrics.sealFailures.Inc()
			return err
		}
	}
	s.keeper.mergeDue.Store(true)
	s.updateBacklog()
	return s.checkpoint()
}

// sealRange writes the segment of one frozen memtable and puts it in its place.
func (s *Store) sealRange(ctx context.Context, m *memtable) error {
	began := time.Now()
	f, err := s.writeRange(ctx, m)
	if err != nil {
		return err
	}
	s.pub.Lock()
	v := s.pub.version
	segs := v.segs
	if f != nil {
		segs = append(slices.Clone(segs), f)
	}
	s.pub.version = s.versions.add(segs, slices.Clone(v.mems[1:]))
	// A partition that gets no more records must not keep the whole memtable in memory.
	for tp := range m.parts {
		if p := s.pub.parts[tp]; p != nil && p.mem == m {
			p.mem, p.part = nil, nil
		}
	}
	s.pub.Unlock()
	v.unref()
	s.metrics.sealSeconds.Observe(time.Since(began).Seconds())
	if f != nil {
		s.metrics.sealedBytes.Add(float64(f.size))
		s.o.Logger.Info("sealed a log range", "segment", f.id, "first lsn", uint64(m.first), "last lsn", uint64(m.last),
			"bytes", f.size, "partitions", len(f.Partitions()), "took", time.Since(began))
	}
	return nil
}

// writeRange writes m's batches to a new segment file and opens it; nil when
// nothing of them is alive any more. What it leaves out (deleted topics, what lies below a
// log start) is gone for every snapshot taken after the segment is installed;
// earlier ones go on reading the memtable.
func (s *Store) writeRange(ctx context.Context, m *memtable) (*segmentFile, error) {
	keep := s.aliveNow()
	parts := make([]state.TopicPartition, 0, len(m.parts))
	for tp := range m.parts {
		parts = append(parts, tp)
	}
	slices.SortFunc(parts, state.TopicPartition.Compare)

	w := s.newSegment(uint64(m.first), uint64(m.last))
	var scratch []byte
	for _, tp := range parts {
		start, ok := keep.start(tp)
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, w.abort())
		}
		refs := m.parts[tp].refs
		refs = refs[findRef(refs, start):]
		for len(refs) > 0 {
			// Batches that lie close to each other in the log are read at once.
			n, size, payload := 1, int(refs[0].size()), int(refs[0].size())
			for n < len(refs) && refs[n].file == refs[0].file {
				end := int(refs[n].offset) - int(refs[0].offset) + int(refs[n].size())
				if end <= size || end > sealReadBytes || end > sealAmplification*(payload+int(refs[n].size())) {
					break
				}
				size = end
				payload += int(refs[n].size())
				n++
			}
			run, err := s.readRun(m, refs[:n], size, &scratch)
			if err == nil {
				err = w.addRun(tp, m, m.parts[tp].transactions, refs[:n], run)
			}
			if err != nil {
				return nil, errors.Join(err, w.abort())
			}
			refs = refs[n:]
		}
		if t := m.parts[tp].transactions; t != nil {
			if err := w.addTransactions(t.all(), start); err != nil {
				return nil, errors.Join(err, w.abort())
			}
		}
	}
	return w.finish()
}

// addTransactions adds those of the partition whose marker was added: a marker below the
// log start is gone, and all that it decides lies before it.
func (w *newSegmentFile) addTransactions(all []segment.Transaction, start int64) error {
	i := sort.Search(len(all), func(i int) bool { return all[i].Marker >= start })
	for _, t := range all[i:] {
		if err := w.w.AddTransaction(t); err != nil {
			return err
		}
	}
	return nil
}

const (
	// sealReadBytes bounds one read from the log while sealing.
	sealReadBytes = 1 << 20
	// sealAmplification bounds how much more than the wanted batches is read to save
	// a call for each of them.
	sealAmplification = 4
)

// readRun returns size bytes of the log from the first batch of refs on. They are
// not checked: what cannot be read back later is reported then, and only for its offsets.
func (s *Store) readRun(m *memtable, refs []batchRef, size int, scratch *[]byte) ([]byte, error) {
	if len(refs) == 1 {
		if b := s.tail.get(m.first+commitlog.LSN(refs[0].lsnDelta), refs[0].offset); b != nil {
			return b, nil
		}
	}
	if cap(*scratch) < size {
		*scratch = make([]byte, max(size, sealReadBytes))
	}
	b := (*scratch)[:size]
	return b, s.log.ReadAt(b, commitlog.Location{File: refs[0].file, Offset: refs[0].offset})
}

// alive says what is still wanted: topics and log starts at one instant.
type alive struct {
	topics *TopicSet
	bounds boundsView
	// version, if set, is the one whose compacted copies count: of what they replaced, nothing is wanted.
	version *version
}

func (s *Store) aliveNow() alive {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return alive{topics: s.pub.topics, bounds: s.pub.bounds.view()}
}

// start is tp's log start; false when its topic is gone.
func (a alive) start(tp state.TopicPartition) (int64, bool) {
	p := a.topics.partition(tp)
	if p == nil {
		return 0, false
	}
	start := a.bounds.get(p.slot).LogStart
	if a.version != nil {
		_, _, compacted := a.version.compacted(tp)
		start = max(start, compacted)
	}
	return start, true
}

// newSegmentFile writes one segment; the file is made with the first batch.
type newSegmentFile struct {
	s      *Store
	header segment.Header
	w      *segment.Writer
	reader recordbatch.Reader
}

func (s *Store) newSegment(first, last uint64) *newSegmentFile {
	return &newSegmentFile{s: s, header: segment.Header{FirstLSN: first, LastLSN: last, Created: s.o.Now().UnixMilli()}}
}

func (w *newSegmentFile) add(tp state.TopicPartition, b segment.Batch, raw []byte) error {
	if w.w == nil {
		w.s.keeper.lastID++
		w.header.ID = w.s.keeper.lastID
		var err error
		if w.w, err = segment.Create(w.s.o.FS, w.s.segmentPath(w.header.ID), w.header); err != nil {
			return err
		}
	}
	return w.w.Add(tp, b, raw)
}

// addRun adds the batches of refs; run is the log from the first of them on.
func (w *newSegmentFile) addRun(tp state.TopicPartition, m *memtable, txn *partTransactions, refs []batchRef, run []byte) error {
	for i := range refs {
		info := refs[i].info(m)
		b := segment.Batch{
			BaseOffset: info.BaseOffset, LastOffset: info.LastOffset, MinTimestamp: info.MinTimestamp, MaxTimestamp: info.MaxTimestamp,
			LSN: uint64(info.LSN), AppendTime: info.AppendTime, SizeBytes: info.SizeBytes,
		}
		if k := refs[i].kind(); k >= dataBatch {
			b.Transactional, b.Control = true, k == markerBatch
			b.ProducerID = producerOf(txn.producers, b.BaseOffset)
		}
		raw := run[refs[i].offset-refs[0].offset:][:b.SizeBytes]
		if b.MinTimestamp < 0 {
			if lo, hi, ok := w.times(raw); ok {
				b.MinTimestamp, b.MaxTimestamp = lo, hi
			}
		}
		if err := w.add(tp, b, raw); err != nil {
			return err
		}
	}
	return nil
}

// times looks for the true extremes of a batch's timestamps; false if there are
// none, or the batch cannot be read. Compressed batches come without: looking into them
// would be the larger part of what accepting them costs. Here it is done once for all who
// look by time.
func (w *newSegmentFile) times(raw []byte) (lo, hi state.Millis, ok bool) {
	b, _, err := recordbatch.Parse(raw)
	if err != nil || !b.CheckCRC() || w.reader.Reset(&b) != nil {
		return 0, 0, false
	}
	var rec recordbatch.Record
	for first := true; w.reader.Next(&rec); first = false {
		if first {
			lo, hi = rec.Timestamp, rec.Timestamp
		}
		lo, hi, ok = min(lo, rec.Timestamp), max(hi, rec.Timestamp), true
	}
	return lo, hi, ok && lo >= 0 && w.reader.Err() == nil
}

// finish makes the file durable and opens it; nil if no batch was added.
func (w *newSegmentFile) finish() (*segmentFile, error) {
	if w.w == nil {
		return nil, nil
	}
	_, err := w.w.Finish()
	if err == nil {
		err = w.s.o.FS.SyncDir(filepath.Join(w.s.o.Dir, segmentsDir))
	}
	if err != nil {
		return nil, errors.Join(err, w.abort())
	}
	f, err := w.s.openSegment(w.header.ID)
	if err != nil {
		return nil, errors.Join(err, w.abort())
	}
	return f, nil
}

// abort removes the file.
func (w *newSegmentFile) abort() error {
	if w.w == nil {
		return nil
	}
	return w.w.Abort()
}
