package exec

import (
	"context"

	"millrace/internal/vector"
	"millrace/scan"
)

// A Tally says how often each value of a column stands in a block. What is asked of that column alone, how many rows
// are of a country, of each, of those that match a pattern, is computed of the values, each as often as it stands there,
// and no row is looked at.

// Tallier is a Block that may have tallies. Safe for concurrent use.
type Tallier interface {
	// Tally is that of column c; nil when there is none: it has too many values, or not all rows of the block are visible.
	Tally(ctx context.Context, c scan.Column) (*Tally, error)
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

// tallySink has a sink take in whole blocks by their tallies, for one goroutine.
type tallySink struct {
	s      *groupSink
	m      *morsels
	used   []int // columns of the keys and of the aggregates, but for
	counts []int // those of which an aggregate only counts the values; −1: it is none such
	accs   []weightedAcc
	filter *filterStep

	proven []bool
	batch  Batch
	rows   []int64
	firsts []int32
}

// newTallySink is nil where tallies do not help.
func newTallySink(s *groupSink, m *morsels, n *Aggregate) (*tallySink, error) {
	if len(m.steps) > 0 || m.scan.Reverse || s.only != nil {
		return nil, nil
	}
	t := &tallySink{s: s, m: m, proven: make([]bool, len(m.filter))}
	for _, e := range n.By {
		t.used = columnsOf(e, t.used)
	}
	for i, a := range n.Aggs {
		acc, ok := s.accs[i].(weightedAcc)
		if b, is := acc.(*bitAcc); !ok || is && b.kind == BitXor {
			return nil, nil
		}
		t.accs = append(t.accs, acc)
		t.counts = append(t.counts, -1)
		if c, ok := a.Arg.(Col); ok && a.Kind == Count && !a.Distinct {
			t.counts[i] = c.Index
			continue
		}
		t.used = columnsOf(a.Arg, t.used)
	}
	for _, c := range t.used {
		if c != t.used[0] {
			return nil, nil
		}
	}
	var err error
	if t.filter, err = newConjunctStep(m.scan.Types, m.filter); err != nil {
		return nil, err
	}
	t.batch.Cols = make([]vector.Vector, len(m.scan.Types))
	return t, nil
}

// column is the only one that matters in the block.
func (t *tallySink) column(f blockFacts) (int, bool) {
	col := -1
	if len(t.used) > 0 {
		col = t.used[0]
	}
	for i, c := range t.m.filter {
		if t.proven[i] = f.passes(c); t.proven[i] {
			continue
		}
		for _, at := range c.cols {
			if col >= 0 && at != col {
				return 0, false
			}
			col = at
		}
	}
	if col < 0 {
		return 0, false
	}
	for _, c := range t.counts {
		if c >= 0 && c != col && !f.noNulls(Col{c, t.m.scan.Types[c]}) {
			return 0, false
		}
	}
	return col, true
}

// block takes in block i; false when its rows have to be read.
func (t *tallySink) block(ctx context.Context, i int) (bool, error) {
	b, ok := t.m.blocks[i].(Tallier)
	if !ok {
		return false, nil
	}
	col, ok := t.column(blockFacts{t.m.scan, t.m.blocks[i]})
	if !ok {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
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
		t.batch.Len, t.batch.Sel = to-from, nil
		t.batch.Cols[col] = y.Values.Slice(from, to)
		sel, err := t.filter.rows(&t.batch)
		if err != nil {
			return false, err
		}
		if len(sel) == 0 {
			continue
		}
		rows, firsts := y.Rows[from:to], y.Firsts[from:to]
		if len(sel) < t.batch.Len {
			t.batch.Sel = sel
			rows, firsts = take(&t.rows, rows, sel), take(&t.firsts, firsts, sel)
		}
		if err := t.add(col, rows, firsts); err != nil {
			return false, err
		}
	}
	return true, nil
}

// add takes in the values of t.batch.
func (t *tallySink) add(col int, rows []int64, firsts []int32) error {
	s := t.s
	s.p.in.set(&t.batch)
	var gids []uint32
	if s.group != nil {
		if err := s.evalKeys(); err != nil {
			return err
		}
		gids = s.group.ids(s.keys, len(rows))
		if n := s.group.len(); n > len(s.firsts) {
			s.met(gids, firsts, n)
		}
	}
	for i, acc := range t.accs {
		var v *vector.Vector
		if c := t.counts[i]; c < 0 || c == col {
			var err error
			if v, err = s.arg(i); err != nil {
				return err
			}
		}
		if err := acc.addWeighted(v, gids, rows); err != nil {
			return err
		}
	}
	return s.account()
}

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

func (a *bitAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	return a.add(v, gids, len(weights))
}
