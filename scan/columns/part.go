package columns

import (
	"context"
	"slices"
	"sync/atomic"

	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// part is what is known of one partition.
type part struct {
	set   *Set
	topic state.Topic // as it was first asked for
	tp    state.TopicPartition

	// inside holds one token: who has it may replace state, and what follows.
	inside chan struct{}
	state  atomic.Pointer[partState]

	loaded bool     // sealed was read from the files
	sealed []sealed // blocks in files, by offset, without overlaps
}

// partState is the blocks as of a snapshot, the newest that asked. Immutable.
//
// The blocks are disjoint, ascend, and cover [start, end). A block below stable holds decided
// records only and is right for every later snapshot with the same copy; one above is right as long as
// no transaction is committed that reaches into it.
type partState struct {
	lsn                commitlog.LSN
	copy               store.Copy
	start, stable, end int64
	list               []*block
}

func newPart(s *Set, t state.Topic, tp state.TopicPartition) *part {
	p := &part{set: s, topic: t, tp: tp, inside: make(chan struct{}, 1)}
	p.inside <- struct{}{}
	p.state.Store(&partState{})
	return p
}

func (p *part) enter(ctx context.Context) error {
	select {
	case <-p.inside:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *part) leave() { p.inside <- struct{}{} }

// seen is what a snapshot sees of a partition.
type seen struct {
	sn    *store.Snapshot
	bound state.Bounds
	copy  store.Copy
}

// covers says whether st is exactly as of the snapshot.
func (st *partState) covers(v *seen) bool {
	return st.lsn == v.sn.LSN() && st.copy == v.copy && st.start == v.bound.LogStart && st.end == v.bound.End
}

// older says whether v is older than st.
func (v *seen) older(st *partState) bool {
	return v.sn.LSN() < st.lsn || v.sn.LSN() == st.lsn && v.copy.ID < st.copy.ID
}

// cover returns blocks that hold exactly what the snapshot sees: those of the partition as far as they do,
// and others of the snapshot's own in the gaps. Blocks may reach beyond the snapshot's bounds.
func (p *part) cover(ctx context.Context, v *seen) ([]*block, error) {
	if st := p.state.Load(); st.covers(v) {
		return st.list, nil
	}
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	st := p.state.Load()
	if st.covers(v) {
		p.leave()
		return st.list, nil
	}
	if v.older(st) {
		p.leave()
		return p.coverOld(ctx, v, st)
	}
	defer p.leave()
	next, dead, err := p.advance(ctx, v, st)
	if err != nil {
		return nil, err
	}
	p.state.Store(next)
	p.set.cache.drop(dead)
	return next.list, nil
}

// coverOld covers a snapshot older than st.
func (p *part) coverOld(ctx context.Context, v *seen, st *partState) ([]*block, error) {
	var out []*block
	at, end := v.bound.LogStart, v.bound.End
	gap := func(to int64) error {
		if at >= to {
			return nil
		}
		cut, err := cutBlocks(ctx, p, v, at, to)
		for _, b := range cut {
			b.private = true
		}
		p.set.m.private.Add(float64(len(cut)))
		out = append(out, cut...)
		at = to
		return err
	}
	for _, b := range st.list {
		if b.end <= at || b.from >= end || !b.holds(v) {
			continue
		}
		if err := gap(b.from); err != nil {
			return nil, err
		}
		out = append(out, b)
		at = b.end
	}
	if err := gap(end); err != nil {
		return nil, err
	}
	return out, nil
}

// holds says whether b has what v sees of its offsets, as far as v's bounds go. b is of a later snapshot.
func (b *block) holds(v *seen) bool {
	if b.committed > v.sn.LSN() {
		return false // what was committed later is invisible in v
	}
	if b.copy == v.copy.ID && b.copy != 0 {
		return true
	}
	return b.copy == 0 && b.from >= v.copy.End
}

// advance brings st up to a later snapshot: drops what no longer holds, and cuts what came. dead are
// blocks that are no longer of use.
func (p *part) advance(ctx context.Context, v *seen, st *partState) (next *partState, dead []*block, err error) {
	list := st.list
	lose := func(keep []*block, lost ...*block) {
		list, dead = keep, append(dead, lost...)
	}
	// Commits may have reached into what was undecided.
	if st.stable < st.end {
		first, any, err := v.sn.CommittedSince(p.tp, st.lsn)
		if err != nil {
			return nil, nil, err
		}
		if any {
			i := blockAt(list, first)
			lose(list[:i:i], list[i:]...)
		}
	}
	// A new compacted copy takes the place of everything below its end.
	if v.copy != st.copy {
		i, _ := slices.BinarySearchFunc(list, max(v.copy.End, st.copy.End), func(b *block, end int64) int { return int(min(1, max(-1, b.from-end))) })
		lose(slices.Clone(list[i:]), list[:i]...)
	}
	// What lies below the log start is gone.
	if start := v.bound.LogStart; start > st.start {
		i := blockAt(list, start)
		rest := slices.Clone(list[i:])
		lose(rest, list[:i]...)
		if len(rest) > 0 && rest[0].from < start {
			dead = append(dead, rest[0])
			rest[0] = p.set.trim(rest[0], start)
		}
	}
	if !p.loaded {
		if tf := p.set.filesOf(p.topic); tf != nil {
			p.sealed = tf.sealedOf(p.tp.Partition)
		}
		p.loaded = true
	}
	next = &partState{lsn: v.sn.LSN(), copy: v.copy, start: v.bound.LogStart, stable: v.bound.LastStable, end: v.bound.End}
	at := next.start
	add := func(b *block) { next.list = append(next.list, b) }
	cut := func(from, to int64) error {
		cut, err := cutBlocks(ctx, p, v, from, to)
		for _, c := range cut {
			c.full = true // nothing joins it later
		}
		next.list = append(next.list, cut...)
		return err
	}
	for _, b := range list {
		if at < b.from {
			if at, err = p.fill(v, at, b.from, cut, add); err != nil {
				return nil, nil, err
			}
			if at < b.from {
				if err := cut(at, b.from); err != nil {
					return nil, nil, err
				}
			}
		}
		add(b)
		at = b.end
	}
	if at < next.end {
		if at, err = p.fill(v, at, next.end, cut, add); err != nil {
			return nil, nil, err
		}
	}
	if at < next.end {
		tail, gone, err := p.cutTail(ctx, v, next.list, at)
		if err != nil {
			return nil, nil, err
		}
		next.list, dead = tail, append(dead, gone...)
	}
	return next, dead, nil
}

// blockAt is the index of the first block that ends behind offset.
func blockAt(list []*block, offset int64) int {
	i, _ := slices.BinarySearchFunc(list, offset, func(b *block, o int64) int {
		if b.end > o {
			return 1
		}
		return -1
	})
	return i
}

// cutTail appends blocks for [at, end) to list. Blocks at its end that are not full are joined with what came, so that
// there are never more of them than powers of two in a full block; gone are those joined.
func (p *part) cutTail(ctx context.Context, v *seen, list []*block, at int64) (out, gone []*block, err error) {
	cut, err := cutBlocks(ctx, p, v, at, v.bound.End)
	if err != nil {
		return nil, nil, err
	}
	open := len(list)
	for open > 0 && !list[open-1].full {
		open--
	}
	// open.. are the tail so far, all of which fits one block if the first new one does.
	rows, bytes := 0, int64(0)
	for _, b := range list[open:] {
		rows += b.maxRows
		bytes += b.bytes
	}
	if len(cut) > 0 && open < len(list) && (cut[0].full || !p.set.fits(rows+cut[0].maxRows, bytes+cut[0].bytes)) {
		// Cut anew from where the tail began, so that blocks are as long as they may be.
		tail := list[open:]
		if cut, err = cutBlocks(ctx, p, v, tail[0].from, v.bound.End); err != nil {
			return nil, nil, err
		}
		if !cut[0].takeDonors(tail) {
			gone = tail
		}
		return append(list[:open:open], cut...), gone, nil
	}
	if len(cut) != 1 || cut[0].full {
		return append(list[:len(list):len(list)], cut...), nil, nil
	}
	b := cut[0]
	keep := len(list)
	for keep > open && list[keep-1].maxRows <= 2*b.maxRows {
		keep--
		b = join(list[keep], b)
	}
	if keep < len(list) && !b.takeDonors(list[keep:]) {
		gone = list[keep:]
	}
	return append(list[:keep:keep], b), gone, nil
}
