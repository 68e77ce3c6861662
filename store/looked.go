package store

import (
	"sync"
	"sync/atomic"

	"millrace/store/state"
)

// looked is what somebody found who walked all records of a batch.
type looked struct {
	min, max state.Millis
	maxAt    int64 // offset of the first record with max
	// exact: every record was decoded, and none lacks its timestamp. Otherwise min and
	// max are how the lookups by time count the batch (see OffsetForTime), and nobody
	// else may leave it out for them.
	exact bool
}

// lookedTimes keeps what was found out about the unsealed batches of one partition that
// came without their times, so that only the first who asks pays for decompressing them.
// Sealing writes the times down for good. Safe for concurrent use; the zero value is
// empty.
type lookedTimes struct {
	n  atomic.Int64 // len(at): readers that nobody preceded need not lock
	mu sync.RWMutex
	at map[int64]looked // by base offset; at most one per batch of the memtable

	// walking is held by who looks into a batch: who asks for the same meanwhile waits
	// for the answer instead of decompressing it as well.
	walking sync.Mutex
}

func (l *lookedTimes) get(base int64) (looked, bool) {
	if l == nil || l.n.Load() == 0 {
		return looked{}, false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	t, ok := l.at[base]
	return t, ok
}

func (l *lookedTimes) put(base int64, t looked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[int64]looked{}
	}
	l.at[base] = t
	l.n.Store(int64(len(l.at)))
}
