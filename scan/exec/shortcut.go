package exec

import (
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/wideint"
)

// fromStats answers aggregates without groups for those blocks all of whose rows count, out of
// exact statistics: they are taken into s, and the blocks that have to be read are left in m.
func (m *morsels) fromStats(n *Aggregate, s *groupSink) {
	if len(n.By) > 0 || len(m.steps) > 0 || m.scan.Reverse {
		return
	}
	var cols []int // by aggregate; −1: rows are counted
	for i, a := range n.Aggs {
		c, ok := a.Arg.(Col)
		switch {
		case a.Kind == CountRows:
			cols = append(cols, -1)
			continue
		case !ok || a.Distinct && a.Kind != Min && a.Kind != Max:
			return
		}
		if _, ok := s.accs[i].(statAcc); !ok {
			return
		}
		cols = append(cols, c.Index)
	}
	rest := m.blocks[:0:0]
next:
	for _, b := range m.blocks {
		f := factsOf(m.scan, b)
		for _, c := range m.filter {
			if !f.passes(c) {
				rest = append(rest, b)
				continue next
			}
		}
		stats := make([]Stats, len(cols))
		for i, c := range cols {
			if c < 0 {
				continue
			}
			st, ok := f.exact(m.scan.Columns[c])
			if !ok || !s.accs[i].(statAcc).knows(st, b.Rows()) {
				rest = append(rest, b)
				continue next
			}
			stats[i] = st
		}
		if !m.visible(f, cols) {
			rest = append(rest, b)
			continue
		}
		for i, c := range cols {
			if c < 0 {
				if a, ok := s.accs[i].(*countAcc); ok { // else a sum counts them
					a.n[0] += int64(b.Rows())
				}
			} else {
				s.accs[i].(statAcc).addStats(stats[i], b.Rows())
			}
		}
	}
	if st := m.run.stats[m.scan]; st != nil {
		st.Answered += int64(len(m.blocks) - len(rest))
	}
	m.blocks = rest
}

// visible says that every row of the block counts, as far as is known.
func (m *morsels) visible(f blockFacts, cols []int) bool {
	for _, c := range cols {
		if c >= 0 {
			return true // its statistics said so
		}
	}
	for _, c := range m.scan.Columns {
		if _, ok := f.exact(c); ok {
			return true
		}
	}
	_, ok := f.exact(scan.Column{Kind: scan.Offset})
	return ok
}

// statAcc is an accumulator that can take a block in by its statistics.
type statAcc interface {
	knows(s Stats, rows int) bool
	addStats(s Stats, rows int)
}

func (a *countAcc) knows(Stats, int) bool { return true }

func (a *countAcc) addStats(s Stats, rows int) { a.n[0] += int64(rows - s.Nulls) }

func (a *intSumAcc) knows(s Stats, rows int) bool { return s.HasSum || s.Nulls == rows }

func (a *intSumAcc) addStats(s Stats, rows int) {
	if a.all {
		a.nulls = extend(a.nulls, 1)
		a.nulls[0] += int64(s.Nulls)
	}
	if s.Nulls == rows {
		return
	}
	a.wide = extend(a.wide, len(a.cells))
	x := wideint.From256(s.Sum.Dec)
	a.wide[0].Add(wideint.Int128{Lo: x[0], Hi: int64(x[1])}) // a block's sum of BIGINTs has less than 128 bits
	a.cells[0].n += int64(rows - s.Nulls)
}

func (a *wideSumAcc) knows(s Stats, rows int) bool { return s.HasSum || s.Nulls == rows }

func (a *wideSumAcc) addStats(s Stats, rows int) {
	if s.Nulls == rows {
		return
	}
	a.sums[0].Add(wideint.From256(s.Sum.Dec))
	a.n[0] += int64(rows - s.Nulls)
}

func (a *extremeAcc[T]) knows(s Stats, rows int) bool {
	return s.HasMin && s.HasMax || s.Nulls == rows
}

func (a *extremeAcc[T]) addStats(s Stats, rows int) { extremeOf(a, a.t, a.largest, s, rows) }

func (a *decExtremeAcc) knows(s Stats, rows int) bool {
	return s.HasMin && s.HasMax || s.Nulls == rows
}

func (a *decExtremeAcc) addStats(s Stats, rows int) { extremeOf(a, a.t, a.largest, s, rows) }

func (a *textExtremeAcc) knows(s Stats, rows int) bool {
	return s.HasMin && s.HasMax || s.Nulls == rows
}

func (a *textExtremeAcc) addStats(s Stats, rows int) {
	extremeOf(a, Type{Kind: vector.String}, a.largest, s, rows)
}

// extremeOf takes a bound in as if it were a row.
func extremeOf(a accumulator, t Type, largest bool, s Stats, rows int) {
	if s.Nulls == rows {
		return
	}
	k := s.Min
	if largest {
		k = s.Max
	}
	k.T = t
	if v, err := constVector(k); err == nil {
		_ = a.add(&v, nil, 1) // of a value of its type: no error
	}
}
