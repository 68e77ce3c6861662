package exec

import "millrace/scan"

// aheadBlocks is how many blocks before it is opened a block's columns are fetched: enough that the disk is busy while
// a block is computed, few enough that what is fetched is not pushed out again before it is read. Of blocks that soon may
// turn out to be hopeless fewer are.
const (
	aheadBlocks  = 8
	aheadOfBound = 2
)

// fetchAhead begins to fetch the blocks behind the one at place at of those to be visited. Safe for concurrent use.
func (m *morsels) fetchAhead(at int) {
	ahead := aheadBlocks
	if m.bound != nil {
		ahead = aheadOfBound
	}
	for {
		k := m.fetched.Load()
		if k >= int64(min(len(m.blocks), at+1+ahead)) {
			return
		}
		if !m.fetched.CompareAndSwap(k, k+1) {
			continue
		}
		i := int(k)
		if m.order != nil {
			i = int(m.order[i])
		}
		if m.bound == nil || !m.bound.hopeless(i) {
			m.willNeed(i)
		}
	}
}

// fetchFirst fetches the first block alone: whoever reads it may ask for no more rows than it has.
func (m *morsels) fetchFirst() {
	if len(m.blocks) > 0 {
		m.fetched.Store(1)
		m.willNeed(0)
	}
}

// willNeed fetches the columns of block i that will be opened, as far as can be said: those of the filter, and the others when
// those of an earlier block were needed.
func (m *morsels) willNeed(i int) {
	b, ok := m.blocks[i].(Fetcher)
	if !ok || m.synopses != nil && m.synopses.willNeed(m.blocks[i]) {
		return
	}
	which := make([]bool, len(m.scan.Columns))
	some := false
	f := blockFacts{m.scan, m.blocks[i]}
	for _, cond := range m.filter {
		if f.passes(cond) {
			continue
		}
		for _, c := range cond.cols {
			which[c], some = true, true
		}
	}
	if m.bound != nil {
		which[m.bound.col], some = true, true
	}
	if !some || m.lateToo.Load() {
		for c, needed := range m.needed {
			which[c] = which[c] || needed
		}
	}
	var cols []scan.Column
	for c, w := range which {
		if w {
			cols = append(cols, m.scan.Columns[c])
		}
	}
	b.WillNeed(cols, 0, m.blocks[i].Rows())
}
