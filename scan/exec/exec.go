package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"millrace/scan"
)

// Check says whether Run can carry out plan n: nil, or an error that wraps ErrNotSupported and says
// what is in the way. It reads nothing.
func Check(n Node) error {
	r := &runner{}
	return r.check(n)
}

// Run starts plan n. The context bounds the opening only; each Next has its own. Options.Explain is
// complete once the iterator is closed.
func Run(ctx context.Context, n Node, opts Options) (Iter, error) {
	r := &runner{opts: opts, parallel: opts.Parallel, stats: map[Node]*OperatorStats{}}
	if r.parallel <= 0 {
		r.parallel = runtime.GOMAXPROCS(0)
	}
	r.memory.budget = opts.Budget
	if err := r.check(n); err != nil {
		return nil, err
	}
	if opts.Explain != nil {
		r.explain(n, opts.Explain)
	}
	r.wants = map[*Join][]bool{}
	r.want(n, nil)
	op, err := r.build(n)
	if err != nil {
		return nil, err
	}
	return &iter{run: r, op: op}, ctx.Err()
}

// runner is one run of a plan.
type runner struct {
	opts     Options
	parallel int
	memory   account
	stats    map[Node]*OperatorStats // empty unless explaining
	wants    map[*Join][]bool        // which of a join's columns are looked at above it; nil: all
}

// operator is a running node. Batches are valid until the next call; none is empty or
// longer than chunkRows; io.EOF ends them. Used by one goroutine.
type operator interface {
	next(ctx context.Context) (*Batch, error)
	close()
}

// build starts n. Nothing is read before the first next.
func (r *runner) build(n Node) (operator, error) {
	op, err := r.operator(n)
	if err != nil {
		return nil, err
	}
	if _, ok := op.(*streamOp); ok {
		return op, nil // its parts count by themselves
	}
	if s := r.stats[n]; s != nil {
		op = &timed{op: op, stats: s}
	}
	return op, nil
}

func (r *runner) operator(n Node) (operator, error) {
	switch n := n.(type) {
	case *Scan:
		return r.stream(n)
	case *Filter:
		if p := pipelineOf(n); p != nil {
			return r.stream(n)
		}
		child, err := r.build(n.Child)
		if err != nil {
			return nil, err
		}
		step, err := newFilterStep(n.Child.Schema(), []Expr{n.Cond})
		if err != nil {
			return nil, err
		}
		return &stepOp{child: child, step: step}, nil
	case *Project:
		if p := pipelineOf(n); p != nil {
			return r.stream(n)
		}
		child, err := r.build(n.Child)
		if err != nil {
			return nil, err
		}
		step, err := newProjectStep(n.Child.Schema(), n.Exprs)
		if err != nil {
			return nil, err
		}
		return &stepOp{child: child, step: step}, nil
	case *Limit:
		return r.limit(n)
	case *Values:
		return &valuesOp{n: n}, nil
	case *Aggregate:
		return r.aggregate(n)
	case *Sort:
		return r.sort(n)
	case *Join:
		return r.join(n)
	case *Union:
		return &unionOp{run: r, n: n}, nil
	case *Window:
		return r.window(n)
	}
	return nil, fmt.Errorf("%w: operator %T", ErrNotSupported, n)
}

// check compiles every expression of n and its children.
func (r *runner) check(n Node) error {
	for _, c := range children(n) {
		if c == nil {
			return fmt.Errorf("%w: an operator without input", ErrNotSupported)
		}
		if err := r.check(c); err != nil {
			return err
		}
	}
	switch n := n.(type) {
	case *Scan:
		if len(n.Types) != len(n.Columns) || n.Source == nil {
			return fmt.Errorf("%w: scan of %d columns of %d types", ErrNotSupported, len(n.Columns), len(n.Types))
		}
		return checkExprs(n.Types, n.Filter)
	case *Filter:
		return checkExprs(n.Child.Schema(), n.Cond)
	case *Project:
		return checkExprs(n.Child.Schema(), n.Exprs...)
	case *Aggregate:
		return checkAggregate(n)
	case *Sort:
		for _, k := range n.Keys {
			if err := checkExprs(n.Child.Schema(), k.Expr); err != nil {
				return err
			}
		}
		return nil
	case *Join:
		return checkJoin(n)
	case *Union:
		return checkUnion(n)
	case *Window:
		return checkWindow(n)
	case *Limit:
		return nil
	case *Values:
		if len(n.Types) != len(n.Cols) {
			return fmt.Errorf("%w: %d columns of %d types", ErrNotSupported, len(n.Cols), len(n.Types))
		}
		return nil
	}
	return fmt.Errorf("%w: operator %T", ErrNotSupported, n)
}

