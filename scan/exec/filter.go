package exec

import (
	"cmp"
	"slices"

	"millrace/internal/vector"
)

// conjunct is one of the conditions that a row must meet.
type conjunct struct {
	e        Expr
	cols     []int // that it reads
	given    []int // of these, those that are not NULL where it is true
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
		out = append(out, conjunct{e: e, cols: slices.Compact(cols), given: givenBy(e), fallible: Fallible(e)})
	}
	for _, e := range conds {
		split(e)
	}
	slices.SortStableFunc(out, func(a, b conjunct) int { return a.cost() - b.cost() })
	return out
}

// givenBy are columns that cannot be NULL where e is true.
func givenBy(e Expr) (cols []int) {
	add := func(e Expr) {
		if c, ok := e.(Col); ok {
			cols = append(cols, c.Index)
		}
	}
	switch e := e.(type) {
	case Col:
		add(e)
	case Compare:
		if e.Op != NullSafeEQ {
			add(e.L)
			add(e.R)
		}
	case In:
		add(e.Arg)
	case Like:
		add(e.Arg)
	case Not:
		switch arg := e.Arg.(type) {
		case IsNull:
			add(arg.Arg)
		case Compare, In, Like, Col:
			return givenBy(arg) // false, and so not NULL
		}
	}
	return cols
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

// filterStep keeps the rows that meet all of its conditions. Which of them go first is learnt on the way: those that leave out the most
// rows for what they cost. Those that may fail keep their place behind the others.
type filterStep struct {
	all   []condition // in the order in which they are looked at
	loose int         // how many of them cannot fail
	known []bool      // by place: it holds anyway
	calls int
	sels  []*condition // those that are to be looked at; of ranges of one column the first
	bufs  [2][]int32
	out   Batch
}

// condition is one of a filterStep.
type condition struct {
	selector
	ranged *intRange // the selector itself if it is one; sels may hold one with others' bounds, too
	at     int       // its place among the conditions as they were given
	cost   float64   // of a row, about
	seen   float64   // rows that were looked at lately
	passed float64   // of these, those that met it
}

// rank is lower for conditions that had better go first.
func (c *condition) rank() float64 {
	if c.seen == 0 {
		return c.cost
	}
	return c.cost / max(1-c.passed/c.seen, 1e-3)
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
	for i, c := range conds {
		s, err := newSelector(schema, c.e)
		if err != nil {
			return nil, err
		}
		r, _ := s.(*intRange)
		f.all = append(f.all, condition{selector: s, ranged: r, at: i, cost: float64(c.cost())})
		if !c.fallible {
			f.loose++
		}
	}
	for i := range f.bufs {
		f.bufs[i] = make([]int32, chunkRows)
	}
	f.skip(make([]bool, len(conds)))
	return f, nil
}

// skip leaves out conditions that are known to hold.
func (f *filterStep) skip(known []bool) {
	f.known = append(f.known[:0], known...)
	f.sels = f.sels[:0]
	for i := range f.all {
		c := &f.all[i]
		if known[c.at] {
			continue
		}
		if c.ranged != nil {
			if f.meets(c.ranged) {
				continue
			}
			own := *c.ranged // ranges of a column are made one
			c.selector = &own
		}
		f.sels = append(f.sels, c)
	}
}

// meets takes r into the range of the same column that is there already.
func (f *filterStep) meets(r *intRange) bool {
	for _, o := range f.sels {
		if o, ok := o.selector.(*intRange); ok && o.meet(r) {
			return true
		}
	}
	return false
}

// relearn is after how many batches the order is thought over.
const relearn = 16

// learn puts the conditions in a better order.
func (f *filterStep) learn() {
	slices.SortStableFunc(f.all[:f.loose], func(a, b condition) int { return cmp.Compare(a.rank(), b.rank()) })
	for i := range f.all {
		f.all[i].seen /= 2
		f.all[i].passed /= 2
	}
	f.skip(f.known)
}

// rows are the rows of b that meet all conditions, valid until the next call.
func (f *filterStep) rows(b *Batch) ([]int32, error) {
	if f.calls++; f.calls%relearn == 0 && len(f.sels) > 1 && f.loose > 1 {
		f.learn()
	}
	rows := b.Sel
	left := b.Rows()
	for i, c := range f.sels {
		dst := f.bufs[i&1]
		n, err := c.pick(b, rows, true, dst)
		if err != nil {
			return nil, err
		}
		c.seen += float64(left)
		c.passed += float64(n)
		rows, left = dst[:n], n
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
	f.out = Batch{Len: b.Len, Sel: rows, Cols: b.Cols, origin: b.origin}
	if len(rows) == b.Len {
		f.out.Sel = nil
	}
	return &f.out, nil
}
