package store

import (
	"maps"
	"math"
	"sort"
	"time"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// memtable indexes the batches of one range of the log: LSNs from first on, up
// to last once it is frozen. The publisher appends under the publish lock; what
// is appended never changes, so a reader that took a part's refs under the lock
// may use them without it.
type memtable struct {
	first commitlog.LSN
	last  commitlog.LSN // highest indexed LSN; first-1 when there is none

	parts map[state.TopicPartition]*memPart
	open  openTransactions // as they were before first; never changed

	payloadBytes int64 // batches
	metaBytes    int64 // what the entries hold beside their batches
	batches      int64
	// transactionBytes is what the transactions add to the index's memory.
	transactionBytes int64
	since            time.Time // of the first batch
}

// memPart is one partition of a memtable, in offset order.
type memPart struct {
	refs   []batchRef
	bytes  int64
	looked lookedTimes
	// transactions is nil as long as the part has no transactional batch.
	transactions *partTransactions
}

// batchRefBytes is the memory of one indexed batch.
const batchRefBytes = 48

// batchRef is what the index keeps of one unsealed batch.
type batchRef struct {
	base       int64
	maxTime    state.Millis
	appendTime state.Millis
	lsnDelta   uint32 // from memtable.first
	file       uint32 // where the batch lies in the log
	offset     uint32
	sizeKind   uint32 // size and, in the top bits, kind
	lastDelta  int32
	minDelta   uint32 // maxTime - minimum timestamp; minUnknown
}

// batchKind is what else is known of a batch.
type batchKind uint32

const (
	plainBatch  batchKind = 0
	opaqueBatch batchKind = 1 // see state.Batch.Opaque
	dataBatch   batchKind = 2 // of a transaction; its producer is in memPart.transactions
	markerBatch batchKind = 3 // the same, of a marker

	batchKindShift = 30 // batches of 1 GiB do not fit a log frame
)

func (r *batchRef) size() int32     { return int32(r.sizeKind & (1<<batchKindShift - 1)) }
func (r *batchRef) kind() batchKind { return batchKind(r.sizeKind >> batchKindShift) }

// minUnknown stands for a minimum that is unknown or too far from the maximum.
const minUnknown = math.MaxUint32

func (r *batchRef) end() int64 { return r.base + int64(r.lastDelta) + 1 }

func (r *batchRef) info(m *memtable) BatchInfo {
	i := BatchInfo{
		BaseOffset:   r.base,
		LastOffset:   r.base + int64(r.lastDelta),
		MinTimestamp: -1,
		MaxTimestamp: r.maxTime,
		LSN:          m.first + commitlog.LSN(r.lsnDelta),
		VisibleLSN:   m.first + commitlog.LSN(r.lsnDelta),
		AppendTime:   r.appendTime,
		SizeBytes:    r.size(),
		Opaque:       r.kind() == opaqueBatch,
	}
	if r.minDelta != minUnknown {
		i.MinTimestamp = r.maxTime - int64(r.minDelta)
	}
	return i
}

func newMemtable(first commitlog.LSN, open openTransactions) *memtable {
	return &memtable{first: first, last: first - 1, open: maps.Clone(open), parts: map[state.TopicPartition]*memPart{}}
}

// part returns tp's part, making it.
func (m *memtable) part(tp state.TopicPartition) *memPart {
	p := m.parts[tp]
	if p == nil {
		p = &memPart{}
		m.parts[tp] = p
	}
	return p
}

// add indexes a batch of entry lsn that lies at file/offset of the log. Those of
// transactions go through addBatch.
func (m *memtable) add(p *memPart, lsn commitlog.LSN, file, offset uint32, b *state.Batch, base int64, appendTime state.Millis, marker bool) {
	r := batchRef{
		base:       base,
		maxTime:    b.MaxTimestamp,
		appendTime: appendTime,
		lsnDelta:   uint32(lsn - m.first),
		file:       file,
		offset:     offset,
		sizeKind:   uint32(b.SizeBytes),
		lastDelta:  b.Records - 1,
		minDelta:   minUnknown,
	}
	switch {
	case marker:
		r.sizeKind |= uint32(markerBatch) << batchKindShift
	case b.Transactional:
		r.sizeKind |= uint32(dataBatch) << batchKindShift
	case b.Opaque:
		r.sizeKind |= uint32(opaqueBatch) << batchKindShift
	}
	if b.MinTimestamp >= 0 && b.MinTimestamp <= b.MaxTimestamp && b.MaxTimestamp-b.MinTimestamp < minUnknown {
		r.minDelta = uint32(b.MaxTimestamp - b.MinTimestamp)
	}
	p.refs = append(p.refs, r)
	p.bytes += int64(b.SizeBytes)
	m.payloadBytes += int64(b.SizeBytes)
	m.batches++
}

// lookedAt is where to note what was seen of tp's batches; nil when there are none.
func (m *memtable) lookedAt(tp state.TopicPartition) *lookedTimes {
	if p := m.parts[tp]; p != nil {
		return &p.looked
	}
	return nil
}

// refs of tp so far; nil when there are none.
func (m *memtable) refs(tp state.TopicPartition) []batchRef {
	if p := m.parts[tp]; p != nil {
		return p.refs
	}
	return nil
}

// findRef returns the index of the first batch that ends after offset.
func findRef(refs []batchRef, offset int64) int {
	return sort.Search(len(refs), func(i int) bool { return refs[i].end() > offset })
}

// findBase returns the index of the first batch that begins at or after offset.
func findBase(refs []batchRef, offset int64) int {
	return sort.Search(len(refs), func(i int) bool { return refs[i].base >= offset })
}