func checkExprs(schema []Type, exprs ...Expr) error {
	_, err := newProgram(schema, exprs)
	return err
}

// children of a node.
func children(n Node) []Node {
	switch n := n.(type) {
	case *Filter:
		return []Node{n.Child}
	case *Project:
		return []Node{n.Child}
	case *Aggregate:
		return []Node{n.Child}
	case *Sort:
		return []Node{n.Child}
	case *Limit:
		return []Node{n.Child}
	case *Join:
		return []Node{n.Left, n.Right}
	case *Union:
		return n.Children
	case *Window:
		return []Node{n.Child}
	}
	return nil
}

// explain makes the statistics of n and its children, in pre-order.
func (r *runner) explain(n Node, to *Explain) {
	var nodes []Node
	var walk func(n Node)
	walk = func(n Node) {
		nodes = append(nodes, n)
		for _, c := range children(n) {
			walk(c)
		}
	}
	walk(n)
	to.Operators = make([]OperatorStats, len(nodes))
	for i, n := range nodes {
		to.Operators[i].Node = n
		r.stats[n] = &to.Operators[i]
	}
}

// iter is the Iter of a run.
type iter struct {
	run    *runner
	op     operator
	err    error
	closed bool
}

func (it *iter) Next(ctx context.Context) (*Batch, error) {
	if it.err != nil {
		return nil, it.err
	}
	if it.closed {
		return nil, io.EOF
	}
	b, err := it.op.next(ctx)
	if err != nil {
		it.err = err
		return nil, err
	}
	return b, nil
}

func (it *iter) Close() {
	if it.closed {
		return
	}
	it.closed = true
	it.op.close()
	it.run.memory.close()
}

// timed counts the rows and the time of an operator, its children's included (EXPLAIN ANALYZE
// of MySQL shows it so, too).
type timed struct {
	op    operator
	stats *OperatorStats
}

func (t *timed) next(ctx context.Context) (*Batch, error) {
	start := time.Now()
	b, err := t.op.next(ctx)
	atomic.AddInt64(&t.stats.Nanos, int64(time.Since(start)))
	if b != nil {
		atomic.AddInt64(&t.stats.Rows, int64(b.Rows()))
	}
	return b, err
}

func (t *timed) close() { t.op.close() }

// account is what a run holds of its budget.
type account struct {
	budget Budget
	held   atomic.Int64
}

// grow takes n bytes, or is scan.ErrMemory.
func (a *account) grow(n int64) error {
	if a.budget == nil || n <= 0 {
		return nil
	}
	if !a.budget.Grow(n) {
		return fmt.Errorf("%w: %d bytes more", scan.ErrMemory, n)
	}
	a.held.Add(n)
	return nil
}

func (a *account) shrink(n int64) {
	if a.budget == nil || n <= 0 {
		return
	}
	a.held.Add(-n)
	a.budget.Shrink(n)
}

func (a *account) close() { a.shrink(a.held.Load()) }

// holding is what one operator holds for one goroutine.
type holding struct {
	account *account
	n       int64
}

// set makes the holding n bytes. Small steps are rounded up, so that the budget is asked seldom.
func (h *holding) set(n int64) error {
	const step = 64 << 10
	n = (n + step - 1) / step * step
	if n > h.n {
		if err := h.account.grow(n - h.n); err != nil {
			return err
		}
	} else {
		h.account.shrink(h.n - n)
	}
	h.n = n
	return nil
}

// stepOp applies a step to what a child yields.
type stepOp struct {
	child operator
	step  step
}

func (s *stepOp) next(ctx context.Context) (*Batch, error) {
	for {
		b, err := s.child.next(ctx)
		if err != nil {
			return nil, err
		}
		if b, err = s.step.apply(b); b != nil || err != nil {
			return b, err
		}
	}
}

func (s *stepOp) close() { s.child.close() }

// done is the end of an operator's batches.
func done(err error) bool { return errors.Is(err, io.EOF) }
