package exec

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// A pipeline is a scan with the filters and projections right above it. Its blocks are morsels:
// each goroutine has a worker, with evaluators and buffers of its own, that takes one block after
// another through all steps. The consumer keeps apart what belongs to which morsel where that matters.

// step transforms a batch; nil when no row is left.
type step interface {
	apply(b *Batch) (*Batch, error)
}

// pipeline is the plan of one.
type pipeline struct {
	scan  *Scan
	conds []Expr // of filters right above the scan
	steps []Node // what follows, from below
	nodes []Node // all of it, from the scan up
	extra []Expr // over the scan: rows for which one is not true are not wanted above
}

// pipelineOf is n as a pipeline, nil if it is none.
func pipelineOf(n Node) *pipeline {
	switch n := n.(type) {
	case *Scan:
		return &pipeline{scan: n, nodes: []Node{n}}
	case *Filter:
		p := pipelineOf(n.Child)
		if p == nil {
			return nil
		}
		p.nodes = append(p.nodes, n)
		if len(p.steps) == 0 {
			p.conds = append(p.conds, n.Cond)
		} else {
			p.steps = append(p.steps, n)
		}
		return p
	case *Project:
		p := pipelineOf(n.Child)
		if p == nil {
			return nil
		}
		p.nodes = append(p.nodes, n)
		p.steps = append(p.steps, n)
		return p
	}
	return nil
}

// source is the column of the scan that e, over the pipeline's rows, is. ok is false where it is none, or where leaving out a row
// in the scan could hide that a step fails for it.
func (p *pipeline) source(e Expr) (c Col, ok bool) {
	for i := len(p.steps) - 1; i >= 0; i-- {
		switch s := p.steps[i].(type) {
		case *Filter:
			if Fallible(s.Cond) {
				return c, false
			}
		case *Project:
			c, ok := e.(Col)
			if !ok || anyFallible(s.Exprs) {
				return c, false
			}
			e = s.Exprs[c.Index]
		}
	}
	c, ok = e.(Col)
	return c, ok
}

// morsels is a pipeline with its list of blocks.
type morsels struct {
	*pipeline
	run    *runner
	filter []conjunct
	needed []bool // columns that are used for more than the filter
	blocks []Block
	bound  *topBound // nil: every row may be wanted
	// synopses may answer a block without its rows; nil: they do not.
	synopses *synopses
	order    []int32 // in which blocks are visited; nil: as they are
	taken    atomic.Int64

	// How many of the blocks to be visited are on their way, see fetchAhead: the columns that are opened at first, and those
	// that only rows need that pass the filter; lateToo: some of those were opened.
	fetched, fetchedLate atomic.Int64
	lateToo              atomic.Bool
}

// limit has the scan leave out rows and blocks that t finds hopeless.
func (m *morsels) limit(t *topBound) {
	if t != nil {
		m.bound, m.order = t, t.order(m.scan, m.blocks)
	}
}

// take is the next block to visit, −1 after the last. Safe for concurrent use.
func (m *morsels) take() int {
	for {
		i := int(m.taken.Add(1) - 1)
		if i >= len(m.blocks) {
			return -1
		}
		m.fetchAhead(i)
		if m.order != nil {
			i = int(m.order[i])
		}
		if m.bound == nil || !m.bound.hopeless(i) {
			return i
		}
	}
}

