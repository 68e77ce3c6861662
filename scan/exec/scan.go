package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"millrace/internal/vector"
	"millrace/scan"
)

// blockCursor reads blocks chunk by chunk, for one goroutine. The columns of the filter are opened
// first, the others once a row passed it.
type blockCursor struct {
	m       *morsels
	filter  *filterStep
	proven  []bool  // by conjunct: every row of the block passes
	bounded []int32 // rows that pass the bound
	given   []int   // columns of which rows that pass the filter have no NULL
	early   []int   // columns of the filter, in this block
	late    []int
	isEarly []bool
	stats   *OperatorStats
	merged  []*OperatorStats // of the filters above the scan that are in the scan's

	block    Block
	cols     []*vector.Vector // by column; nil until opened
	from, to int
	at       int
	opened   bool // the late columns, too
	fetched  int  // rows whose late columns were read on their own
	releases []func()
	batch    Batch
	reverse  reverser
	req      []scan.Column
}

func newBlockCursor(m *morsels) (*blockCursor, error) {
	s := m.scan
	c := &blockCursor{m: m, stats: m.run.stats[s], cols: make([]*vector.Vector, len(s.Columns))}
	c.batch.Cols = make([]vector.Vector, len(s.Columns))
	c.proven, c.isEarly = make([]bool, len(m.filter)), make([]bool, len(s.Columns))
	for _, n := range m.nodes[1 : 1+len(m.conds)] {
		if st := m.run.stats[n]; st != nil {
			c.merged = append(c.merged, st)
		}
	}
	for _, cond := range m.filter {
		c.given = append(c.given, cond.given...)
	}
	var err error
	c.filter, err = newConjunctStep(s.Types, m.filter)
	return c, err
}

// plan decides which conditions and columns matter in the block.
func (c *blockCursor) plan() {
	clear(c.isEarly)
	f := factsOf(c.m.scan, c.block)
	for i, cond := range c.m.filter {
		if c.proven[i] = f.passes(cond); c.proven[i] {
			continue
		}
		for _, col := range cond.cols {
			c.isEarly[col] = true
		}
	}
	c.filter.skip(c.proven)
	if c.m.bound != nil {
		c.isEarly[c.m.bound.col] = true
	}
	c.early, c.late = c.early[:0], c.late[:0]
	for i, early := range c.isEarly {
		switch {
		case early:
			c.early = append(c.early, i)
		case c.m.needed[i]:
			c.late = append(c.late, i)
		}
	}
	if len(c.early) == 0 {
		c.early, c.late = c.late, c.early
	}
}

// open starts block b.
func (c *blockCursor) open(ctx context.Context, b Block) error {
	c.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	c.block = b
	c.plan()
	c.opened, c.fetched = len(c.late) == 0, 0
	from, to, err := c.columns(ctx, c.early)
	if err != nil {
		return err
	}
	c.from, c.to = from, to
	if c.at = from; c.m.scan.Reverse {
		c.at = to
	}
	if c.stats != nil {
		atomic.AddInt64(&c.stats.RowsScanned, int64(to-from))
	}
	return nil
}

// columns opens columns of the block.
func (c *blockCursor) columns(ctx context.Context, which []int) (from, to int, err error) {
	start := time.Now()
	s := c.m.scan
	c.req = c.req[:0]
	for _, i := range which {
		c.req = append(c.req, s.Columns[i])
	}
	vecs, from, to, release, err := c.block.Open(ctx, c.req)
	if err != nil {
		return 0, 0, err
	}
	if release != nil {
		c.releases = append(c.releases, release)
	}
	if len(vecs) != len(which) || from < 0 || from > to || to > c.block.Rows() {
		return 0, 0, fmt.Errorf("exec: a block gave %d columns of %d and rows [%d, %d) of %d",
			len(vecs), len(which), from, to, c.block.Rows())
	}
	for k, i := range which {
		v, t := vecs[k], s.Types[i]
		if v.Kind != t.Kind || decimalKind(t.Kind) && v.Scale != t.Scale || v.Len < to {
			return 0, 0, fmt.Errorf("exec: column %s is of kind %d, scale %d, %d rows; wanted %v and %d",
				s.Columns[i].Name(s.Table), v.Kind, v.Scale, v.Len, t, to)
		}
		c.cols[i] = v
		if c.stats != nil {
			atomic.AddInt64(&c.stats.BytesOpened, sizeOf(v))
		}
	}
	if c.stats != nil {
		atomic.AddInt64(&c.stats.Nanos, int64(time.Since(start)))
	}
	return from, to, nil
}

