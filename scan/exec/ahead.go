package exec

import (
	"sync/atomic"

	"millrace/scan"
)

// aheadBlocks is how many blocks before it is opened a block's columns are fetched: enough that the disk is busy while
// a block is computed, few enough that what is fetched is not pushed out again before it is read. Of blocks that soon may
// turn out to be hopeless fewer are.
const (
	aheadBlocks  = 8
	aheadOfBound = 2
)

// fetchAhead begins to fetch the blocks from the one at place at of those to be visited on: the columns of the filter, and the others
// once those of a block were needed. Safe for concurrent use.
func (m *morsels) fetchAhead(at int) {
	m.fetchColumns(&m.fetched, at, false)
	if m.lateToo.Load() {
		m.fetchColumns(&m.fetchedLate, at, true)
	}
}

// needLate notes that columns are needed that are opened late, and fetches those of the blocks that no worker has taken yet.
func (m *morsels) needLate() {
	if taken := m.taken.Load(); !m.lateToo.Swap(true) && taken > 0 { // of a stream none is taken
		m.fetchAhead(int(taken))
	}
}

// fetchColumns is fetchAhead of the columns that are opened at first, or of those that are opened late, which were fetched of the
// blocks before place done.
func (m *morsels) fetchColumns(done *atomic.Int64, at int, late bool) {
	ahead := aheadBlocks
	if m.bound != nil {
		ahead = aheadOfBound
	}
	for {
		was := done.Load()
		k := max(was, int64(at))
		if k >= int64(min(len(m.blocks), at+1+ahead)) {
			return
		}
		if !done.CompareAndSwap(was, k+1) {
			continue
		}
		i := int(k)
		if m.order != nil {
			i = int(m.order[i])
		}
		if m.bound == nil || !m.bound.hopeless(i) {
			m.willNeed(i, late)
		}
	}
}

// fetchFirst fetches the first block alone: whoever reads it may ask for no more rows than it has.
func (m *morsels) fetchFirst() {
	if len(m.blocks) > 0 {
		m.fetched.Store(1)
		m.willNeed(0, false)
	}
}

// willNeed fetches the columns of block i that will be opened at first, or late, as blockCursor.plan has it.
func (m *morsels) willNeed(i int, late bool) {
	b, ok := m.blocks[i].(Fetcher)
	if !ok || m.synopses != nil && m.synopses.willNeed(m.blocks[i]) {
		return
	}
	first := make([]bool, len(m.scan.Columns))
	some := false
	f := factsOf(m.scan, m.blocks[i])
	for _, cond := range m.filter {
		if f.passes(cond) {
			continue
		}
		for _, c := range cond.cols {
			first[c], some = true, true
		}
	}
	if m.bound != nil {
		first[m.bound.col], some = true, true
	}
	if !some {
		copy(first, m.needed)
	}
	var cols []scan.Column
	for c, isFirst := range first {
		if isFirst != late && (isFirst || m.needed[c]) {
			cols = append(cols, m.scan.Columns[c])
		}
	}
	if len(cols) > 0 {
		b.WillNeed(cols, 0, m.blocks[i].Rows())
	}
}
