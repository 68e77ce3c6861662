package exec

import (
	"context"
	"fmt"
	"io"
	"slices"

	"millrace/internal/vector"
)

// windowOp is a Window: it gathers its child's rows, sorts what the functions look at by partition and order, computes the
// functions over each partition, and puts their results back into the rows' order.
type windowOp struct {
	run   *runner
	n     *Window
	child operator

	ready bool
	cols  []vector.Vector
	rows  int
	at    int
	out   Batch
	held  holding
}

func checkWindow(n *Window) error {
	exprs := slices.Clone(n.Partition)
	for _, k := range n.Order {
		exprs = append(exprs, k.Expr)
	}
	for _, f := range n.Funcs {
		exprs = append(exprs, f.Arg, f.Def, f.Agg.Arg)
		switch f.Kind {
		case RowNumber, Rank, DenseRank:
		case Lag, Lead, FirstValue, LastValue:
			if f.Arg == nil || f.Def != nil && f.Def.Type() != f.T {
				return fmt.Errorf("%w: window function %d without argument, or with a default of another type", ErrNotSupported, f.Kind)
			}
		case WindowAgg:
			if f.Agg.Kind == GroupConcat || f.Agg.Kind == AnyValue || f.Agg.Distinct {
				return fmt.Errorf("%w: aggregate %d as window function", ErrNotSupported, f.Agg.Kind)
			}
			if _, err := newAccumulator(f.Agg, false); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: window function %d", ErrNotSupported, f.Kind)
		}
	}
	return checkExprs(n.Child.Schema(), exprs...)
}

func (r *runner) window(n *Window) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	return &windowOp{run: r, n: n, child: child, held: holding{account: &r.memory}}, nil
}

