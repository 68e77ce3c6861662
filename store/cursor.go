package store

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/segment"
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
	opened  int      // how many of sources were opened
	cur     source   // the open one; neither mem nor seg: none
	i       int      // position in cur.refs or batches

	// Of an open segment source.
	blocks  []segment.Block // that intersect the range
	b       int             // position in blocks
	batches []segment.Batch // of block b
	table   []byte          // scratch
	data    []byte          // bytes of the segment that were read: block b's, and those of the ones behind it
	dataAt  int64           // where they lie
	buf     []byte          // data's memory

	// hole, if set, is why the range ends (or, in reverse, does not begin) where it does.
	hole error

	// visible, if set, leaves out markers and what was not committed.
	visible *visibility

	info BatchInfo
	at   int64 // where the batch lies: in log file file, or in cur.seg
	file uint32
}

// source is the partition's part of a memtable or of a segment.
type source struct {
	mem    *memtable
	refs   []batchRef
	looked *lookedTimes // of the part
	// producers of the part's transactional batches.
	producers []batchProducer

	seg  *segmentFile
	part *segment.Partition
	from int64 // what lies below is not of this source: a compacted copy has it
}

// open prepares c for the batches of tp in v that intersect r. The caller holds
// the publish lock (shared suffices): active memtables grow under it.
func (c *cursor) open(s *Store, v *version, tp state.TopicPartition, r BatchRange) {
	c.s, c.tp, c.r = s, tp, r
	// Segments hold lower offsets than memtables; readers at the tail need none.
	first := int64(math.MaxInt64)
	for _, m := range v.mems {
		refs := m.refs(tp)
		if len(refs) == 0 {
			continue
		}
		first = min(first, refs[0].base)
		lo := findRef(refs, r.FromOffset)
		hi := len(refs)
		if refs[hi-1].base >= r.ToOffset {
			hi = lo + findBase(refs[lo:], r.ToOffset)
		}
		if lo < hi {
			src := source{mem: m, refs: refs[lo:hi], looked: m.lookedAt(tp)}
			if t := m.parts[tp].transactions; t != nil {
				src.producers = t.producers
			}
			c.sources = append(c.sources, src)
		}
	}
	if r.FromOffset < first {
		mems := len(c.sources)
		f, p, compacted := v.compacted(tp)
		if f != nil {
			c.addPart(f, p, 0)
		}
		for _, f := range v.segs[v.copies:] {
			if p := f.Find(tp); p != nil && p.EndOffset > compacted {
				c.addPart(f, p, compacted)
			}
		}
		// In offset order: the segments' sources to the front.
		rotate(c.sources, mems)
	}
	if f := v.lost(); f != nil {
		c.findHole(v, f)
	}
	if r.Reverse {
		slices.Reverse(c.sources)
	}
}

// addPart adds a segment's part of the partition, from offset from on, as a source.
func (c *cursor) addPart(f *segmentFile, p *segment.Partition, from int64) {
	if p.EndOffset > c.r.FromOffset && p.FirstOffset < c.r.ToOffset &&
		!c.excludesAll(p.MinTimestamp, p.MaxTimestamp, commitlog.LSN(p.LastLSN)) {
		c.sources = append(c.sources, source{seg: f, part: p, from: from})
	}
}

// findHole looks for offsets of the range that no segment or memtable has: a
// segment that cannot be opened, f, had them. What lies before stays readable.
func (c *cursor) findHole(v *version, f *segmentFile) {
	at := c.r.FromOffset
	covered := func(first, end int64) bool {
		if end <= at {
			return true
		}
		if first > at {
			return false
		}
		at = end
		return true
	}
	whole := true
	if _, _, compacted := v.compacted(c.tp); compacted > 0 {
		covered(0, compacted) // what it does not have is gone for good
	}
	for _, s := range v.segs[v.copies:] {
		if p := s.Find(c.tp); p != nil && whole {
			whole = covered(p.FirstOffset, p.EndOffset)
		}
	}
	for _, m := range v.mems {
		if refs := m.refs(c.tp); len(refs) > 0 && whole {
			whole = covered(refs[0].base, refs[len(refs)-1].end())
		}
	}
	if at >= c.r.ToOffset {
		return
	}
	// at is the first missing offset; the hole reaches to the next batch that is there.
	end := c.r.ToOffset
	for _, s := range v.segs[v.copies:] {
		if p := s.Find(c.tp); p != nil && p.FirstOffset > at {
			end = min(end, p.FirstOffset)
		}
	}
	for _, m := range v.mems {
		if refs := m.refs(c.tp); len(refs) > 0 && refs[0].base > at {
			end = min(end, refs[0].base)
		}
	}
	c.hole = &ReadError{
		TopicPartition: c.tp, Name: c.s.topicName(c.tp), FirstOffset: at, LastOffset: end - 1,
		File: f.relName(), Err: fmt.Errorf("%w: %w", ErrCorrupt, f.lost),
	}
	if c.r.Reverse {
		c.sources = nil // the end may be readable, but not all of the range
		return
	}
	// Sources behind the hole are left out.
	for i, s := range c.sources {
		if first := s.first(); first >= end {
			c.sources = c.sources[:i]
			break
		}
	}
}

