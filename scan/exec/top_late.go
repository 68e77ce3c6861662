package exec

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"millrace/scan"
)

// Of a topic's rows in order only the first are wanted, and of all others nothing but their keys is looked at. So a Sort with a limit of
// a pipeline's rows scans the keys alone; the rest is read for the rows that are kept, when they are known.

// At most lateRows kept rows are read at once, and lateFirst before it is known how long their texts are.
const (
	lateRows  = 256
	lateFirst = 16
)

// topLate reads the rows of a Sort with a limit by where they are.
type topLate struct {
	m     *morsels // the pipeline with all columns
	w     *worker
	which []int // its columns
	refs  []rowRef
	req   []int32
	enc   []byte
	rows  [][]byte
	next  int // of rows, what was not handed out yet
	most  int // how many to read at once
	held  holding
}

// rowRef is where a row is.
type rowRef struct {
	morsel, row uint32
	at          int // its place among those that are read together
}

// keysOnly is p without its projections, and keys over that; nil when rows cannot be read later: a projection could fail for one
// that is not kept, rows are numbered otherwise, or nothing else is read anyway.
func keysOnly(p *pipeline, keys []SortKey) (*pipeline, []SortKey) {
	if p.scan.Reverse {
		return nil, nil
	}
	own := slices.Clone(keys)
	for i := len(p.steps) - 1; i >= 0; i-- {
		s, ok := p.steps[i].(*Project)
		if !ok || anyFallible(s.Exprs) {
			return nil, nil
		}
		for k := range own {
			own[k].Expr = rebuilt(own[k].Expr, func(e Expr) (Expr, bool) {
				if c, ok := e.(Col); ok {
					return s.Exprs[c.Index], true
				}
				return nil, false
			})
		}
	}
	out := &pipeline{scan: p.scan, conds: p.conds, extra: p.extra, nodes: p.nodes[:1+len(p.conds)]}
	var used []Expr
	for _, k := range own {
		if Fallible(k.Expr) {
			return nil, nil
		}
		used = append(used, k.Expr)
	}
	if used == nil {
		return nil, nil
	}
	early, all := out.needed(used), p.needed(nil)
	for i := range all {
		if all[i] && !early[i] {
			return out, own
		}
	}
	return nil, nil
}

// newTopLate reads rows of m's blocks as p has them.
func newTopLate(m *morsels, p *pipeline) (*topLate, error) {
	own := &morsels{pipeline: p, run: m.run, filter: m.filter, needed: p.needed(nil), blocks: m.blocks}
	w, err := own.worker()
	if err != nil {
		return nil, err
	}
	t := &topLate{m: own, w: w, most: lateFirst, held: holding{account: &m.run.memory}}
	for i, n := range own.needed {
		if n {
			t.which = append(t.which, i)
		}
	}
	return t, nil
}

// placeOf is where the row of a key of a topSink is.
func placeOf(key []byte) (morsel, row uint32) {
	key = key[len(key)-8:]
	return binary.BigEndian.Uint32(key), binary.BigEndian.Uint32(key[4:])
}

// batch puts the rows of the first of items into out, and says of how many.
func (t *topLate) batch(ctx context.Context, items []topRow, out *rowBatch) (n int, err error) {
	if t.next == len(t.rows) {
		if err := t.read(ctx, items[:min(len(items), t.most)]); err != nil {
			return 0, err
		}
		t.next, t.most = 0, min(lateRows, max(1, batchBytes/(len(t.enc)/len(t.rows)+1)))
	}
	for ; t.next < len(t.rows) && !out.full(); t.next++ {
		out.add(t.rows[t.next])
		n++
	}
	return n, nil
}

// read encodes the rows of items, in their order.
func (t *topLate) read(ctx context.Context, items []topRow) error {
	t.refs, t.enc = t.refs[:0], t.enc[:0]
	for i, it := range items {
		morsel, row := placeOf(it.key)
		t.refs = append(t.refs, rowRef{morsel, row, i})
	}
	slices.SortFunc(t.refs, func(a, b rowRef) int {
		return cmp.Or(cmp.Compare(a.morsel, b.morsel), cmp.Compare(a.row, b.row))
	})
	t.rows = append(t.rows[:0], make([][]byte, len(items))...)
	defer t.w.cur.close()
	t.fetch()
	for refs := t.refs; len(refs) > 0; {
		n := 1
		for n < len(refs) && refs[n].morsel == refs[0].morsel {
			n++
		}
		if err := t.block(ctx, refs[:n]); err != nil {
			return err
		}
		refs = refs[n:]
	}
	return nil
}

// fetch begins to fetch the rows of refs.
func (t *topLate) fetch() {
	cols := make([]scan.Column, 0, len(t.which))
	for _, i := range t.which {
		cols = append(cols, t.m.scan.Columns[i])
	}
	for refs := t.refs; len(refs) > 0; {
		r, n := refs[0], 1
		from := int(r.row) / chunkRows * chunkRows
		for n < len(refs) && refs[n].morsel == r.morsel && int(refs[n].row) < from+chunkRows {
			n++
		}
		if b, ok := t.m.blocks[r.morsel].(Fetcher); ok {
			b.WillNeed(cols, from, int(refs[n-1].row)+1)
		}
		refs = refs[n:]
	}
}

// block reads rows of one block.
func (t *topLate) block(ctx context.Context, refs []rowRef) error {
	c := t.w.cur
	c.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	c.block = t.m.blocks[refs[0].morsel]
	c.opened, c.fetched, c.late = false, 0, append(c.late[:0], t.which...)
	for len(refs) > 0 {
		from := int(refs[0].row) / chunkRows * chunkRows
		n := 0
		t.req = t.req[:0]
		for n < len(refs) && int(refs[n].row) < from+chunkRows {
			t.req = append(t.req, int32(int(refs[n].row)-from))
			n++
		}
		b := &c.batch
		to := from + int(t.req[n-1]) + 1
		b.Len, b.Sel = to-from, t.req
		fetched, err := c.fetch(ctx, from, to)
		if err != nil {
			return err
		}
		if !fetched {
			if !c.opened {
				if _, _, err := c.columns(ctx, t.which); err != nil {
					return err
				}
				c.opened = true
			}
			c.slice(t.which, from, to)
		}
		if err := t.encode(b, refs[:n]); err != nil {
			return err
		}
		refs = refs[n:]
	}
	return nil
}

// encode carries rows through the projections and keeps them.
func (t *topLate) encode(b *Batch, refs []rowRef) (err error) {
	for _, s := range t.w.steps {
		if b, err = s.apply(b); err != nil {
			return err
		}
	}
	for k, i := range b.rows() {
		start := len(t.enc)
		t.enc = appendRow(t.enc, b.Cols, int(i))
		t.rows[refs[k].at] = t.enc[start:len(t.enc):len(t.enc)]
	}
	return t.held.set(int64(cap(t.enc)))
}

func (t *topLate) close() {
	t.w.close()
	_ = t.held.set(0) // giving back does not fail
}
