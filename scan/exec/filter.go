package exec

import "slices"

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
	return out
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
	sels []selector
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
		f.sels = append(f.sels, s)
	}
	for i := range f.bufs {
		f.bufs[i] = make([]int32, chunkRows)
	}
	return f, nil
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

// newSelector makes the selector of a condition.
func newSelector(schema []Type, e Expr) (selector, error) {
	p, err := newProgram(schema, []Expr{e})
	if err != nil {
		return nil, err
	}
	return &valueSelector{p: p}, nil
}

// valueSelector evaluates the condition as a value.
type valueSelector struct {
	p     *program
	batch Batch
	truth []int8
	valid []uint64
}

func (s *valueSelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	s.batch = Batch{Len: b.Len, Sel: rows, Cols: b.Cols}
	s.p.in.set(&s.batch)
	v, err := s.p.evs[0].eval(&s.p.in)
	if err != nil {
		return 0, err
	}
	n := s.p.in.n
	t := truthsOf(v, n, &s.truth)
	valid := validOf(v, n, &s.valid)
	if rows == nil {
		rows = allRows[:b.Len]
	}
	flip := int8(b2i(!want))
	k := 0
	if valid == nil {
		for i, row := range rows {
			dst[k] = row
			k += int(t[i]&1 ^ flip)
		}
		return k, nil
	}
	for i, row := range rows {
		dst[k] = row
		k += int(t[i]&1^flip) & int(valid[i>>6]>>(i&63)&1)
	}
	return k, nil
}