// morsels lists the blocks of a pipeline. used is what its consumer computes of its rows; nil: it
// wants all columns.
func (r *runner) morsels(ctx context.Context, p *pipeline, used []Expr) (*morsels, error) {
	m := &morsels{pipeline: p, run: r, filter: conjuncts(slices.Concat([]Expr{p.scan.Filter}, p.conds, p.extra))}
	m.needed = p.needed(used)
	blocks, err := p.scan.Source.Blocks(ctx, p.scan.Table, p.scan.Columns, p.scan.Prune)
	if err != nil {
		return nil, err
	}
	m.blocks = prune(p.scan, m.filter, blocks)
	if s := r.stats[p.scan]; s != nil {
		s.Blocks, s.Pruned = int64(len(blocks)), int64(len(blocks)-len(m.blocks))
	}
	if p.scan.Reverse {
		if m.blocks, err = reversed(ctx, m.blocks); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// needed are the scan's columns that steps and the consumer use.
func (p *pipeline) needed(used []Expr) []bool {
	out := make([]bool, len(p.scan.Columns))
	if used == nil {
		for i := range out {
			out[i] = true
		}
	}
	for _, s := range p.steps {
		if project, ok := s.(*Project); ok { // what is above it uses its results
			used = project.Exprs
			clear(out)
			break
		}
	}
	for _, e := range used {
		for _, c := range columnsOf(e, nil) {
			out[c] = true
		}
	}
	return out
}

// rows is how many rows the blocks have at most.
func (m *morsels) rows() int {
	n := 0
	for _, b := range m.blocks {
		n += b.Rows()
	}
	return n
}

// worker carries morsels through the steps of a pipeline, for one goroutine.
type worker struct {
	m     *morsels
	cur   *blockCursor
	steps []step
}

func (m *morsels) worker() (*worker, error) {
	cur, err := newBlockCursor(m)
	if err != nil {
		return nil, err
	}
	w := &worker{m: m, cur: cur}
	schema := m.scan.Types
	for _, n := range m.steps {
		var s step
		switch n := n.(type) {
		case *Filter:
			s, err = newFilterStep(schema, []Expr{n.Cond})
		case *Project:
			s, err = newProjectStep(schema, n.Exprs)
		}
		if err != nil {
			return nil, err
		}
		if st := m.run.stats[n]; st != nil {
			s = &timedStep{step: s, stats: st}
		}
		w.steps = append(w.steps, s)
		schema = n.Schema()
	}
	return w, nil
}

// open starts morsel i.
func (w *worker) open(ctx context.Context, i int) error { return w.cur.open(ctx, w.m.blocks[i]) }

// next is the next batch of the morsel, nil after the last.
func (w *worker) next(ctx context.Context) (*Batch, error) {
	for {
		b, err := w.cur.next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if b, err = w.apply(b); b != nil || err != nil {
			return b, err
		}
	}
}

// apply takes a batch of the scan through the steps; nil when no row is left.
func (w *worker) apply(b *Batch) (*Batch, error) {
	for _, s := range w.steps {
		var err error
		if b, err = s.apply(b); b == nil || err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (w *worker) close() { w.cur.close() }

type timedStep struct {
	step  step
	stats *OperatorStats
}

func (t *timedStep) apply(b *Batch) (*Batch, error) {
	start := time.Now()
	b, err := t.step.apply(b)
	atomic.AddInt64(&t.stats.Nanos, int64(time.Since(start)))
	if b != nil {
		atomic.AddInt64(&t.stats.Rows, int64(b.Rows()))
	}
	return b, err
}

// streamOp yields a pipeline's rows in scan order: those of the first block as they come, since a Limit above may ask for no
// more, then those of several blocks ahead.
type streamOp struct {
	run    *runner
	p      *pipeline
	m      *morsels
	w      *worker
	at     int
	opened bool
	ahead  *readAhead
}

func (r *runner) stream(n Node) (operator, error) {
	return &streamOp{run: r, p: pipelineOf(n)}, nil
}

func (s *streamOp) next(ctx context.Context) (*Batch, error) {
	if s.ahead != nil {
		return s.ahead.next(ctx)
	}
	if s.m == nil {
		m, err := s.run.morsels(ctx, s.p, nil)
		if err != nil {
			return nil, err
		}
		w, err := m.worker()
		if err != nil {
			return nil, err
		}
		s.m, s.w = m, w
		m.fetchFirst()
	}
	for {
		if !s.opened {
			if s.at == len(s.m.blocks) {
				return nil, io.EOF
			}
			if s.at == 1 {
				if s.ahead = s.run.readAhead(ctx, s.m, s.at); s.ahead != nil {
					s.w.close()
					return s.ahead.next(ctx)
				}
			}
			if s.at > 0 {
				s.m.fetchAhead(s.at)
			}
			if err := s.w.open(ctx, s.at); err != nil {
				return nil, err
			}
			s.at++
			s.opened = true
		}
		b, err := s.w.next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		s.opened = false
	}
}

func (s *streamOp) close() {
	if s.ahead != nil {
		s.ahead.close()
	}
	if s.w != nil {
		s.w.close()
	}
}