func (w *windowOp) next(ctx context.Context) (*Batch, error) {
	if !w.ready {
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
		w.ready = true
	}
	if w.at == w.rows {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := min(w.rows, w.at+chunkRows)
	w.out.Len, w.out.Cols = to-w.at, w.out.Cols[:0]
	for i := range w.cols {
		w.out.Cols = append(w.out.Cols, w.cols[i].Slice(w.at, to))
	}
	w.at = to
	return &w.out, nil
}

func (w *windowOp) close() {
	w.child.close()
	w.cols, w.rows, w.at, w.ready = nil, 0, 0, true
	_ = w.held.set(0)
}

// compute reads everything. The expressions are those of partition and order, then of each function
// its argument, its default and its aggregate's argument.
func (w *windowOp) compute(ctx context.Context) error {
	exprs := slices.Clone(w.n.Partition)
	for _, k := range w.n.Order {
		exprs = append(exprs, k.Expr)
	}
	for _, f := range w.n.Funcs {
		exprs = append(exprs, f.Arg, f.Def, f.Agg.Arg)
	}
	schema := w.n.Child.Schema()
	p, err := newProgram(schema, exprs)
	if err != nil {
		return err
	}
	rows, vals := make([]builder, len(schema)), make([]builder, len(exprs))
	for i, t := range schema {
		rows[i].reset(t)
	}
	for i, e := range exprs {
		if e != nil {
			vals[i].reset(e.Type())
		}
	}
	n, size := 0, int64(0)
	for {
		b, err := w.child.next(ctx)
		if done(err) {
			break
		}
		if err != nil {
			return err
		}
		coming := 2 * size
		for i := range rows {
			coming += textOf(&b.Cols[i], b.rows())
		}
		if err := w.held.set(coming); err != nil {
			return err
		}
		p.in.set(b)
		for i, ev := range p.evs {
			if ev == nil {
				continue
			}
			v, err := ev.eval(&p.in)
			if err != nil {
				return err
			}
			vals[i].appendAll(v, p.in.n)
		}
		for i := range rows {
			rows[i].appendRows(&b.Cols[i], b.rows())
		}
		n += p.in.n
		size = int64(n) * int64(8+32*len(w.n.Funcs))
		for i := range rows {
			size += rows[i].size()
			if err := rows[i].fits(); err != nil {
				return err
			}
		}
		for i := range vals {
			size += vals[i].size()
			if err := vals[i].fits(); err != nil {
				return err
			}
		}
		if err := w.held.set(2 * size); err != nil { // the sorted copy as well
			return err
		}
	}
	sorted := make([]vector.Vector, len(exprs))
	order := w.sort(vals, n)
	for i := range vals {
		if exprs[i] == nil {
			continue
		}
		v := vals[i].vector()
		var c column
		sorted[i] = *c.gather(&v, order)
	}
	for i := range rows {
		w.cols = append(w.cols, rows[i].vector())
	}
	w.rows = n
	back := make([]int32, n)
	for i, row := range order {
		back[row] = int32(i)
	}
	return w.functions(ctx, sorted, back)
}

// sort is the order of n rows by partition, then order; stable.
func (w *windowOp) sort(vals []builder, n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	parts := len(w.n.Partition)
	keys := make([]vector.Vector, parts+len(w.n.Order))
	for i := range keys {
		keys[i] = vals[i].vector()
	}
	slices.SortStableFunc(order, func(x, y int32) int {
		for i := range keys {
			c := compareRows(&keys[i], int(x), &keys[i], int(y))
			if i >= parts && w.n.Order[i-parts].Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return order
}

// functions appends a column per function. sorted are the expressions in order, back is where a row stands in it.
func (w *windowOp) functions(ctx context.Context, sorted []vector.Vector, back []int32) error {
	parts, keys := len(w.n.Partition), len(w.n.Partition)+len(w.n.Order)
	differ := func(i, j, from, to int) bool {
		for k := from; k < to; k++ {
			if compareRows(&sorted[k], i, &sorted[k], j) != 0 {
				return true
			}
		}
		return false
	}
	// Where partitions and groups of peers end.
	var ends, peers []int
	for i := 1; i <= w.rows; i++ {
		switch {
		case i == w.rows || differ(i-1, i, 0, parts):
			ends, peers = append(ends, i), append(peers, i)
		case differ(i-1, i, parts, keys):
			peers = append(peers, i)
		}
	}
	for at, f := range w.n.Funcs {
		if err := ctx.Err(); err != nil {
			return err
		}
		var out builder
		out.reset(f.T)
		arg, def, agg := sorted[keys+3*at], sorted[keys+3*at+1], sorted[keys+3*at+2]
		run := windowRun{f: f, out: &out, arg: &arg, def: &def, agg: &agg, ordered: len(w.n.Order) > 0}
		from, p := 0, 0
		for _, end := range ends {
			first := p
			for p < len(peers) && peers[p] <= end {
				p++
			}
			if err := run.partition(from, end, peers[first:p]); err != nil {
				return err
			}
			from = end
		}
		if err := out.fits(); err != nil {
			return err
		}
		results := out.vector()
		var c column
		w.cols = append(w.cols, *c.gather(&results, back))
	}
	return nil
}

// windowRun computes one function.
type windowRun struct {
	f             WindowFunc
	out           *builder
	arg, def, agg *vector.Vector
	ordered       bool
}

// partition computes rows [from, end); peers are the ends of its groups of peers.
func (r *windowRun) partition(from, end int, peers []int) error {
	one := vector.Vector{Kind: vector.Int, Len: 1, Int64: make([]int64, 1)}
	put := func(x int) {
		one.Int64[0] = int64(x)
		r.out.append1(&one, 0)
	}
	null := nullVector(r.f.T, 1)
	switch r.f.Kind {
	case RowNumber:
		for i := from; i < end; i++ {
			put(i - from + 1)
		}
	case Rank, DenseRank:
		start := from
		for g, e := range peers {
			for range e - start {
				if r.f.Kind == Rank {
					put(start - from + 1)
				} else {
					put(g + 1)
				}
			}
			start = e
		}
	case Lag, Lead:
		shift := -int(r.f.Offset)
		if r.f.Kind == Lead {
			shift = -shift
		}
		for i := from; i < end; i++ {
			switch j := i + shift; {
			case j >= from && j < end:
				r.out.append1(r.arg, j)
			case r.f.Def != nil:
				r.out.append1(r.def, i)
			default:
				r.out.append1(&null, 0)
			}
		}
	case FirstValue:
		for range end - from {
			r.out.append1(r.arg, from)
		}
	case LastValue: // of the frame
		return r.frames(from, end, peers, func(_, to int) error { r.out.append1(r.arg, to-1); return nil })
	case WindowAgg:
		return r.aggregate(from, end, peers)
	}
	return nil
}

// frames calls row for each row of the partition, with the rows that its frame adds to that of
// the row before, [added, to); to is the frame's end.
func (r *windowRun) frames(from, end int, peers []int, row func(added, to int) error) error {
	switch {
	case r.f.Whole || !r.ordered && !r.f.Rows:
		peers = []int{end}
	case r.f.Rows:
		for i := from; i < end; i++ {
			if err := row(i, i+1); err != nil {
				return err
			}
		}
		return nil
	}
	start := from
	for _, e := range peers {
		for i := start; i < e; i++ {
			added := e
			if i == start {
				added = start
			}
			if err := row(added, e); err != nil {
				return err
			}
		}
		start = e
	}
	return nil
}

func (r *windowRun) aggregate(from, end int, peers []int) error {
	acc, err := newAccumulator(r.f.Agg, false)
	if err != nil {
		return err
	}
	acc.grow(1)
	var value vector.Vector
	return r.frames(from, end, peers, func(added, to int) error {
		if added < to {
			var v *vector.Vector
			if r.f.Agg.Arg != nil {
				s := r.agg.Slice(added, to)
				v = &s
			}
			if err := acc.add(v, nil, to-added); err != nil {
				return err
			}
			acc.end(added) // some keep sums apart by morsels, of any ascending numbers
			if value, err = acc.result(1); err != nil {
				return err
			}
			value.Kind, value.Scale = r.f.T.Kind, r.f.T.Scale
		}
		r.out.append1(&value, 0)
		return nil
	})
}