// first offset of the source's batches.
func (s *source) first() int64 {
	if s.mem != nil {
		return s.refs[0].base
	}
	return s.part.FirstOffset
}

// rotate moves the first n elements to the end.
func rotate(s []source, n int) {
	slices.Reverse(s[:n])
	slices.Reverse(s[n:])
	slices.Reverse(s)
}

// next moves to the next batch that may matter; false at the end or on error.
func (c *cursor) next() (bool, error) {
	for {
		switch {
		case c.cur.mem != nil:
			if ok, err := c.nextRef(); ok || err != nil {
				return ok, err
			}
		case c.cur.seg != nil:
			if ok, err := c.nextBatch(); ok || err != nil {
				return ok, err
			}
		}
		c.cur = source{}
		if c.opened == len(c.sources) {
			return false, c.hole
		}
		c.cur = c.sources[c.opened]
		c.opened++
		if c.cur.mem != nil {
			c.i = c.before(len(c.cur.refs))
		} else if err := c.openPart(); err != nil {
			c.cur = source{}
			return false, err
		}
	}
}

// before is the position before the first of n elements in iteration order,
// step the way to the next one.
func (c *cursor) before(n int) int {
	if c.r.Reverse {
		return n
	}
	return -1
}

func (c *cursor) step() int {
	if c.r.Reverse {
		return -1
	}
	return 1
}

// admit says whether the transactional batch c.info of that producer is visible, and notes
// since when.
func (c *cursor) admit(producer int64) (bool, error) {
	v, err := c.visible.of(producer, c.info.BaseOffset)
	if err != nil {
		// Which it is was in a segment that cannot be read, and so can be no batch that depends on it.
		return false, c.s.readError(c.tp, c.info.BaseOffset, c.info.LastOffset, c.sourceName(), c.at, err)
	}
	if !v.committed && !v.own || v.lsn <= c.r.AfterLSN {
		return false, nil
	}
	c.info.VisibleLSN, c.info.Own = v.lsn, v.own
	return true, nil
}

func (c *cursor) nextRef() (bool, error) {
	step := c.step()
	for c.i += step; c.i >= 0 && c.i < len(c.cur.refs); c.i += step {
		r := &c.cur.refs[c.i]
		info := r.info(c.cur.mem)
		if info.MinTimestamp < 0 {
			if t, ok := c.cur.looked.get(r.base); ok && t.exact {
				info.MinTimestamp, info.MaxTimestamp = t.min, t.max
			}
		}
		if c.visible != nil && r.kind() >= dataBatch {
			if r.kind() == markerBatch || c.r.excludesTimes(info.MinTimestamp, info.MaxTimestamp) {
				continue
			}
			c.info, c.file, c.at = info, r.file, int64(r.offset)
			ok, err := c.admit(producerOf(c.cur.producers, r.base))
			if ok || err != nil {
				return ok, err
			}
			continue
		}
		if c.r.excludes(info.MinTimestamp, info.MaxTimestamp, info.LSN) {
			continue
		}
		c.info, c.file, c.at = info, r.file, int64(r.offset)
		return true, nil
	}
	return false, nil
}

