package columns

import (
	"context"
	"fmt"
	"sync/atomic"

	"millrace/scan/exec"
	"millrace/store/commitlog"
	"millrace/store/state"
)

const (
	defaultBlockBytes = 64 << 20
	// Blocks of wide records, on average, have less: of those each goroutine holds the values several times over, in batches, in
	// columns and in rows, and a block costs little beside them. With more, queries take more memory; with less, blocks have
	// few rows.
	wideBlockBytes  = 8 << 20
	wideRecordBytes = 16 << 10
)

// mostBytes is how many bytes a block of so many rows and bytes may have.
func (s *Set) mostBytes(rows int, bytes int64) int64 {
	if bytes >= int64(rows)*wideRecordBytes {
		return min(s.o.BlockBytes, wideBlockBytes)
	}
	return s.o.BlockBytes
}

// fits says whether a block may have so many rows and bytes.
func (s *Set) fits(rows int, bytes int64) bool {
	return rows <= s.o.BlockRows && bytes <= s.mostBytes(rows, bytes)
}

// block is a run of offsets of a partition. What stands first is immutable.
type block struct {
	p         *part
	from, end int64 // offsets
	maxRows   int   // records there may be
	bytes     int64 // of the batches, as stored
	dense     bool  // every offset is a row
	full      bool  // nothing is joined to its end; set later only with the part's token
	copy      uint64
	// committed is the highest LSN of a commit that made one of its batches visible; 0: none was
	// in a transaction.
	committed commitlog.LSN
	// minTime and maxTime are of all its records if timed.
	minTime, maxTime state.Millis
	timed            bool

	file atomic.Pointer[sealed] // where its columns are, behind others maybe; nil: nowhere

	singles atomic.Int64 // rows that were read on their own

	// building holds one token: who has it makes columns.
	building chan struct{}

	// Guarded by the cache's mutex.
	private bool // columns go with their last use
	columns map[string]*column
	stats   map[string]exec.Stats // of columns that were made once
	rows    int                   // there are; -1: not known yet
	donors  []*block              // smaller blocks at its front that may have columns
	noted   *noted                // what was last counted of its rows
}

// noted is what somebody counted of a block's rows.
type noted struct {
	of     string
	counts []int64
}

func newBlock(p *part, from, end int64) *block {
	b := &block{p: p, from: from, end: end, rows: -1, building: make(chan struct{}, 1)}
	b.building <- struct{}{}
	return b
}

func (b *block) String() string {
	return fmt.Sprintf("%s-%d [%d,%d)", b.p.tp.Topic, b.p.tp.Partition, b.from, b.end)
}

// join makes the block of two neighbours.
func join(x, y *block) *block {
	b := newBlock(x.p, x.from, y.end)
	b.maxRows = x.maxRows + y.maxRows
	b.bytes = x.bytes + y.bytes
	b.dense = x.dense && y.dense
	b.full = y.full || b.maxRows == x.p.set.o.BlockRows
	b.copy = x.copy
	b.committed = max(x.committed, y.committed)
	b.timed = x.timed && y.timed
	b.minTime, b.maxTime = min(x.minTime, y.minTime), max(x.maxTime, y.maxTime)
	if b.dense {
		b.rows = b.maxRows
	}
	return b
}

// trim makes the block of b's offsets from start on.
func (s *Set) trim(b *block, start int64) *block {
	t := newBlock(b.p, start, b.end)
	t.maxRows = int(min(int64(b.maxRows), b.end-start))
	t.bytes, t.dense, t.full, t.copy, t.committed = b.bytes, b.dense, b.full, b.copy, b.committed
	t.minTime, t.maxTime, t.timed = b.minTime, b.maxTime, b.timed
	if x := b.file.Load(); x != nil && b.dense {
		t.file.Store(x)
	}
	if t.dense {
		t.rows = t.maxRows
	}
	return t
}

// takeDonors lets b use the columns of blocks that it takes the place of; false when they are not its front.
func (b *block) takeDonors(donors []*block) bool {
	if donors[len(donors)-1].end > b.end || donors[0].from != b.from {
		return false
	}
	c := b.p.set.cache
	c.mu.Lock()
	b.donors = withColumns(donors)
	c.mu.Unlock()
	return true
}

// withColumns puts in the place of each block that has no columns those that it could have taken some from. Under the
// cache's mutex.
func withColumns(donors []*block) []*block {
	var out []*block
	for _, d := range donors {
		d.donors = withColumns(d.donors)
		if len(d.columns) > 0 {
			out = append(out, d)
		} else {
			out = append(out, d.donors...)
			d.donors = nil
		}
	}
	return out
}

// skip is how many rows of the file's block x lie before b. Only dense blocks are cut.
func (b *block) skip(x *sealed) int { return int(b.from - x.block().From) }

func (b *block) enter(ctx context.Context) error {
	select {
	case <-b.building:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *block) leave() { b.building <- struct{}{} }

// keepStats notes a column's bounds. Under the cache's mutex.
func (b *block) keepStats(key string, st exec.Stats) {
	if b.stats == nil {
		b.stats = map[string]exec.Stats{}
	}
	b.stats[key] = st
}
