package exec

import (
	"context"
	"slices"
	"sync/atomic"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// A Tally says how often each value of a column stands in a block. What is asked of that column alone, how many rows
// are of a country, of each, of those that match a pattern, is computed of the values, each as often as it stands there,
// and no row is looked at.

// Tallier is a Block that may have tallies. Safe for concurrent use.
type Tallier interface {
	// Tally is that of column c; nil when there is none: it has too many values, or not all rows of the block are visible.
	Tally(ctx context.Context, c scan.Column) (*Tally, error)
	// Sums are what the numbers of column of come to for each value of column by; nil when they are not known, as where by has no
	// tally.
	Sums(ctx context.Context, by, of scan.Column) (*Sums, error)
	// WillNeedSums begins to fetch the tally of column by and its sums of those columns from the disk, and does not wait for it. It is
	// false, and does nothing, unless there is all of that.
	WillNeedSums(by scan.Column, of []scan.Column) bool
}

// Sums of a column of integers or decimals, by the values of another's tally. Immutable.
type Sums struct {
	Rows     []int64          // how many rows have a value that is not NULL
	Sum      []decimal128.Num // of those, at the column's scale; 2^17 numbers of 64 bits fit
	Min, Max vector.Vector    // of those; NULL where there are none
}

// Tally is immutable.
type Tally struct {
	Values vector.Vector // each once, NULL too, in the order of their first rows
	Rows   []int64       // by value: how many rows have it
	Firsts []int32       // by value: its first row
}

// weightedAcc is an accumulator that can take a value in as often as a weight says.
type weightedAcc interface {
	addWeighted(v *vector.Vector, gids []uint32, weights []int64) error
}

// groupOf is the group of row i; nil: all are of group 0.
func groupOf(gids []uint32, i int) uint32 {
	if gids == nil {
		return 0
	}
	return gids[i]
}

// summedAcc is an accumulator of a column that can take in what that comes to for each value of another.
type summedAcc interface {
	// addSums takes in all rows of the values of a tally, which stand there as often as the weights say.
	addSums(s *Sums, gids []uint32, weights []int64) error
}

// synopses are how blocks are answered by tallies and sums. What is asked of one column, and joins and filters on the way that look at
// that alone, have its values as rows. Immutable.
type synopses struct {
	m    *morsels
	used []int // columns of the scan that all depends on, but for
	of   []int // by aggregate: the column of the scan that it is of, where sums of that will do; −1: they will not
	kind []AggKind
}

// newSynopses is nil where they do not help.
func newSynopses(f *fragment, m *morsels, n *Aggregate) *synopses {
	if m.scan.Reverse {
		return nil
	}
	y := &synopses{m: m}
	cols, ok := f.sources(&y.used)
	if !ok {
		return nil
	}
	for _, e := range n.By {
		y.used = append(y.used, cols.of(e)...)
	}
	for _, a := range n.Aggs {
		acc, err := newAccumulator(a, false)
		if err != nil {
			return nil
		}
		of := -1
		_, summed := acc.(summedAcc)
		_, weighted := acc.(weightedAcc)
		c, ok := a.Arg.(Col)
		switch {
		case ok && summed && cols[c.Index].plain:
			of = cols[c.Index].cols[0]
		case weighted && a.Kind != BitXor:
			y.used = append(y.used, cols.of(a.Arg)...)
		default:
			return nil
		}
		y.of, y.kind = append(y.of, of), append(y.kind, a.Kind)
	}
	for _, c := range y.used {
		if c != y.used[0] {
			return nil
		}
	}
	return y
}

// sources are, by column, the columns of a scan that it is made of. One that is plain is one of those.
type sources []struct {
	cols  []int
	plain bool
}

// of are those of an expression.
func (s sources) of(e Expr) (cols []int) {
	for _, c := range columnsOf(e, nil) {
		cols = append(cols, s[c].cols...)
	}
	return cols
}

// sources are those of the fragment's columns. used gets the columns of the scan that decide on the way which rows come out, or that something is
// computed of. ok is false where rows come out in another order than they come in.
func (f *fragment) sources(used *[]int) (cur sources, ok bool) {
	cur = make(sources, len(f.p.scan.Types))
	for i := range cur {
		cur[i].cols, cur[i].plain = []int{i}, true
	}
	use := func(s sources, exprs ...Expr) {
		for _, e := range exprs {
			*used = append(*used, s.of(e)...)
		}
	}
	for _, n := range slices.Concat(f.p.steps, f.above) {
		switch n := n.(type) {
		case *Filter:
			use(cur, n.Cond)
		case *Project:
			next := make(sources, len(n.Exprs))
			for i, e := range n.Exprs {
				if c, ok := e.(Col); ok {
					next[i] = cur[c.Index]
				} else {
					use(cur, e)
					next[i].cols = cur.of(e)
				}
			}
			cur = next
		case *Join:
			side := f.sides[n]
			if n.Kind == LeftOuter && (n.Residual != nil || !side.table.unique) {
				return nil, false // those without a match come behind the others
			}
			_, keys := side.probing(n)
			use(cur, keys...)
			built := make(sources, len(n.both())-len(cur))
			if side.swapped {
				cur = slices.Concat(built, cur)
			} else {
				cur = slices.Concat(cur, built)
			}
			use(cur, n.Residual)
			if len(n.Schema()) <= len(cur) {
				cur = cur[:len(n.Schema())]
			}
			cur = slices.Concat(cur, make(sources, len(n.Schema())-len(cur))) // a mark depends on what is used
		}
	}
	return cur, true
}

// column is that whose values matter in block b, beside those that sums are asked of; proven gets which conditions every row passes.
func (y *synopses) column(b Block, proven []bool) (int, bool) {
	col := -1
	if len(y.used) > 0 {
		col = y.used[0]
	}
	f := factsOf(y.m.scan, b)
	for i, c := range y.m.filter {
		if proven[i] = f.passes(c); proven[i] {
			continue
		}
		for _, at := range c.cols {
			if col >= 0 && at != col {
				return 0, false
			}
			col = at
		}
	}
	return col, col >= 0
}

// summed says whether aggregate i needs sums in block b, where the values of column col matter; not if it is of that, or counts values of which
// none is NULL.
func (y *synopses) summed(i int, b Block, col int) bool {
	c := y.of[i]
	return c >= 0 && c != col && (y.kind[i] != Count || !factsOf(y.m.scan, b).noNulls(Col{c, y.m.scan.Types[c]}))
}

// willNeed begins to fetch what answers block b; false when that is not there, and the columns are read.
func (y *synopses) willNeed(b Block) bool {
	t, ok := b.(Tallier)
	if !ok {
		return false
	}
	col, ok := y.column(b, make([]bool, len(y.m.filter)))
	if !ok {
		return false
	}
	var of []scan.Column
	for i, c := range y.of {
		if y.summed(i, b, col) {
			of = append(of, y.m.scan.Columns[c])
		}
	}
	return t.WillNeedSums(y.m.scan.Columns[col], of)
}

// tallySink has a sink take in whole blocks by their tallies and sums, for one goroutine.
type tallySink struct {
	*synopses
	s      *groupSink
	filter *filterStep

	proven []bool
	batch  Batch
	sums   []*Sums // by aggregate; nil: it looks at the values
	which  []int32 // by row: which value of the tally it has
	rows   []int64
	firsts []int32
}

func newTallySink(s *groupSink, y *synopses) (*tallySink, error) {
	t := &tallySink{synopses: y, s: s, proven: make([]bool, len(y.m.filter)), sums: make([]*Sums, len(y.of))}
	var err error
	if t.filter, err = newConjunctStep(y.m.scan.Types, y.m.filter); err != nil {
		return nil, err
	}
	t.batch.Cols = make([]vector.Vector, len(y.m.scan.Types))
	return t, nil
}

// block takes in block at of the morsels, by way of w; false when its rows have to be read.
func (t *tallySink) block(ctx context.Context, at int, w *fragmentWorker) (bool, error) {
	b, ok := t.m.blocks[at].(Tallier)
	if !ok {
		return false, nil
	}
	col, ok := t.column(t.m.blocks[at], t.proven)
	if !ok {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	for i := range t.sums {
		t.sums[i] = nil
		if !t.summed(i, t.m.blocks[at], col) {
			if _, ok := t.s.accs[i].(weightedAcc); !ok {
				return false, nil
			}
			continue
		}
		s, err := b.Sums(ctx, t.m.scan.Columns[col], t.m.scan.Columns[t.of[i]])
		if s == nil || err != nil {
			return false, err
		}
		if typ := t.m.scan.Types[t.of[i]]; s.Min.Kind != typ.Kind || s.Min.Scale != typ.Scale {
			return false, nil
		}
		t.sums[i] = s
	}
	y, err := b.Tally(ctx, t.m.scan.Columns[col])
	if y == nil || err != nil {
		return false, err
	}
	if typ := t.m.scan.Types[col]; y.Values.Kind != typ.Kind || y.Values.Scale != typ.Scale {
		return false, nil
	}
	t.filter.skip(t.proven)
	for from := 0; from < y.Values.Len; from += chunkRows {
		to := min(y.Values.Len, from+chunkRows)
		t.batch.Len, t.batch.Sel, t.batch.origin = to-from, nil, allRows[:to-from]
		for i, typ := range t.m.scan.Types {
			t.batch.Cols[i] = nullVector(typ, to-from) // nobody looks at them
		}
		t.batch.Cols[col] = y.Values.Slice(from, to)
		if t.batch.Sel, err = t.filter.rows(&t.batch); err != nil {
			return false, err
		}
		if len(t.batch.Sel) == 0 {
			continue
		}
		if err := w.feed(ctx, &t.batch, func(b *Batch) error { return t.add(col, y, int32(from), b) }); err != nil {
			return false, err
		}
	}
	if st := t.m.run.stats[t.m.scan]; st != nil {
		atomic.AddInt64(&st.Answered, 1)
	}
	return true, nil
}

// add takes in what came out of values of column col, which are those of its tally from that one on.
func (t *tallySink) add(col int, y *Tally, from int32, b *Batch) error {
	s := t.s
	which := take(&t.which, b.origin, b.rows())
	for k := range which {
		which[k] += from
	}
	s.p.in.set(b)
	s.at = take(&t.firsts, y.Firsts, which)
	defer func() { s.at = nil }()
	rows := take(&t.rows, y.Rows, which)
	var gids []uint32
	if s.group != nil {
		if err := s.evalKeys(); err != nil {
			return err
		}
		gids = s.group.ids(s.keys, len(rows))
		if n := s.group.len(); n > len(s.firsts) {
			s.met(gids, nil, n)
		}
	}
	for i, acc := range s.accs {
		if sums := t.sums[i]; sums != nil {
			if err := acc.(summedAcc).addSums(sums.pick(which), gids, rows); err != nil {
				return err
			}
			continue
		}
		var v *vector.Vector
		if c := t.of[i]; c < 0 || c == col { // else it counts values, of which none is NULL
			var err error
			if v, err = s.arg(i); err != nil {
				return err
			}
		}
		if err := acc.(weightedAcc).addWeighted(v, gids, rows); err != nil {
			return err
		}
	}
	return s.account()
}

// pick is some of the sums.
func (s *Sums) pick(which []int32) *Sums {
	var least, most column
	return &Sums{
		Rows: take(new([]int64), s.Rows, which), Sum: take(new([]decimal128.Num), s.Sum, which),
		Min: *least.gather(&s.Min, which), Max: *most.gather(&s.Max, which),
	}
}

func (a *countAcc) addSums(s *Sums, gids []uint32, _ []int64) error {
	for i, n := range s.Rows {
		a.n[groupOf(gids, i)] += n
	}
	return nil
}

func (a *intSumAcc) addSums(s *Sums, gids []uint32, weights []int64) error {
	a.wide = extend(a.wide, len(a.cells))
	for i, n := range s.Rows {
		g := groupOf(gids, i)
		a.cells[g].n += n
		a.wide[g].Add(wideint.Int128{Lo: s.Sum[i].LowBits(), Hi: s.Sum[i].HighBits()})
		if a.all && n < weights[i] {
			a.nulls = extend(a.nulls, int(g)+1)
			a.nulls[g] += weights[i] - n
		}
	}
	return nil
}

func (a *wideSumAcc) addSums(s *Sums, gids []uint32, _ []int64) error {
	for i, n := range s.Rows {
		g := groupOf(gids, i)
		a.n[g] += n
		a.sums[g].Add128(s.Sum[i].LowBits(), s.Sum[i].HighBits())
	}
	return nil
}

func (a *extremeAcc[T]) addSums(s *Sums, gids []uint32, _ []int64) error {
	return a.add(s.extreme(a.largest), gids, len(s.Rows))
}

func (a *decExtremeAcc) addSums(s *Sums, gids []uint32, _ []int64) error {
	return a.add(s.extreme(a.largest), gids, len(s.Rows))
}

func (s *Sums) extreme(largest bool) *vector.Vector {
	if largest {
		return &s.Max
	}
	return &s.Min
}

func (a *sharedSumAcc) addSums(*Sums, []uint32, []int64) error { return nil }

func (a *sharedSumAcc) addWeighted(*vector.Vector, []uint32, []int64) error { return nil }

// Of these a value that comes once more changes nothing.

func (a *extremeAcc[T]) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}

func (a *decExtremeAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}

func (a *textExtremeAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}

func (a *distinctAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}

func (a *anyAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}

func (a *bitAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}