// openPart positions c before the first block of the segment source.
func (c *cursor) openPart() error {
	p := c.cur.part
	c.blocks, c.batches, c.data = nil, c.batches[:0], c.data[:0]
	// The range may have been narrowed since the cursor was opened.
	if c.excludesAll(p.MinTimestamp, p.MaxTimestamp, commitlog.LSN(p.LastLSN)) {
		return nil
	}
	blocks, err := c.cur.seg.Blocks(p)
	if err != nil {
		return c.segmentError(p.FirstOffset, p.EndOffset-1, err)
	}
	from := max(c.r.FromOffset, c.cur.from)
	lo := sort.Search(len(blocks), func(i int) bool { return blocks[i].EndOffset > from })
	hi := lo + sort.Search(len(blocks)-lo, func(i int) bool { return blocks[lo+i].FirstOffset >= c.r.ToOffset })
	c.blocks = blocks[lo:hi]
	c.b = c.before(len(c.blocks))
	c.i = c.before(0)
	return nil
}

func (c *cursor) nextBatch() (bool, error) {
	step := c.step()
	for {
		for c.i += step; c.i >= 0 && c.i < len(c.batches); c.i += step {
			b := &c.batches[c.i]
			if b.LastOffset < max(c.r.FromOffset, c.cur.from) || b.BaseOffset >= c.r.ToOffset {
				continue
			}
			transactional := c.visible != nil && b.Transactional
			if transactional {
				if b.Control || c.r.excludesTimes(b.MinTimestamp, b.MaxTimestamp) {
					continue
				}
			} else if c.r.excludes(b.MinTimestamp, b.MaxTimestamp, commitlog.LSN(b.LSN)) {
				continue
			}
			c.info = BatchInfo{
				BaseOffset: b.BaseOffset, LastOffset: b.LastOffset, MinTimestamp: b.MinTimestamp, MaxTimestamp: b.MaxTimestamp,
				LSN: commitlog.LSN(b.LSN), VisibleLSN: commitlog.LSN(b.LSN), AppendTime: b.AppendTime, SizeBytes: b.SizeBytes,
			}
			c.at = b.At
			if transactional {
				if ok, err := c.admit(b.ProducerID); !ok {
					if err != nil {
						return false, err
					}
					continue
				}
			}
			return true, nil
		}
		c.batches = c.batches[:0]
		for {
			if c.b += step; c.b < 0 || c.b >= len(c.blocks) {
				return false, nil
			}
			b := &c.blocks[c.b]
			if !c.excludesAll(b.MinTimestamp, b.MaxTimestamp, commitlog.LSN(b.LastLSN)) {
				break
			}
		}
		b := &c.blocks[c.b]
		var err error
		c.batches, c.table, err = c.cur.seg.Batches(b, c.batches, c.table)
		if err != nil {
			c.i = c.before(0)
			return false, c.segmentError(b.FirstOffset, b.EndOffset-1, err)
		}
		c.i = c.before(len(c.batches))
	}
}

// excludes says that nothing with these extremes can lie in the range. Without a known
// minimum the maximum is a mere claim (see BatchInfo), which excludes nothing.
func (r *BatchRange) excludes(minTime, maxTime state.Millis, lastLSN commitlog.LSN) bool {
	return r.excludesTimes(minTime, maxTime) || lastLSN <= r.AfterLSN
}

func (r *BatchRange) excludesTimes(minTime, maxTime state.Millis) bool {
	return minTime >= 0 && (maxTime < r.MinTimestamp || minTime > r.MaxTimestamp)
}

// excludesAll is excludes for what holds many batches. Those of transactions may have become
// visible long after they were written.
func (c *cursor) excludesAll(minTime, maxTime state.Millis, lastLSN commitlog.LSN) bool {
	if c.visible != nil {
		return c.r.excludesTimes(minTime, maxTime)
	}
	return c.r.excludes(minTime, maxTime, lastLSN)
}

// allOf is the range of all batches with offsets in [from, to).
func allOf(from, to int64) BatchRange {
	return BatchRange{FromOffset: from, ToOffset: to, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64}
}

// cached returns the current batch if it is in memory.
func (c *cursor) cached() []byte {
	if c.cur.mem == nil {
		return nil
	}
	return c.s.tail.get(c.info.LSN, uint32(c.at))
}

// wholeBlockBytes is up to where a block is read at once when one of its batches
// is wanted. Blocks of one large batch may be larger.
const wholeBlockBytes = segment.BlockBytes

