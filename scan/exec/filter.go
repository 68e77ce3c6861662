package exec

import (
	"slices"

	"millrace/internal/vector"
)

// conjunct is one of the conditions that a row must meet.
type conjunct struct {
	e        Expr
	cols     []int // that it reads
	fallible bool
}

// conjuncts splits conditions at their topmost Ands; nil ones are left out. Those that cannot fail
// come first, cheap ones before dear ones; those that may fail keep their order, so that each is
// evaluated only for rows that those before it let pass.
func conjuncts(conds []Expr) []conjunct {
	var out []conjunct
	var split func(e Expr)
	split = func(e Expr) {
		if e == nil {
			return
		}
		if a, ok := e.(And); ok {
			for _, e := range a.Args {
				split(e)
			}
			return
		}
		cols := columnsOf(e, nil)
		slices.Sort(cols)
		out = append(out, conjunct{e: e, cols: slices.Compact(cols), fallible: fallible(e)})
	}
	for _, e := range conds {
		split(e)
	}
	slices.SortStableFunc(out, func(a, b conjunct) int { return a.cost() - b.cost() })
	return out
}

// cost orders conjuncts.
func (c *conjunct) cost() int {
	if c.fallible {
		return 100
	}
	switch e := c.e.(type) {
	case Compare:
		if col, _, _, ok := columnAndConst(e); ok {
			switch col.T.Kind {
			case vector.Int, vector.Float:
				return 1
			case vector.String:
				return 2
			}
			return 5
		}
	case IsNull:
		if _, ok := e.Arg.(Col); ok {
			return 1
		}
	case In:
		if _, ok := e.Arg.(Col); ok {
			return 3
		}
	case Like:
		return 6
	}
	return 10 + len(c.cols)
}

// columnsOf appends the columns that e reads.
func columnsOf(e Expr, dst []int) []int {
	walk(e, func(e Expr) {
		if c, ok := e.(Col); ok {
			dst = append(dst, c.Index)
		}
	})
	return dst
}

// walk calls f for e and everything below it.
func walk(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	all := func(args ...Expr) {
		for _, a := range args {
			walk(a, f)
		}
	}
	switch e := e.(type) {
	case Arith:
		all(e.L, e.R)
	case Convert:
		all(e.Arg)
	case Compare:
		all(e.L, e.R)
	case And:
		all(e.Args...)
	case Or:
		all(e.Args...)
	case Not:
		all(e.Arg)
	case IsNull:
		all(e.Arg)
	case In:
		all(e.Arg)
	case Like:
		all(e.Arg)
	case Case:
		for _, w := range e.When {
			all(w.Cond, w.Then)
		}
		all(e.Else)
	case Func:
		all(e.Args...)
	case Map:
		all(e.Arg)
	}
}

// filterStep keeps the rows that meet all of its conditions.
type filterStep struct {
	all  []selector // by condition
	sels []selector // those that are to be looked at
	bufs [2][]int32
	out  Batch
}

// selector picks rows for which a condition has a truth value.
type selector interface {
	// pick writes to dst, which has room for chunkRows, those of rows for which the condition is
	// true, or, if not want, false; never those for which it is NULL. It says how many. rows nil are
	// all of b. dst may be rows.
	pick(b *Batch, rows []int32, want bool, dst []int32) (int, error)
}

func newFilterStep(schema []Type, conds []Expr) (*filterStep, error) {
	return newConjunctStep(schema, conjuncts(conds))
}

func newConjunctStep(schema []Type, conds []conjunct) (*filterStep, error) {
	f := &filterStep{}
	for _, c := range conds {
		s, err := newSelector(schema, c.e)
		if err != nil {
			return nil, err
		}
		f.all = append(f.all, s)
	}
	for i := range f.bufs {
		f.bufs[i] = make([]int32, chunkRows)
	}
	f.skip(make([]bool, len(conds)))
	return f, nil
}

// skip leaves out conditions that are known to hold.
func (f *filterStep) skip(known []bool) {
	f.sels = f.sels[:0]
	for i, s := range f.all {
		if known[i] {
			continue
		}
		if r, ok := s.(*intRange); !ok || !f.meets(r) {
			if ok {
				own := *r // ranges of a column are made one
				s = &own
			}
			f.sels = append(f.sels, s)
		}
	}
}

// meets takes r into the range of the same column that is there already.
func (f *filterStep) meets(r *intRange) bool {
	for _, o := range f.sels {
		if o, ok := o.(*intRange); ok && o.meet(r) {
			return true
		}
	}
	return false
}

// rows are the rows of b that meet all conditions, valid until the next call.
func (f *filterStep) rows(b *Batch) ([]int32, error) {
	rows := b.Sel
	for i, s := range f.sels {
		dst := f.bufs[i&1]
		n, err := s.pick(b, rows, true, dst)
		if err != nil {
			return nil, err
		}
		rows = dst[:n]
		if n == 0 {
			break
		}
	}
	if rows == nil {
		rows = allRows[:b.Len]
	}
	return rows, nil
}

func (f *filterStep) apply(b *Batch) (*Batch, error) {
	rows, err := f.rows(b)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	f.out = Batch{Len: b.Len, Sel: rows, Cols: b.Cols}
	if len(rows) == b.Len {
		f.out.Sel = nil
	}
	return &f.out, nil
}
