package store

import (
	"math"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// OffsetForTime returns the first offset whose timestamp is >= ts, exactly (looking
// into batches); found=false when there is none below what may be read under iso. As in
// Kafka, markers and records of aborted transactions count too: it is a place to start. Records that cannot be decoded (a
// compressed batch is stored without a look inside) count as their batch's header has
// them: all as late as the latest, so that nobody who asks starts behind one.
// state.ErrUnknownTopic, or a *ReadError.
func (s *Store) OffsetForTime(tp state.TopicPartition, ts state.Millis, iso Isolation) (offset int64, timestamp state.Millis, found bool, err error) {
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		return 0, 0, false, err
	}
	r := allOf(b.LogStart, iso.end(b))
	r.MinTimestamp = ts
	it, err := sn.iterate(tp, r, false)
	if err != nil {
		return 0, 0, false, err
	}
	defer it.Close()
	var rd recordbatch.Reader
	for it.Next() {
		if it.Info().MinTimestamp < 0 && it.c.cur.looked != nil {
			// Nobody knows its times: find them out once for all who ask.
			t, err := it.look(&rd)
			if err != nil {
				return 0, 0, false, err
			}
			if t.max < ts {
				continue
			}
		}
		err := eachRecord(it, &rd, b.LogStart, func(rec *recordbatch.Record) bool {
			if rec.Timestamp >= ts && rec.Offset < r.ToOffset {
				offset, timestamp, found = rec.Offset, rec.Timestamp, true
				return false
			}
			return true
		})
		if found || err != nil {
			return offset, timestamp, found, err
		}
	}
	return 0, 0, false, it.Err()
}

// MaxTimestamp returns the offset and timestamp of the record with the highest
// timestamp (ListOffsets -3), the first of several; found=false when the
// partition is empty, or, as in Kafka, when that record lies behind what may be read
// under iso. Records that cannot be decoded count as for OffsetForTime.
// state.ErrUnknownTopic, or a *ReadError.
func (s *Store) MaxTimestamp(tp state.TopicPartition, iso Isolation) (offset int64, timestamp state.Millis, found bool, err error) {
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		return 0, 0, false, err
	}
	if offset, timestamp, found, err = sn.maxTimestamp(tp, b); found && offset >= iso.end(b) {
		return 0, 0, false, err
	}
	return offset, timestamp, found, err
}

func (sn *Snapshot) maxTimestamp(tp state.TopicPartition, b state.Bounds) (offset int64, timestamp state.Millis, found bool, err error) {
	var rd recordbatch.Reader
	look := func(it *BatchIter) error {
		// Unsealed batches are walked once for all who ask.
		if base := it.Info().BaseOffset; base >= b.LogStart && it.c.cur.looked != nil {
			t, err := it.look(&rd)
			if err == nil && (!found || t.max > timestamp || t.max == timestamp && t.maxAt < offset) {
				offset, timestamp, found = t.maxAt, t.max, true
			}
			return err
		}
		return eachRecord(it, &rd, b.LogStart, func(rec *recordbatch.Record) bool {
			if !found || rec.Timestamp > timestamp || rec.Timestamp == timestamp && rec.Offset < offset {
				offset, timestamp, found = rec.Offset, rec.Timestamp, true
			}
			return true
		})
	}
	// The index gives each batch's maximum, but over the whole batch: one that
	// straddles the log start can hold less. So the best batch is read, and as long as
	// another may hold more, that one too. Where it is only a claim, the batch is read
	// in any case, once.
	excluded := int64(math.MaxInt64) // maxima from here on are settled
	for first := true; ; first = false {
		var best BatchInfo
		any := false
		r := allOf(b.LogStart, b.End)
		r.Reverse = true // the newest batches mostly have it, and then the index of the rest is not read
		it, err := sn.iterate(tp, r, false)
		if err != nil {
			return 0, 0, false, err
		}
		for it.Next() {
			i := it.Info()
			switch {
			case i.MinTimestamp < 0:
				if !first {
					continue
				}
				if err := look(it); err != nil {
					return 0, 0, false, err
				}
			case i.MaxTimestamp < excluded && (!any || i.MaxTimestamp >= best.MaxTimestamp):
				best, any = i, true
			}
			// Pass over what holds less.
			if any {
				it.c.r.MinTimestamp = max(it.c.r.MinTimestamp, best.MaxTimestamp)
			}
			if found {
				it.c.r.MinTimestamp = max(it.c.r.MinTimestamp, timestamp)
			}
		}
		if err := it.Err(); err != nil {
			return 0, 0, false, err
		}
		if !any || found && best.MaxTimestamp < timestamp {
			return offset, timestamp, found, nil
		}
		excluded = best.MaxTimestamp
		// All batches with that maximum, in order, until one has it in fact.
		r = allOf(best.BaseOffset, b.End)
		r.MinTimestamp, r.MaxTimestamp = best.MaxTimestamp, math.MaxInt64
		it, err = sn.iterate(tp, r, false)
		if err != nil {
			return 0, 0, false, err
		}
		for it.Next() {
			if i := it.Info(); i.MinTimestamp < 0 || i.MaxTimestamp != best.MaxTimestamp {
				continue
			}
			if err := look(it); err != nil {
				return 0, 0, false, err
			}
			if found && timestamp >= best.MaxTimestamp {
				return offset, timestamp, true, nil
			}
		}
		if err := it.Err(); err != nil {
			return 0, 0, false, err
		}
	}
}

// look returns what a walk over all records of the iterator's batch finds, which must be
// one of a memtable: from an earlier walk, if there was one.
func (it *BatchIter) look(rd *recordbatch.Reader) (looked, error) {
	info := it.Info()
	l := it.c.cur.looked
	if t, ok := l.get(info.BaseOffset); ok {
		return t, nil
	}
	l.walking.Lock()
	defer l.walking.Unlock()
	if t, ok := l.get(info.BaseOffset); ok {
		return t, nil
	}
	t := looked{maxAt: -1, exact: true}
	err := eachRecord(it, rd, info.BaseOffset, func(rec *recordbatch.Record) bool {
		if t.maxAt < 0 {
			t.min, t.max, t.maxAt = rec.Timestamp, rec.Timestamp, rec.Offset
		}
		t.min = min(t.min, rec.Timestamp)
		if rec.Timestamp > t.max {
			t.max, t.maxAt = rec.Timestamp, rec.Offset
		}
		return true
	})
	if err != nil {
		return looked{}, err
	}
	t.exact = t.maxAt >= 0 && t.min >= 0 && rd.Err() == nil
	l.put(info.BaseOffset, t)
	return t, nil
}

// eachRecord calls fn with the records of the iterator's batch, from offset from on, until
// it returns false. The first that cannot be decoded is the last one, with the batch's
// highest timestamp.
func eachRecord(it *BatchIter, rd *recordbatch.Reader, from int64, fn func(*recordbatch.Record) bool) error {
	raw, err := it.Bytes()
	if err != nil {
		return err
	}
	b, _, err := recordbatch.Parse(raw)
	if err != nil {
		return err // not reached: Bytes has compared the batch with its index
	}
	if rd.Reset(&b) == nil {
		var rec recordbatch.Record
		for rd.Next(&rec) {
			if rec.Offset < from {
				continue
			}
			if !fn(&rec) {
				return nil
			}
			from = rec.Offset + 1
		}
	}
	if from = max(from, b.BaseOffset); rd.Err() != nil && from <= b.LastOffset() {
		fn(&recordbatch.Record{Offset: from, Timestamp: b.MaxTimestamp})
	}
	return nil
}
