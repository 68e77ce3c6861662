package exec

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"reflect"
	"slices"

	"millrace/internal/vector"
)

// aggregateOp is an Aggregate: every goroutine groups and aggregates its morsels by itself, then
// the states are merged into that of the first.
type aggregateOp struct {
	run *runner
	n   *Aggregate

	parts []part // still to be computed
	seed  maphash.Seed
	sinks []*groupSink // of the present part
	cols  []vector.Vector
	order []int32 // of the rows of cols; nil: as they are
	rows  int
	at    int
	out   Batch
	dense []column
}

func (r *runner) aggregate(n *Aggregate) (operator, error) {
	return &aggregateOp{run: r, n: n, parts: []part{{}}, seed: maphash.MakeSeed()}, nil
}

func checkAggregate(n *Aggregate) error {
	schema := n.Child.Schema()
	if err := checkExprs(schema, n.By...); err != nil {
		return err
	}
	for _, a := range n.Aggs {
		if _, err := newAccumulator(a, false); err != nil {
			return err
		}
		if err := checkExprs(schema, a.Arg); err != nil {
			return err
		}
		for _, k := range a.Order {
			if err := checkExprs(schema, k.Expr); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *aggregateOp) next(ctx context.Context) (*Batch, error) {
	for a.at == a.rows {
		if len(a.parts) == 0 {
			return nil, io.EOF
		}
		p := a.parts[0]
		a.parts = a.parts[1:]
		a.forget()
		if err := a.compute(ctx, p); err != nil {
			cut := p.cut(err, a.sinks)
			if cut == nil {
				return nil, err
			}
			a.parts = append(cut, a.parts...)
			a.forget()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := min(a.rows, a.at+chunkRows)
	a.out.Len, a.out.Cols = to-a.at, a.out.Cols[:0]
	for i := range a.cols {
		if a.order == nil {
			a.out.Cols = append(a.out.Cols, a.cols[i].Slice(a.at, to))
		} else {
			a.out.Cols = append(a.out.Cols, *a.dense[i].gather(&a.cols[i], a.order[a.at:to]))
		}
	}
	a.at = to
	return &a.out, nil
}

func (a *aggregateOp) close() { a.forget() }

// forget gives everything back.
func (a *aggregateOp) forget() {
	a.cols, a.order, a.rows, a.at = nil, nil, 0, 0
	for _, s := range a.sinks {
		_ = s.held.set(0) // giving back does not fail
	}
	a.sinks = nil
}

// sink makes one goroutine's state for a part of the groups.
func (a *aggregateOp) sink(p part, rows int) (*groupSink, error) {
	s, err := newGroupSink(a.run, a.n, rows>>p.bits)
	if err != nil {
		return nil, err
	}
	if p.bits > 0 {
		if s.only, err = newPartFilter(p, a.seed, a.n.Child.Schema(), a.n.By); err != nil {
			return nil, err
		}
	}
	a.sinks = append(a.sinks, s)
	return s, nil
}

func (a *aggregateOp) compute(ctx context.Context, p part) error {
	var m *morsels
	newSink := func(rows int) (sink, error) {
		s, err := a.sink(p, rows)
		if err == nil && m != nil && m.synopses != nil {
			s.tally, err = newTallySink(s, m.synopses)
		}
		return s, err
	}
	var all []*groupSink
	var sinks []sink
	f, err := a.run.fragmentThatFits(ctx, a.n.Child)
	if err != nil {
		return err
	}
	if f == nil {
		sinks, err = a.run.driveOne(ctx, a.n.Child, newSink)
	} else {
		defer f.close()
		var used []Expr
		if len(f.above) == 0 {
			used = a.exprs()
		}
		if m, err = a.run.morsels(ctx, f.p, used); err != nil {
			return err
		}
		if len(f.above) == 0 {
			before := len(m.blocks)
			known, err := a.sink(p, 0)
			if err != nil {
				return err
			}
			if m.fromStats(a.n, known); len(m.blocks) < before {
				all = append(all, known)
			}
		}
		if p.bits == 0 {
			m.synopses = newSynopses(f, m, a.n)
		}
		if len(m.blocks) > 0 || len(all) == 0 {
			sinks, err = a.run.driveMorsels(ctx, f, m, newSink)
		}
	}
	if err != nil {
		return err
	}
	for _, s := range sinks {
		all = append(all, s.(*groupSink))
	}
	first := all[0]
	if len(all) > 1 {
		if err := a.merge(ctx, all); err != nil {
			return err
		}
	}
	a.rows = first.groups()
	if len(a.n.By) > 0 {
		a.cols = first.group.keys()
	}
	for i, acc := range first.accs {
		v, err := acc.result(a.rows)
		if err != nil {
			return err
		}
		v.Kind, v.Scale = a.n.Aggs[i].T.Kind, a.n.Aggs[i].T.Scale
		a.cols = append(a.cols, v)
	}
	a.dense = make([]column, len(a.cols))
	return nil
}

// exprs are what is computed of the child's rows.
func (a *aggregateOp) exprs() []Expr {
	out := slices.Clone(a.n.By)
	for _, g := range a.n.Aggs {
		out = append(out, g.Arg)
		for _, k := range g.Order {
			out = append(out, k.Expr)
		}
	}
	return out
}

// merge takes the states of the other sinks into that of the first, and puts the groups in the order
// of their first rows.
func (a *aggregateOp) merge(ctx context.Context, sinks []*groupSink) error {
	into := sinks[0]
	to := make([][]uint32, len(sinks)) // by sink and group: the group of the first sink
	for i, s := range sinks[1:] {
		to[i+1] = make([]uint32, s.groups())
		if into.group != nil {
			if err := into.takeGroups(ctx, s, to[i+1]); err != nil {
				return err
			}
		}
	}
	if into.group != nil {
		a.order = orderGroups(sinks, to, into.groups())
	}
	for i, s := range sinks[1:] {
		for j, acc := range into.accs {
			acc.grow(into.groups())
			acc.merge(s.accs[j], to[i+1])
			s.accs[j] = nil
		}
		if err := into.account(); err != nil {
			return err
		}
		if err := s.held.set(0); err != nil {
			return err
		}
	}
	for _, acc := range into.accs {
		acc.merged()
	}
	return nil
}

// takeGroups numbers the groups of o among those of s; to gets the numbers.
func (s *groupSink) takeGroups(ctx context.Context, o *groupSink, to []uint32) error {
	if len(to) == 0 {
		return nil
	}
	keys := o.group.keys()
	parts := make([]vector.Vector, len(keys))
	for at := 0; at < len(to); at += chunkRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(len(to), at+chunkRows)
		for i := range keys {
			parts[i] = keys[i].Slice(at, end)
			s.keys[i] = &parts[i]
		}
		copy(to[at:end], s.group.ids(s.keys, end-at))
		if err := s.account(); err != nil {
			return err
		}
	}
	return nil
}

// orderGroups are the groups of the first sink in the order of their first rows. Each sink has its
// own in that order already, so the next is that of some sink's next.
func orderGroups(sinks []*groupSink, to [][]uint32, n int) []int32 {
	order := make([]int32, 0, n)
	met := make([]uint64, words(n))
	next := make([]int, len(sinks))
	for len(order) < n {
		best := -1
		for i, s := range sinks {
			if next[i] < len(s.firsts) && (best < 0 || s.firsts[next[i]] < sinks[best].firsts[next[best]]) {
				best = i
			}
		}
		g := next[best]
		next[best]++
		if best > 0 {
			g = int(to[best][g])
		}
		if !bitSet(met, g) {
			setValid(met, g, true)
			order = append(order, int32(g))
		}
	}
	return order
}

// groupSink groups and aggregates, for one goroutine.
type groupSink struct {
	p      *program
	by     int
	group  *grouper // nil: one group
	accs   []accumulator
	keys   []*vector.Vector
	firsts []uint64 // by group: morsel and row in it of the first row
	morsel int
	row    int
	held   holding
	only   *partFilter // nil: all groups
	at     []int32     // by row of the present batch: where it is; nil: in order
	runs   *runKey     // nil: keys are computed row by row
	gids   []uint32    // of rows in runs
	tally  *tallySink  // nil: all blocks are read
}

func newGroupSink(r *runner, n *Aggregate, rows int) (*groupSink, error) {
	s := &groupSink{by: len(n.By), keys: make([]*vector.Vector, len(n.By))}
	s.held.account = &r.memory
	exprs := slices.Clone(n.By)
	for _, a := range n.Aggs {
		acc, err := newAccumulator(a, r.parallel > 1)
		if err != nil {
			return nil, err
		}
		arg := a.Arg
		if sum, ok := acc.(*intSumAcc); ok {
			for i, b := range n.Aggs[:len(s.accs)] {
				if other, ok := s.accs[i].(*intSumAcc); ok && reflect.DeepEqual(a.Arg, b.Arg) {
					acc, arg = &sharedSumAcc{of: other, quotient: sum.quotient}, nil
					break
				}
			}
		}
		s.accs = append(s.accs, acc)
		exprs = append(exprs, arg)
	}
	s.shareCounts()
	for _, a := range n.Aggs {
		for _, k := range a.Order {
			exprs = append(exprs, k.Expr)
		}
	}
	var err error
	if s.p, err = newProgram(n.Child.Schema(), exprs); err != nil {
		return nil, err
	}
	at := len(n.By) + len(n.Aggs)
	for i, a := range n.Aggs {
		switch acc := s.accs[i].(type) {
		case *concatAcc:
			acc.sink, acc.in, acc.order = s, &s.p.in, s.p.evs[at:at+len(a.Order)]
		case *anyAcc:
			acc.sink = s
		}
		at += len(a.Order)
	}
	if s.by == 1 {
		if s.runs, err = runKeyOf(n.Child.Schema(), n.By[0]); err != nil {
			return nil, err
		}
	}
	if s.by > 0 {
		s.group = newGrouper(typesOf(n.By), rows)
	} else {
		for _, acc := range s.accs {
			acc.grow(1)
		}
	}
	return s, nil
}

// shareCounts has rows counted by a sum, if there is one.
func (s *groupSink) shareCounts() {
	for _, acc := range s.accs {
		sum, ok := acc.(*intSumAcc)
		if !ok {
			continue
		}
		for i, acc := range s.accs {
			if c, ok := acc.(*countAcc); ok && c.rows {
				s.accs[i], sum.all = &sharedCountAcc{of: sum}, true
			}
		}
		return
	}
}

func (s *groupSink) groups() int {
	if s.group == nil {
		return 1
	}
	return s.group.len()
}

func (s *groupSink) begin(morsel int) error {
	s.morsel, s.row = morsel, 0
	return nil
}

func (s *groupSink) add(b *Batch) error {
	if s.only != nil {
		var err error
		if b, err = s.only.apply(b); b == nil || err != nil {
			return err
		}
	}
	in := &s.p.in
	in.set(b)
	if s.runs != nil {
		vals, starts, err := s.runs.of(b)
		if err != nil {
			return err
		}
		if vals != nil {
			if err := s.addRuns(vals, starts); err != nil {
				return err
			}
			s.row += in.n
			return s.account()
		}
	}
	var gids []uint32
	if s.group != nil {
		if err := s.evalKeys(); err != nil {
			return err
		}
		done, err := s.addCodes()
		if err != nil {
			return err
		}
		if done {
			s.row += in.n
			return s.account()
		}
		gids = s.group.ids(s.keys, in.n)
		if n := s.group.len(); n > len(s.firsts) {
			s.met(gids, nil, n)
		}
	}
	for i, acc := range s.accs {
		v, err := s.arg(i)
		if err != nil {
			return err
		}
		if err := acc.add(v, gids, in.n); err != nil {
			return err
		}
	}
	s.row += in.n
	return s.account()
}

// evalKeys computes the keys of the batch of s.p.in.
func (s *groupSink) evalKeys() error {
	for i := range s.keys {
		v, err := s.p.evs[i].eval(&s.p.in)
		if err != nil {
			return err
		}
		s.keys[i] = v
	}
	return nil
}

// arg is aggregate i's argument in the batch of s.p.in; nil if it has none.
func (s *groupSink) arg(i int) (*vector.Vector, error) {
	if ev := s.p.evs[s.by+i]; ev != nil {
		return ev.eval(&s.p.in)
	}
	return nil, nil
}

// block implements blockSink.
func (s *groupSink) block(ctx context.Context, i int, w *fragmentWorker) (bool, error) {
	if s.tally == nil {
		return false, nil
	}
	return s.tally.block(ctx, i, w)
}

// met notes where the groups that this batch brought have their first rows. gids are the groups of its rows, or of those that
// rows lists.
func (s *groupSink) met(gids []uint32, rows []int32, n int) {
	next := uint32(len(s.firsts))
	for k, g := range gids {
		if g == next {
			if rows != nil {
				k = int(rows[k])
			}
			s.firsts = append(s.firsts, s.place(k))
			if next++; int(next) == n {
				break
			}
		}
	}
	for _, acc := range s.accs {
		acc.grow(n)
	}
}

// place is where row k of the present batch is among all rows.
func (s *groupSink) place(k int) uint64 {
	if s.at != nil {
		k = int(s.at[k])
	}
	return uint64(s.morsel)<<32 | uint64(s.row+k)
}

func (s *groupSink) account() error {
	n := 8 * int64(cap(s.firsts))
	if s.group != nil {
		if err := s.group.fits(); err != nil {
			return err
		}
		n += s.group.bytes()
	}
	for _, acc := range s.accs {
		n += acc.bytes()
	}
	return s.held.set(n)
}

func (s *groupSink) end(morsel int) error {
	for _, acc := range s.accs {
		acc.end(morsel)
	}
	return nil
}

// accumulator is the state of one aggregate function for all groups.
type accumulator interface {
	// grow makes room for n groups. Groups are numbered in the order of their first rows.
	grow(n int)
	// add takes in n rows; gids are their groups, nil: all are of group 0. v is the argument, nil for
	// CountRows.
	add(v *vector.Vector, gids []uint32, n int) error
	// end closes a morsel.
	end(morsel int)
	// merge takes in the state of another goroutine, whose group g is to[g] here; merged follows the
	// last.
	merge(from accumulator, to []uint32)
	merged()
	// result has a row per group.
	result(n int) (vector.Vector, error)
	bytes() int64
}

// noMorsels is for accumulators to which the order of rows does not matter.
type noMorsels struct{}

func (noMorsels) end(int) {}
func (noMorsels) merged() {}

func newAccumulator(a Agg, parallel bool) (accumulator, error) {
	bad := func() (accumulator, error) {
		return nil, fmt.Errorf("%w: aggregate %d with result %v", ErrNotSupported, a.Kind, a.T)
	}
	if a.Kind == CountRows {
		if a.Arg != nil || a.Distinct || a.T.Kind != vector.Int {
			return bad()
		}
		return &countAcc{rows: true}, nil
	}
	if a.Arg == nil {
		return bad()
	}
	t := a.Arg.Type()
	if t.Kind < vector.Int || t.Kind > vector.String {
		return bad()
	}
	var acc accumulator
	switch a.Kind {
	case Count:
		if a.T.Kind != vector.Int {
			return bad()
		}
		acc = &countAcc{}
	case Sum, Avg:
		switch {
		case t.Kind == vector.String:
			return bad()
		case t.Kind == vector.Float:
			if a.T.Kind != vector.Float {
				return bad()
			}
			acc = &floatSumAcc{avg: a.Kind == Avg, floatFold: floatFold{logged: parallel}}
		case a.T.Kind != vector.Decimal256 || a.Kind == Sum && a.T.Scale != t.Scale:
			return bad()
		case t.Kind == vector.Int:
			acc = &intSumAcc{quotient: quotient{avg: a.Kind == Avg, to: a.T.Scale}}
		default:
			acc = &wideSumAcc{quotient: quotient{avg: a.Kind == Avg, from: t.Scale, to: a.T.Scale}}
		}
	case Min, Max:
		if a.T != t {
			return bad()
		}
		acc = newExtreme(t, a.Kind == Max)
	case VarPop, VarSamp, StdPop, StdSamp:
		if a.T.Kind != vector.Float || t.Kind == vector.String {
			return bad()
		}
		acc = &varianceAcc{kind: a.Kind, t: t, varianceFold: varianceFold{logged: parallel}}
	case BitAnd, BitOr, BitXor:
		if a.T.Kind != vector.Uint || t.Kind != vector.Int && t.Kind != vector.Uint {
			return bad()
		}
		acc = &bitAcc{kind: a.Kind}
	case AnyValue:
		if a.T != t {
			return bad()
		}
		first := &anyAcc{}
		first.vals.reset(t)
		return first, nil
	case GroupConcat:
		if t.Kind != vector.String || a.T.Kind != vector.String {
			return bad()
		}
		return newConcat(a), nil
	default:
		return bad()
	}
	if a.Distinct && a.Kind != Min && a.Kind != Max && a.Kind != BitAnd && a.Kind != BitOr {
		return newDistinct(t, acc), nil
	}
	return acc, nil
}

// extend is s with n elements, the new ones zero.
func extend[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	old := len(s)
	if n > cap(s) {
		more := vector.MakeHuge[T](max(n, 2*cap(s)))
		copy(more, s)
		return more[:n]
	}
	s = s[:n]
	clear(s[old:])
	return s
}

// dense drops the rows whose value is NULL.
type dense struct {
	valid []uint64
	rows  []int32
	col   column
	gids  []uint32
}

// of is v without NULLs, with the groups of what is left.
func (d *dense) of(v *vector.Vector, gids []uint32, n int) (*vector.Vector, []uint32, int) {
	valid := validOf(v, n, &d.valid)
	if valid == nil {
		return v, gids, n
	}
	rows := grown(&d.rows, n)
	k := 0
	for i := range n {
		rows[k] = int32(i)
		k += int(valid[i>>6] >> (i & 63) & 1)
	}
	rows = rows[:k]
	out := d.col.gather(v, rows)
	out.Len = k
	if gids != nil {
		gids = take(&d.gids, gids, rows)
	}
	return out, gids, k
}