const (
	// aheadBytes is how much is read at once of blocks that are read one after the other. More costs fewer calls, and makes a sync of
	// the log that comes meanwhile wait longer for the disk.
	aheadBytes = 256 << 10
	// aheadBatch is up to where a batch that is a block of its own is read so.
	aheadBatch = aheadBytes / 2
)

// read reads the current batch and checks it. The answer may alias scratch, the
// cursor's own buffer, or memory that never changes; it is valid until the next call of next.
func (c *cursor) read(scratch []byte) (batch, newScratch []byte, err error) {
	if b := c.cached(); b != nil {
		return b, scratch, nil
	}
	if c.cur.seg != nil && c.wholeBlock() {
		b, err := c.fromBlock()
		if err != nil {
			return nil, scratch, c.batchError(err)
		}
		return b, scratch, nil
	}
	n := int(c.info.SizeBytes)
	if cap(scratch) < n {
		scratch = make([]byte, n)
	}
	b := scratch[:n]
	if err := c.readAt(c.cur.seg, c.file, b, c.at); err != nil {
		return nil, scratch, c.batchError(err)
	}
	if err := checkBatch(b, c.info.BaseOffset, c.info.LastOffset); err != nil {
		return nil, scratch, c.batchError(err)
	}
	return b, scratch, nil
}

// wholeBlock says whether block b is read as a whole.
func (c *cursor) wholeBlock() bool {
	n := c.blocks[c.b].DataBytes
	return n <= wholeBlockBytes && len(c.batches) > 1 || n <= aheadBatch && !c.r.Reverse
}

func (c *cursor) fromBlock() ([]byte, error) {
	k := &c.blocks[c.b]
	if end := c.dataAt + int64(len(c.data)); k.At < c.dataAt || k.At+int64(k.DataBytes) > end {
		n := int(k.DataBytes)
		if len(c.data) > 0 && k.At == end {
			n = c.ahead()
		}
		err := c.load(k.At, n)
		if err != nil && n > int(k.DataBytes) { // what lies behind may be at fault
			err = c.load(k.At, int(k.DataBytes))
		}
		if err != nil {
			return nil, err
		}
	}
	b := c.data[c.at-c.dataAt:][:c.info.SizeBytes]
	return b, checkBatch(b, c.info.BaseOffset, c.info.LastOffset)
}

// ahead is how many bytes block b and those that lie right behind it have, as far as they are read at once.
func (c *cursor) ahead() int {
	k := &c.blocks[c.b]
	n := int(k.DataBytes)
	for i := c.b + 1; i < len(c.blocks) && !c.r.Reverse; i++ {
		next := &c.blocks[i]
		if next.At != k.At+int64(n) || n+int(next.DataBytes) > aheadBytes {
			break
		}
		n += int(next.DataBytes)
	}
	return n
}

// load reads bytes of the segment into data.
func (c *cursor) load(at int64, n int) error {
	if len(c.buf) < n {
		c.buf = make([]byte, max(n, wholeBlockBytes)+vfs.DirectSlack)
	}
	c.dataAt = at
	if c.r.Once && n > aheadBatch {
		if skip, ok := c.cur.seg.ReadDirect(c.buf, at, n); ok {
			c.data = c.buf[skip:][:n]
			return nil
		}
	}
	c.data = c.buf[:n]
	if err := c.cur.seg.ReadAt(c.data, at); err != nil {
		c.data = c.data[:0]
		return err
	}
	return nil
}

// readAt reads from a segment, or if seg is nil from a log file.
func (c *cursor) readAt(seg *segmentFile, file uint32, p []byte, at int64) error {
	if seg != nil {
		return seg.ReadAt(p, at)
	}
	return c.s.log.ReadAt(p, commitlog.Location{File: file, Offset: uint32(at)})
}

func (c *cursor) batchError(err error) error {
	return c.s.readError(c.tp, c.info.BaseOffset, c.info.LastOffset, c.sourceName(), c.at, err)
}

// sourceName is the file of the current batch.
func (c *cursor) sourceName() string {
	if c.cur.seg != nil {
		return c.cur.seg.relName()
	}
	return logFileName(c.file)
}

func (c *cursor) segmentError(first, last int64, err error) error {
	return c.s.segmentError(c.tp, c.cur.seg, first, last, err)
}
