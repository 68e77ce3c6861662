package share

import (
	"encoding/binary"
	"slices"
	"time"
)

// recordState is what a share group knows of a record in flight.
type recordState uint8

// The states; numbers are part of the stored format.
const (
	available    recordState = 0
	acquired     recordState = 1
	acknowledged recordState = 2
	archived     recordState = 4
)

// span is a run of offsets in one state. Delivery counts are per span: spans are
// split where they begin to differ.
type span struct {
	first, last int64 // both included
	state       recordState
	count       int16  // deliveries, the present one included
	member      string // who acquired it; "" otherwise
	deadline    time.Time
}

// partition is one share partition: what a group knows of the records of one
// partition. It holds no lock and reads no clock.
//
// Everything before start is done with. spans cover [start, end) without a hole,
// in order; what comes from end on was never acquired.
type partition struct {
	start, end int64
	epoch      int32 // of the state; raised when somebody sets the start by hand
	spans      []span

	// What the coordinator knows beside.
	ready    bool // the start is decided, and stored
	reset    uint64
	fetching bool // one fetch at a time reads for a partition
}

// find is the index of the span that holds offset, or len(spans).
func (p *partition) find(offset int64) int {
	i, _ := slices.BinarySearchFunc(p.spans, offset, func(s span, o int64) int {
		switch {
		case s.last < o:
			return -1
		case s.first > o:
			return 1
		}
		return 0
	})
	return i
}

// cut makes offset the first one of a span, and returns that span's index.
func (p *partition) cut(offset int64) int {
	i := p.find(offset)
	if i == len(p.spans) || p.spans[i].first == offset {
		return i
	}
	tail := p.spans[i]
	p.spans[i].last = offset - 1
	tail.first = offset
	p.spans = slices.Insert(p.spans, i+1, tail)
	return i + 1
}

// inFlight is how many offsets stand between start and end.
func (p *partition) inFlight() int64 { return p.end - p.start }

// next is the first offset that can be acquired: one that came back, or end.
func (p *partition) next() int64 {
	for i := range p.spans {
		if p.spans[i].state == available {
			return p.spans[i].first
		}
	}
	return p.end
}

// settle moves start past everything that is done with, and joins equal neighbours.
func (p *partition) settle() {
	n := 0
	for n < len(p.spans) && (p.spans[n].state == acknowledged || p.spans[n].state == archived) {
		p.start = p.spans[n].last + 1
		n++
	}
	kept := p.spans[:0]
	for _, s := range p.spans[n:] {
		if k := len(kept); k > 0 && alike(&kept[k-1], &s) {
			kept[k-1].last = s.last
			continue
		}
		kept = append(kept, s)
	}
	clear(p.spans[len(kept):])
	p.spans = kept
	if len(kept) == 0 {
		p.start = max(p.start, p.end)
	}
}

// alike says whether two neighbours can be one span. Acquired ones stay apart: an
// acknowledgement usually names them one by one.
func alike(a, b *span) bool {
	if a.state != b.state {
		return false
	}
	switch a.state {
	case acknowledged, archived:
		return true
	case available:
		return a.count == b.count
	}
	return false
}

// trim follows the log's start: what lies before it cannot be delivered any more.
// It reports whether anything moved.
func (p *partition) trim(logStart int64) bool {
	if logStart <= p.start {
		return false
	}
	if logStart >= p.end {
		p.start, p.end, p.spans = logStart, logStart, nil
		return true
	}
	i := p.cut(logStart)
	p.spans = slices.Delete(p.spans, 0, i)
	p.start = logStart
	p.settle()
	return true
}

// acquisition is one range given to a member.
type acquisition struct {
	first, last int64
	count       int16
}

// extent is the offsets of one record batch. skip: they are never delivered (an
// aborted transaction, to a group that reads committed records).
type extent struct {
	first, last int64
	skip        bool
}

