package store

import (
	"fmt"
	"math"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// cursor walks over one partition's batches in a version: segments first, then
// memtables, or the other way round. The version must be referenced while it is
// in use.
type cursor struct {
	s  *Store
	tp state.TopicPartition
	r  BatchRange

	sources []source // in iteration order
	next_   int      // next of sources to open

	cur source
	i   int // position in cur.refs; before the first batch: the one to begin with, less the step

	info BatchInfo
	ref  *batchRef // where the batch lies: in the log
}

// source is the partition's part of a memtable.
type source struct {
	mem  *memtable
	refs []batchRef
}

// open prepares c for the batches of tp in v that intersect r. The caller holds
// the publish lock (shared suffices): active memtables grow under it.
func (c *cursor) open(s *Store, v *version, tp state.TopicPartition, r BatchRange) {
	c.s, c.tp, c.r = s, tp, r
	for _, m := range v.mems {
		refs := m.refs(tp)
		lo := findRef(refs, r.FromOffset)
		hi := lo
		if n := len(refs); n > 0 && refs[n-1].base < r.ToOffset {
			hi = n
		} else {
			hi = lo + findBase(refs[lo:], r.ToOffset)
		}
		if lo < hi {
			c.sources = append(c.sources, source{mem: m, refs: refs[lo:hi]})
		}
	}
	if r.Reverse {
		for i, j := 0, len(c.sources)-1; i < j; i, j = i+1, j-1 {
			c.sources[i], c.sources[j] = c.sources[j], c.sources[i]
		}
	}
}

// next moves to the next batch that may matter; false at the end or on error.
func (c *cursor) next() (bool, error) {
	for {
		if c.cur.mem != nil {
			if c.nextRef() {
				return true, nil
			}
			c.cur = source{}
		}
		if c.next_ == len(c.sources) {
			return false, nil
		}
		c.cur = c.sources[c.next_]
		c.next_++
		c.i = -1
		if c.r.Reverse {
			c.i = len(c.cur.refs)
		}
	}
}

func (c *cursor) nextRef() bool {
	step := 1
	if c.r.Reverse {
		step = -1
	}
	for c.i += step; c.i >= 0 && c.i < len(c.cur.refs); c.i += step {
		r := &c.cur.refs[c.i]
		info := r.info(c.cur.mem)
		if c.r.excludes(info.MinTimestamp, info.MaxTimestamp, info.LSN) {
			continue
		}
		c.info, c.ref = info, r
		return true
	}
	return false
}

// excludes says that nothing with these extremes can lie in the range.
func (r *BatchRange) excludes(minTime, maxTime state.Millis, lastLSN commitlog.LSN) bool {
	return maxTime >= 0 && maxTime < r.MinTimestamp ||
		minTime >= 0 && minTime > r.MaxTimestamp ||
		lastLSN <= r.AfterLSN
}

// allOf is the range of all batches with offsets in [from, to).
func allOf(from, to int64) BatchRange {
	return BatchRange{FromOffset: from, ToOffset: to, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64}
}

// cached returns the current batch if it is in memory.
func (c *cursor) cached() []byte {
	return c.s.tail.get(c.info.LSN, c.ref.offset)
}

// read reads the current batch into buf (grown if it is too small) and checks
// it; the answer may also alias memory that never changes.
func (c *cursor) read(buf []byte) (batch, scratch []byte, err error) {
	if b := c.cached(); b != nil {
		return b, buf, nil
	}
	n := int(c.info.SizeBytes)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	b := buf[:n]
	err = c.s.log.ReadAt(b, commitlog.Location{File: c.ref.file, Offset: c.ref.offset})
	if err == nil {
		err = checkBatch(b, c.info.BaseOffset, c.info.LastOffset)
	}
	if err != nil {
		return nil, buf, c.s.readError(c.tp, c.info.BaseOffset, c.info.LastOffset, logFileName(c.ref.file), int64(c.ref.offset), err)
	}
	return b, buf, nil
}

func logFileName(file uint32) string { return fmt.Sprintf("log file %d", file) }

// readError wraps err with what it concerns and counts it.
func (s *Store) readError(tp state.TopicPartition, first, last int64, file string, at int64, err error) error {
	s.metrics.readErrors.Inc()
	t, _ := s.Topics().ByID(tp.Topic)
	e := &ReadError{TopicPartition: tp, Name: t.Name, FirstOffset: first, LastOffset: last, File: file, FileOffset: at, Err: err}
	s.o.Logger.Error("stored records cannot be read", "topic", t.Name, "topic id", tp.Topic, "partition", tp.Partition,
		"first offset", first, "last offset", last, "file", file, "file offset", at, "error", err)
	return e
}
