package exec

import (
	"context"
	"hash/maphash"
	"io"
)

// A fragment is a pipeline with filters, projections and joins above it, the joins probed by it: like a
// pipeline it can be worked on block by block, by many goroutines. Each has operators of its own over
// the joins' tables, which are built once.
type fragment struct {
	p     *pipeline
	above []Node // from below
	sides map[*Join]*joinSide
}

// fragmentOf is n as a fragment, nil if it is none. It builds the joins' tables; scan.ErrMemory if they do not fit.
func (r *runner) fragmentOf(ctx context.Context, n Node) (*fragment, error) {
	if p := pipelineOf(n); p != nil {
		return &fragment{p: p, sides: map[*Join]*joinSide{}}, nil
	}
	if !fragmentary(n) {
		return nil, nil
	}
	switch n := n.(type) {
	case *Filter:
		return r.below(ctx, n, n.Child)
	case *Project:
		return r.below(ctx, n, n.Child)
	case *Join:
		side, err := r.joinSide(ctx, n, part{}, maphash.Seed{})
		if err != nil {
			return nil, err
		}
		other, keys := side.probing(n)
		f, err := r.below(ctx, n, other)
		if err != nil {
			side.close()
			return nil, err
		}
		if n.Kind == Inner || n.Kind == Semi {
			f.dropNulls(keys)
		}
		f.sides[n] = side
		return f, nil
	}
	return nil, nil
}

// dropNulls has the scan leave out rows with NULL in one of the keys of the join right above it, which match nothing.
func (f *fragment) dropNulls(keys []Expr) {
	if len(f.above) > 1 {
		return
	}
	for _, k := range keys {
		if c, ok := f.p.source(k); ok {
			f.p.extra = append(f.p.extra, Not{IsNull{c}})
		}
	}
}

func (r *runner) below(ctx context.Context, n, child Node) (*fragment, error) {
	f, err := r.fragmentOf(ctx, child)
	if err != nil {
		return nil, err
	}
	f.above = append(f.above, n)
	return f, nil
}

// fragmentary says whether fragmentOf can make a fragment of n, whichever sides of its joins are built.
func fragmentary(n Node) bool {
	switch n := n.(type) {
	case *Filter:
		return fragmentary(n.Child)
	case *Project:
		return fragmentary(n.Child)
	case *Join:
		return fragmentary(n.Left) && (n.Kind != Inner || fragmentary(n.Right))
	}
	return pipelineOf(n) != nil
}

func (f *fragment) close() {
	for _, s := range f.sides {
		s.close()
	}
}

// worker is a morsel's way through the fragment, for one goroutine.
func (f *fragment) worker(r *runner, m *morsels) (*fragmentWorker, error) {
	w, err := m.worker()
	if err != nil {
		return nil, err
	}
	fw := &fragmentWorker{src: &morselOp{w: w}}
	fw.top = fw.src
	schema := f.p.nodes[len(f.p.nodes)-1].Schema()
	for _, n := range f.above {
		op := fw.top
		switch n := n.(type) {
		case *Filter:
			s, err := newFilterStep(schema, []Expr{n.Cond})
			if err != nil {
				return nil, err
			}
			fw.top = &stepOp{child: op, step: s}
		case *Project:
			s, err := newProjectStep(schema, n.Exprs)
			if err != nil {
				return nil, err
			}
			fw.top = &stepOp{child: op, step: s}
		case *Join:
			j := &joinOp{run: r, n: n, probe: op}
			if err := j.start(f.sides[n]); err != nil {
				return nil, err
			}
			fw.top = j
		}
		if st := r.stats[n]; st != nil {
			fw.top = &timed{op: fw.top, stats: st}
		}
		schema = n.Schema()
	}
	return fw, nil
}

type fragmentWorker struct {
	src *morselOp
	top operator
}

// morselOp yields the batches of one morsel, or one that is given in its place.
type morselOp struct {
	w     *worker
	given *Batch
	alone bool // nothing but what is given
}

func (o *morselOp) next(ctx context.Context) (b *Batch, err error) {
	switch {
	case !o.alone:
		b, err = o.w.next(ctx)
	case o.given != nil:
		b, err = o.w.apply(o.given)
		o.given = nil
	}
	if b == nil && err == nil {
		err = io.EOF
	}
	return b, err
}

func (o *morselOp) close() { o.w.close() }

// work takes morsels until there are none.
func (w *fragmentWorker) work(ctx context.Context, m *morsels, s sink) error {
	defer w.top.close()
	for {
		i := m.take()
		if i < 0 {
			return nil
		}
		if err := s.begin(i); err != nil {
			return err
		}
		known := false
		if b, ok := s.(blockSink); ok {
			var err error
			if known, err = b.block(ctx, i, w); err != nil {
				return err
			}
		}
		if !known {
			if err := w.src.w.open(ctx, i); err != nil {
				return err
			}
			if err := w.each(ctx, s.add); err != nil {
				return err
			}
		}
		if err := s.end(i); err != nil {
			return err
		}
	}
}

// each calls f with what comes out.
func (w *fragmentWorker) each(ctx context.Context, f func(*Batch) error) error {
	for {
		b, err := w.top.next(ctx)
		if done(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// feed calls f with what comes out of one batch of the scan, which has origins.
func (w *fragmentWorker) feed(ctx context.Context, b *Batch, f func(*Batch) error) error {
	w.src.given, w.src.alone = b, true
	defer func() { w.src.given, w.src.alone = nil, false }()
	return w.each(ctx, f)
}
