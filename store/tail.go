package store

import (
	"sort"
	"sync"

	"millrace/store/commitlog"
)

// tailFrameOverhead is charged per cached frame, so that many tiny frames stay
// within the bound too: the frame, its payload slice headers and allocator slack.
const tailFrameOverhead = 160

// tailCache keeps the payload of the most recent entries in memory, oldest
// evicted first. What it holds are the submitted slices themselves: nothing
// writes to them any more, so readers may keep what they got for ever.
type tailCache struct {
	limit int64

	mu     sync.RWMutex
	first  commitlog.LSN // LSN of frames[head]
	frames []tailFrame   // frames[head:], one per LSN without gaps
	head   int
	bytes  int64
}

type tailFrame struct {
	offset  uint32 // where the payload begins in its log file
	bytes   int64
	payload [][]byte // nil for an entry without batches
	starts  []uint32 // for entries of many batches: where each begins, from offset on
}

// manyBatches is from where on a frame gets a table of batch positions.
const manyBatches = 16

// push adds the entries after the last pushed one; LSNs must be consecutive,
// otherwise the cache starts again.
func (t *tailCache) push(batch []*slot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, sl := range batch {
		if sl.err != nil || sl.entry == nil {
			continue
		}
		if n := len(t.frames) - t.head; n == 0 || t.first+commitlog.LSN(n) != sl.lsn {
			t.frames, t.head, t.bytes, t.first = t.frames[:0], 0, 0, sl.lsn
		}
		f := tailFrame{offset: sl.loc.Offset, payload: sl.payload, bytes: tailFrameOverhead}
		for _, b := range sl.payload {
			f.bytes += int64(len(b))
		}
		if len(sl.payload) >= manyBatches {
			f.starts = make([]uint32, len(sl.payload))
			at := uint32(0)
			for i, b := range sl.payload {
				f.starts[i] = at
				at += uint32(len(b))
			}
		}
		t.frames = append(t.frames, f)
		t.bytes += f.bytes
	}
	for t.bytes > t.limit && t.head < len(t.frames) {
		t.bytes -= t.frames[t.head].bytes
		t.frames[t.head] = tailFrame{}
		t.head++
		t.first++
	}
	if t.head > 1024 && t.head*2 > len(t.frames) {
		n := copy(t.frames, t.frames[t.head:])
		clear(t.frames[n:])
		t.frames, t.head = t.frames[:n], 0
	}
}

// get returns the batch of entry lsn that begins at offset of its log file, or
// nil when it is not cached.
func (t *tailCache) get(lsn commitlog.LSN, offset uint32) []byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if lsn < t.first || lsn-t.first >= commitlog.LSN(len(t.frames)-t.head) {
		return nil
	}
	f := &t.frames[t.head+int(lsn-t.first)]
	rel := offset - f.offset
	if f.starts != nil {
		i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] >= rel })
		if i < len(f.starts) && f.starts[i] == rel {
			return f.payload[i]
		}
		return nil
	}
	for _, b := range f.payload {
		if rel == 0 {
			return b
		}
		rel -= uint32(len(b))
	}
	return nil
}

func (t *tailCache) size() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bytes
}
