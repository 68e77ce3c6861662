package store

import (
	"sync"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// Isolation as in Kafka.
type Isolation int8

// The isolation levels.
const (
	ReadUncommitted Isolation = 0
	ReadCommitted   Isolation = 1
)

// end is where reading stops.
func (iso Isolation) end(b state.Bounds) int64 {
	if iso == ReadCommitted {
		return b.LastStable
	}
	return b.End
}

// FetchResult holds whole batches exactly as stored.
type FetchResult struct {
	Bounds  state.Bounds
	Batches [][]byte // back to back batches; read-only, valid until Release, for ever without it
	Bytes   int
	// Aborted (ReadCommitted only) are the aborted transactions that overlap what was
	// read, by first offset: a reader leaves out their data.
	Aborted []state.AbortedTransaction

	bufs [][]byte // what was read from files
}

// Release says that nobody uses the batches any more, so that other fetches can have
// the memory. It need not be called.
func (r *FetchResult) Release() {
	for _, b := range r.bufs {
		recycle(b)
	}
	r.Batches, r.bufs = nil, nil
}

// fetchRun is batches of one file that are read at once: they lie one after the
// other, with little between them (the frames of other entries, in the log).
type fetchRun struct {
	seg    *segmentFile // nil: in the log
	file   uint32       // of the log
	offset int64
	bytes  int // gaps included
	checks int // batches in it
}

const (
	// fetchGapBytes is how much may lie between two batches for one read to be
	// cheaper than two. All gaps of a fetch together are bounded by its batches' size,
	// because the buffer keeps their room.
	fetchGapBytes = 4 << 10
	// fetchPieceBytes is from where on a piece of its own costs less than moving what follows.
	fetchPieceBytes = 64 << 10
	// fetchDirectBytes is from where on a run of a segment is read past the page cache, as
	// segments are written: a consumer that catches up reads it once, and filling the cache
	// costs several times what reading does. Below, waiting for the disk would cost more.
	fetchDirectBytes = 512 << 10
)

// fetchCheck is what the index says of a batch that was read from a file.
type fetchCheck struct {
	base      int64
	size      int32
	lastDelta int32
	gap       int32 // bytes before it in its run
}

// fetchScratch is the working memory of one Fetch.
type fetchScratch struct {
	cursor cursor
	runs   []fetchRun
	checks []fetchCheck
	bytes  int // of the runs
	gaps   int // bytes of them between batches

	deciders []decider
	end      int64 // one past the last batch taken
}

var fetchScratches = sync.Pool{New: func() any { return new(fetchScratch) }}

// Fetch reads from offset on: whole batches, the first containing offset,
// at most maxBytes in all, but always the first batch when minOne.
// state.ErrUnknownTopic, state.ErrOffsetOutOfRange (outside [LogStart, End]; Bounds is still set),
// or a *ReadError when the first batches cannot be read.
func (s *Store) Fetch(tp state.TopicPartition, offset int64, maxBytes int, minOne bool, iso Isolation) (FetchResult, error) {
	sc := fetchScratches.Get().(*fetchScratch)
	defer func() {
		c := &sc.cursor
		clear(c.sources)
		clear(sc.deciders)
		*sc = fetchScratch{
			cursor: cursor{sources: c.sources[:0], batches: c.batches[:0], table: c.table},
			runs:   sc.runs[:0], checks: sc.checks[:0], deciders: sc.deciders[:0],
		}
		fetchScratches.Put(sc)
	}()
	c := &sc.cursor

	s.pub.RLock()
	p := s.pub.parts[tp]
	if p == nil {
		defer s.pub.RUnlock()
		if s.pub.closed {
			return FetchResult{}, commitlog.ErrClosed
		}
		return FetchResult{}, state.ErrUnknownTopic
	}
	res := FetchResult{Bounds: s.pub.bounds.get(p.slot)}
	end := iso.end(res.Bounds)
	switch {
	case offset < res.Bounds.LogStart || offset > res.Bounds.End:
		s.pub.RUnlock()
		return res, state.ErrOffsetOutOfRange
	case offset >= end || maxBytes <= 0 && !minOne:
		s.pub.RUnlock()
		return res, nil
	}
	v := s.pub.version.ref()
	c.open(s, v, tp, allOf(offset, end))
	if iso == ReadCommitted && !res.Bounds.Dense {
		sc.deciders = v.deciders(tp, sc.deciders)
	}
	s.pub.RUnlock()
	defer v.unref()

	err := sc.gather(&res, maxBytes, minOne)
	if err == nil && len(sc.deciders) > 0 && res.Bytes > 0 {
		if res.Aborted, err = abortedIn(s, tp, sc.deciders, offset, sc.end); err != nil {
			// Without it the data of aborted transactions would count.
			res.Release()
			res.Bytes = 0
		}
	}
	s.metrics.fetchedBytes.Add(float64(res.Bytes))
	return res, err
}

// gather collects batches up to the limit. What lies in memory is passed on as
// it is; what lies in files is read run by run. An error after the first bytes
// ends the answer there: the next Fetch begins with it.
func (sc *fetchScratch) gather(res *FetchResult, maxBytes int, minOne bool) error {
	c := &sc.cursor
	total := 0 // res.Bytes and the runs not yet read
	for {
		ok, err := c.next()
		if !ok || err != nil {
			if ferr := sc.flush(res); err == nil {
				err = ferr
			}
			if res.Bytes > 0 {
				return nil
			}
			return err
		}
		size := int(c.info.SizeBytes)
		if total+size > maxBytes && !(minOne && total == 0) {
			break
		}
		total += size
		sc.end = c.info.LastOffset + 1
		if b := c.cached(); b != nil {
			if err := sc.flush(res); err != nil {
				return errUnlessAny(res, err)
			}
			res.Batches = append(res.Batches, b)
			res.Bytes += size
			continue
		}
		sc.add()
	}
	return errUnlessAny(res, sc.flush(res))
}

func errUnlessAny(res *FetchResult, err error) error {
	if res.Bytes > 0 {
		return nil
	}
	return err
}

// add queues the cursor's batch for reading.
func (sc *fetchScratch) add() {
	c := &sc.cursor
	size := int(c.info.SizeBytes)
	check := fetchCheck{base: c.info.BaseOffset, size: c.info.SizeBytes, lastDelta: int32(c.info.LastOffset - c.info.BaseOffset)}
	run := fetchRun{seg: c.cur.seg, offset: c.at, bytes: size, checks: 1}
	if run.seg == nil {
		run.file = c.file
	}
	sc.bytes += size
	if n := len(sc.runs); n > 0 {
		last := &sc.runs[n-1]
		gap := run.offset - (last.offset + int64(last.bytes))
		if last.seg == run.seg && last.file == run.file && gap >= 0 && gap <= fetchGapBytes && 2*(sc.gaps+int(gap)) <= sc.bytes {
			check.gap = int32(gap)
			sc.gaps += int(gap)
			sc.bytes += int(gap)
			last.bytes += int(gap) + size
			last.checks++
			sc.checks = append(sc.checks, check)
			return
		}
	}
	sc.runs = append(sc.runs, run)
	sc.checks = append(sc.checks, check)
}

// flush reads the queued runs into one buffer, checks every batch and adds what is good
// to res. Batches with something between them are moved together, unless they are many
// bytes: then there is one more piece to send.
func (sc *fetchScratch) flush(res *FetchResult) error {
	if len(sc.runs) == 0 {
		return nil
	}
	c := &sc.cursor
	room := sc.bytes
	for i := range sc.runs {
		room += sc.runs[i].slack()
	}
	buf := fetchBuffer(room)
	res.bufs = append(res.bufs, buf)
	from, good := 0, 0 // the piece that grows is buf[from:good]
	emit := func() {
		if good > from {
			res.Batches = append(res.Batches, buf[from:good:good])
			res.Bytes += good - from
		}
	}
	defer func() {
		emit()
		clear(sc.runs) // lets go of segments
		sc.runs, sc.checks, sc.bytes, sc.gaps = sc.runs[:0], sc.checks[:0], 0, 0
	}()
	at := 0 // where in buf the next run has its room
	checks := sc.checks
	for i := range sc.runs {
		run := &sc.runs[i]
		end := at + run.bytes + run.slack()
		pos, err := run.read(c, buf[at:end])
		if err != nil {
			first, last := checks[0], checks[run.checks-1]
			return c.s.readError(c.tp, first.base, last.base+int64(last.lastDelta), run.name(), run.offset, err)
		}
		pos += at
		start := pos
		for _, k := range checks[:run.checks] {
			pos += int(k.gap)
			b := buf[pos : pos+int(k.size)]
			last := k.base + int64(k.lastDelta)
			if err := checkBatch(b, k.base, last); err != nil {
				return c.s.readError(c.tp, k.base, last, run.name(), run.offset+int64(pos-start), err)
			}
			switch {
			case pos == good:
			case good == from, good-from >= fetchPieceBytes:
				emit()
				from, good = pos, pos
			default:
				copy(buf[good:], b)
			}
			pos += int(k.size)
			good += int(k.size)
		}
		at = end
		checks = checks[run.checks:]
	}
	return nil
}

// slack is what reading the run past the page cache takes besides its bytes.
func (r *fetchRun) slack() int {
	if r.seg != nil && r.bytes >= fetchDirectBytes {
		return vfs.DirectSlack
	}
	return 0
}

// read reads the run into buf, which has room for its bytes and slack, and returns where.
func (r *fetchRun) read(c *cursor, buf []byte) (at int, err error) {
	if r.slack() > 0 {
		if at, ok := r.seg.ReadDirect(buf, r.offset, r.bytes); ok {
			return at, nil
		}
	}
	return 0, c.readAt(r.seg, r.file, buf[:r.bytes], r.offset)
}

func (r *fetchRun) name() string {
	if r.seg != nil {
		return r.seg.relName()
	}
	return logFileName(r.file)
}