// acquire gives a member the records of the batches that it may have. At most maxRecords,
// though the last batch is taken whole unless strict; offsets never acquired before
// only while fewer than locks are in flight. batches are in offset order and begin
// with the one that holds next(). Holes between them (compaction) belong to the range around
// them, so that the client says it knows of them.
func (p *partition) acquire(member string, deadline time.Time, batches []extent, maxRecords int, strict bool, locks int64) []acquisition {
	if len(batches) == 0 || maxRecords <= 0 {
		return nil
	}
	from := max(p.next(), p.start)
	var got []acquisition
	taken := int64(0)
	for _, b := range batches {
		first, last := max(b.first, from), b.last
		if first > last || first < from {
			continue
		}
		if from < b.first && from >= p.end { // a hole before this batch
			first = from
		}
		if taken >= int64(maxRecords) {
			break
		}
		if last >= p.end {
			if room := locks - p.inFlight(); room <= 0 {
				last = p.end - 1
			} else {
				p.extend(last, strict, int64(maxRecords)-taken, first)
				last = min(last, p.end-1)
			}
		}
		for at := first; at <= last; {
			i := p.cut(at)
			if i == len(p.spans) {
				break
			}
			s := &p.spans[i]
			if s.state != available {
				at = s.last + 1
				continue
			}
			to := min(s.last, last)
			if left := int64(maxRecords) - taken; strict && to-at+1 > left {
				to = at + left - 1
			}
			if to < at {
				break
			}
			if to < s.last {
				p.cut(to + 1)
				s = &p.spans[i]
			}
			at = to + 1
			if b.skip {
				s.state = archived
				continue
			}
			s.state, s.member, s.deadline = acquired, member, deadline
			s.count++
			taken += s.last - s.first + 1
			if n := len(got); n > 0 && got[n-1].last+1 == s.first && got[n-1].count == s.count {
				got[n-1].last = s.last
			} else {
				got = append(got, acquisition{s.first, s.last, s.count})
			}
		}
		from = max(from, b.last+1)
		if last < b.last {
			break
		}
	}
	p.joinAcquired(member, deadline)
	p.settle()
	return got
}

// extend makes offsets up to last available for the first time; when strict no more than left
// beyond first.
func (p *partition) extend(last int64, strict bool, left, first int64) {
	if strict {
		last = min(last, max(first, p.end)+left-1)
	}
	if last < p.end {
		return
	}
	p.spans = append(p.spans, span{first: p.end, last: last, state: available})
	p.end = last + 1
}

// joinAcquired joins what one acquisition took in several pieces.
func (p *partition) joinAcquired(member string, deadline time.Time) {
	kept := p.spans[:0]
	for _, s := range p.spans {
		if k := len(kept); k > 0 && s.state == acquired && s.member == member && s.deadline.Equal(deadline) {
			if l := &kept[k-1]; l.state == acquired && l.member == member && l.count == s.count && l.deadline.Equal(deadline) {
				l.last = s.last
				continue
			}
		}
		kept = append(kept, s)
	}
	clear(p.spans[len(kept):])
	p.spans = kept
}

// Ack is what a member says of one record.
type Ack int8

// The kinds of acknowledgement, as on the wire.
const (
	Gap     Ack = 0 // there is no such record
	Accept  Ack = 1
	Release Ack = 2 // somebody else may have it
	Reject  Ack = 3 // nobody may have it
	Renew   Ack = 4 // still at it
)

// AckBatch acknowledges [First, Last]: with one kind for all, or one for each.
type AckBatch struct {
	First, Last int64
	Kinds       []Ack
}

func (b *AckBatch) kind(offset int64) Ack {
	if len(b.Kinds) == 1 {
		return b.Kinds[0]
	}
	return b.Kinds[offset-b.First]
}

// check says whether a partition's batches are well formed.
func checkAcks(batches []AckBatch, renew bool) error {
	prev := int64(-1)
	for i := range batches {
		b := &batches[i]
		switch {
		case b.First > b.Last, b.First <= prev, len(b.Kinds) == 0,
			len(b.Kinds) > 1 && b.Last-b.First != int64(len(b.Kinds)-1):
			return ErrInvalidRequest
		}
		for _, k := range b.Kinds {
			if k < Gap || k > Renew || k == Renew && !renew {
				return ErrInvalidRequest
			}
		}
		prev = b.Last
	}
	return nil
}