// next is the next chunk of the block with a row, nil after the last.
func (c *blockCursor) next(ctx context.Context) (*Batch, error) {
	for {
		from, to := c.at, c.at
		if c.m.scan.Reverse {
			if from == c.from {
				return nil, nil
			}
			from = max(c.from, (to-1)/chunkRows*chunkRows)
			c.at = from
		} else {
			if from == c.to {
				return nil, nil
			}
			to = min(c.to, (from/chunkRows+1)*chunkRows)
			c.at = to
		}
		b := &c.batch
		b.Len, b.Sel, b.from = to-from, nil, from
		c.slice(c.early, from, to)
		sel, err := c.filter.rows(b)
		if err != nil {
			return nil, err
		}
		for _, i := range c.given {
			b.Cols[i].Valid, b.Cols[i].Nulls = nil, 0
		}
		if c.m.bound != nil && len(sel) > 0 {
			if len(sel) == b.Len {
				sel = nil
			}
			sel = c.m.bound.pick(b, sel, grown(&c.bounded, chunkRows))
		}
		if len(sel) == 0 {
			continue
		}
		if len(sel) < b.Len {
			b.Sel = sel
		}
		fetched, err := c.fetch(ctx, from, to)
		if err != nil {
			return nil, err
		}
		if !c.opened && !fetched {
			c.m.needLate()
			f, t, err := c.columns(ctx, c.late)
			if err != nil {
				return nil, err
			}
			if f != c.from || t != c.to {
				return nil, fmt.Errorf("exec: a block has rows [%d, %d) in some columns and [%d, %d) in others",
					c.from, c.to, f, t)
			}
			c.opened = true
		}
		if !fetched {
			c.slice(c.late, from, to)
		}
		if c.stats != nil {
			atomic.AddInt64(&c.stats.Rows, int64(b.Rows()))
			for _, st := range c.merged {
				atomic.AddInt64(&st.Rows, int64(b.Rows()))
			}
		}
		if c.m.scan.Reverse {
			return c.reverse.apply(b), nil
		}
		return b, nil
	}
}

// fewRows is of how many rows of a block the late columns are read row by row, where the block can: reading a row
// costs as much as some thousand rows of a column do.
const fewRows = 16

// fetch reads the late columns of the batch's few rows alone; false when all of the block's are to be opened.
func (c *blockCursor) fetch(ctx context.Context, from, to int) (bool, error) {
	rr, ok := c.block.(RowReader)
	b := &c.batch
	if !ok || c.opened || b.Sel == nil || c.fetched+len(b.Sel) > fewRows {
		return false, nil
	}
	c.req = c.req[:0]
	for _, i := range c.late {
		c.req = append(c.req, c.m.scan.Columns[i])
	}
	vecs, ok, err := rr.OpenRows(ctx, c.req, from, to, b.Sel)
	if err != nil || !ok {
		return false, err
	}
	c.fetched += len(b.Sel)
	for k, i := range c.late {
		v, t := vecs[k], c.m.scan.Types[i]
		if v.Kind != t.Kind || decimalKind(t.Kind) && v.Scale != t.Scale || v.Len != to-from {
			return false, fmt.Errorf("exec: column %s of single rows is of kind %d, scale %d, %d rows; wanted %v and %d",
				c.m.scan.Columns[i].Name(c.m.scan.Table), v.Kind, v.Scale, v.Len, t, to-from)
		}
		b.Cols[i] = *v
	}
	return true, nil
}

func (c *blockCursor) slice(which []int, from, to int) {
	for _, i := range which {
		c.batch.Cols[i] = c.cols[i].Slice(from, to)
	}
}

// close gives the block's vectors back.
func (c *blockCursor) close() {
	for _, release := range c.releases {
		release()
	}
	c.releases = c.releases[:0]
	clear(c.cols)
	clear(c.batch.Cols)
	c.block = nil
}

// sizeOf is how many bytes v's values take.
func sizeOf(v *vector.Vector) int64 {
	n := len(v.Int8) + 2*len(v.Int16) + 4*len(v.Int32) + 8*(len(v.Int64)+len(v.Uint64)+len(v.Float64)+len(v.Valid)) +
		16*len(v.Dec128) + 32*len(v.Dec256) + len(v.Code8) + 2*len(v.Code16) + 4*(len(v.Code32)+len(v.Offsets)) + len(v.Bytes)
	if v.Dict != nil {
		n += 4*len(v.Dict.Offsets) + len(v.Dict.Bytes)
	}
	return int64(n)
}

// reverser turns the rows of a batch round.
type reverser struct {
	cols  []column
	order []int32
	out   Batch
}

func (r *reverser) apply(b *Batch) *Batch {
	if r.cols == nil {
		r.cols = make([]column, len(b.Cols))
		r.out.Cols = make([]vector.Vector, len(b.Cols))
	}
	rows := b.rows()
	order := grown(&r.order, len(rows))
	for i, row := range rows {
		order[len(rows)-1-i] = row
	}
	for i := range b.Cols {
		r.out.Cols[i] = *r.cols[i].gather(&b.Cols[i], order)
	}
	r.out.Len = len(rows)
	return &r.out
}

// reversed puts the blocks of each partition in descending order; partitions stay ascending.
func reversed(ctx context.Context, blocks []Block) ([]Block, error) {
	out := make([]Block, 0, len(blocks))
	parts := make([]int64, len(blocks))
	for i, b := range blocks {
		p, err := partitionOf(ctx, b)
		if err != nil {
			return nil, err
		}
		parts[i] = p
	}
	for i := 0; i < len(blocks); {
		j := i
		for j < len(blocks) && parts[j] == parts[i] {
			j++
		}
		for k := j - 1; k >= i; k-- {
			out = append(out, blocks[k])
		}
		i = j
	}
	return out, nil
}

// partitionOf is the partition of a block's rows.
func partitionOf(ctx context.Context, b Block) (int64, error) {
	col := scan.Column{Kind: scan.Partition}
	if s, ok := b.Stats(col); ok && s.HasMin && s.HasMax && s.Min.Int == s.Max.Int {
		return s.Min.Int, nil
	}
	vecs, from, to, release, err := b.Open(ctx, []scan.Column{col})
	if err != nil {
		return 0, err
	}
	if release != nil {
		defer release()
	}
	if from == to {
		return -1, nil
	}
	return vecs[0].Int(from), nil
}