// acknowledge carries out well-formed batches, all or none. What lies before start was
// settled otherwise and is no fault.
func (p *partition) acknowledge(member string, batches []AckBatch, now, renewed time.Time, limit int) error {
	for i := range batches {
		b := &batches[i]
		if b.Last < p.start {
			continue
		}
		if b.Last >= p.end {
			return ErrInvalidRecordState
		}
		for j := p.find(max(b.First, p.start)); j < len(p.spans) && p.spans[j].first <= b.Last; j++ {
			// A lock that ran out is nobody's, also when its timer is late.
			if s := &p.spans[j]; s.state != acquired || s.member != member || !s.deadline.After(now) {
				return ErrInvalidRecordState
			}
		}
	}
	for i := range batches {
		b := &batches[i]
		for at := max(b.First, p.start); at <= b.Last; {
			kind, to := b.kind(at), b.Last
			if len(b.Kinds) > 1 {
				to = at
				for to < b.Last && b.kind(to+1) == kind {
					to++
				}
			}
			i := p.cut(at)
			p.cut(to + 1)
			end := len(p.spans)
			if to+1 < p.end {
				end = p.find(to + 1)
			}
			for ; i < end; i++ {
				s := &p.spans[i]
				switch kind {
				case Accept:
					s.finish(acknowledged)
				case Gap, Reject:
					s.finish(archived)
				case Release:
					s.giveBack(limit)
				case Renew:
					s.deadline = renewed
				}
			}
			at = to + 1
		}
	}
	p.settle()
	return nil
}

func (s *span) finish(state recordState) {
	s.state, s.member, s.deadline = state, "", time.Time{}
}

// giveBack makes a record available again, unless it was delivered too often.
func (s *span) giveBack(limit int) {
	if int(s.count) >= limit {
		s.finish(archived)
		return
	}
	s.finish(available)
}

// release gives back all that a member holds. It may never have seen the records, so
// that delivery does not count.
func (p *partition) release(member string) bool {
	any := false
	for i := range p.spans {
		if s := &p.spans[i]; s.state == acquired && s.member == member {
			s.count = max(s.count-1, 0)
			s.finish(available)
			any = true
		}
	}
	if any {
		p.settle()
	}
	return any
}

// expire gives back what was held too long, n records; next is when to look again, zero for never.
func (p *partition) expire(now time.Time, limit int) (n int64, next time.Time) {
	for i := range p.spans {
		s := &p.spans[i]
		if s.state != acquired {
			continue
		}
		if !s.deadline.After(now) {
			s.giveBack(limit)
			n += s.last - s.first + 1
		} else if next.IsZero() || s.deadline.Before(next) {
			next = s.deadline
		}
	}
	if n > 0 {
		p.settle()
	}
	return n, next
}

// complete is how many offsets from start on are done with.
func (p *partition) complete() int64 {
	n := int64(0)
	for i := range p.spans {
		if s := &p.spans[i]; s.state == acknowledged || s.state == archived {
			n += s.last - s.first + 1
		}
	}
	return n
}

// partitionVersion begins a stored partition: then, until the end, for every span its
// length, state and delivery count, as unsigned varints. They stand one behind the
// other from the start offset on. Acquired is stored as available, one delivery
// less: after a restart nobody holds it, and who held it may not have seen it.
const partitionVersion = 1

func (p *partition) encode() string {
	b := append(make([]byte, 0, 1+4*len(p.spans)), partitionVersion)
	for i := range p.spans {
		s := &p.spans[i]
		state, count := s.state, s.count
		if state == acquired {
			state, count = available, count-1
		}
		b = binary.AppendUvarint(b, uint64(s.last-s.first+1))
		b = append(b, byte(state))
		b = binary.AppendUvarint(b, uint64(count))
	}
	return string(b)
}

// decodePartition is the partition as it was stored.
func decodePartition(start int64, epoch int32, data string) (*partition, error) {
	p := &partition{start: start, end: start, epoch: epoch, ready: true}
	b := []byte(data)
	if len(b) == 0 || b[0] != partitionVersion || start < 0 {
		return nil, errBadRecord
	}
	for b = b[1:]; len(b) > 0; {
		n, k := binary.Uvarint(b)
		if k <= 0 || n == 0 || n > 1<<40 || len(b) < k+2 {
			return nil, errBadRecord
		}
		state := recordState(b[k])
		b = b[k+1:]
		count, k := binary.Uvarint(b)
		if k <= 0 || count > 1<<15-1 || state != available && state != acknowledged && state != archived {
			return nil, errBadRecord
		}
		b = b[k:]
		p.spans = append(p.spans, span{first: p.end, last: p.end + int64(n) - 1, state: state, count: int16(count)})
		p.end += int64(n)
	}
	p.settle()
	return p, nil
}
