package exec

import (
	"fmt"

	"millrace/internal/vector"
)

// caseEval is Case. Conditions and branches are evaluated only for the rows that come to them.
type caseEval struct {
	t     Type
	blend bool // nothing can fail: all branches are computed for all rows, then chosen from
	conds []evaluator
	thens []evaluator // one more than conds: else; nil is NULL

	out   builder
	rest  []int32 // rows of the batch not yet decided
	where []int32 // and which results they are
	open  []int32
	openW []int32
	taken []int32
	takeW []int32
	truth []int8
	valid []uint64
	sub   input
	batch Batch

	null      vector.Vector
	thenValid []uint64
	known     []int8
	ints      []int64
	floats    []float64

	result column
	order  []int32 // for each row: where in out its value is
}

func (c *compiler) caseOf(e Case) (evaluator, error) {
	out := &caseEval{t: e.T, blend: !Fallible(e) && (e.T.Kind == vector.Int || e.T.Kind == vector.Float)}
	branch := func(b Expr, t Type) (evaluator, error) {
		if b == nil {
			return nil, nil
		}
		if t.Kind != b.Type().Kind || t.Scale != b.Type().Scale {
			return nil, fmt.Errorf("%w: CASE of %v with %v", ErrNotSupported, t, b.Type())
		}
		if out.blend {
			return c.compile(b)
		}
		return c.branch(b)
	}
	for _, w := range e.When {
		cond, err := branch(w.Cond, Bool)
		if err != nil {
			return nil, err
		}
		then, err := branch(w.Then, e.T)
		if err != nil {
			return nil, err
		}
		if cond == nil {
			return nil, fmt.Errorf("%w: CASE without a condition", ErrNotSupported)
		}
		out.conds = append(out.conds, cond)
		out.thens = append(out.thens, then)
	}
	last, err := branch(e.Else, e.T)
	if err != nil {
		return nil, err
	}
	out.thens = append(out.thens, last)
	return out, nil
}

func (e *caseEval) eval(in *input) (*vector.Vector, error) {
	if e.blend {
		return e.choose(in)
	}
	n := in.n
	e.rest = append(e.rest[:0], in.b.rows()...)
	e.where = append(e.where[:0], allRows[:n]...)
	e.out.reset(e.t)
	e.order = grown(&e.order, n)
	next := int32(0)
	take := func(then evaluator, rows, where []int32) error {
		if len(rows) == 0 {
			return nil
		}
		var v vector.Vector
		if then == nil {
			v = nullVector(e.t, len(rows))
		} else {
			r, err := then.eval(e.over(in, rows))
			if err != nil {
				return err
			}
			v = *r
		}
		e.out.appendAll(&v, len(rows))
		for _, w := range where {
			e.order[w] = next
			next++
		}
		return nil
	}
	for k, cond := range e.conds {
		if len(e.rest) == 0 {
			break
		}
		v, err := cond.eval(e.over(in, e.rest))
		if err != nil {
			return nil, err
		}
		truth := truthsOf(v, len(e.rest), &e.truth)
		valid := validOf(v, len(e.rest), &e.valid)
		e.open, e.openW, e.taken, e.takeW = e.open[:0], e.openW[:0], e.taken[:0], e.takeW[:0]
		for i, row := range e.rest {
			if truth[i] != 0 && (valid == nil || bitSet(valid, i)) {
				e.taken, e.takeW = append(e.taken, row), append(e.takeW, e.where[i])
			} else {
				e.open, e.openW = append(e.open, row), append(e.openW, e.where[i])
			}
		}
		e.rest, e.open = e.open, e.rest
		e.where, e.openW = e.openW, e.where
		if err := take(e.thens[k], e.taken, e.takeW); err != nil {
			return nil, err
		}
	}
	if err := take(e.thens[len(e.conds)], e.rest, e.where); err != nil {
		return nil, err
	}
	if err := e.out.fits(); err != nil {
		return nil, err
	}
	v := e.out.vector()
	return e.result.gather(&v, e.order), nil
}

// over is the input cut down to rows.
func (e *caseEval) over(in *input, rows []int32) *input {
	e.batch = Batch{Len: in.b.Len, Sel: rows, Cols: in.b.Cols}
	e.sub.set(&e.batch)
	return &e.sub
}

// choose starts from the last branch and puts the earlier ones over it.
func (e *caseEval) choose(in *input) (*vector.Vector, error) {
	n := in.n
	last := len(e.thens) - 1
	v := &e.null
	if e.thens[last] == nil {
		*v = nullVector(e.t, n)
	} else {
		var err error
		if v, err = e.thens[last].eval(in); err != nil {
			return nil, err
		}
	}
	valid := validOf(v, n, &e.thenValid)
	float := e.t.Kind == vector.Float
	var ints []int64
	var floats []float64
	if float {
		floats = e.result.floats64(n)
		copy(floats, plainOf(v.Float64, v, n, &e.floats))
	} else {
		ints = e.result.ints(n)
		copy(ints, intsOf(v, n, &e.ints))
	}
	if valid != nil {
		valid = append(e.result.valid[:0], valid...)
		e.result.valid = valid
	}
	for k := last - 1; k >= 0; k-- {
		cond, err := e.conds[k].eval(in)
		if err != nil {
			return nil, err
		}
		t := truthsOf(cond, n, &e.truth)
		if cv := validOf(cond, n, &e.valid); cv != nil {
			known := grown(&e.known, n)
			for i := range known {
				known[i] = t[i] & int8(cv[i>>6]>>(i&63)&1)
			}
			t = known
		}
		then, err := e.thens[k].eval(in)
		if err != nil {
			return nil, err
		}
		tv := validOf(then, n, &e.thenValid)
		if float {
			over(floats, plainOf(then.Float64, then, n, &e.floats), t)
		} else {
			over(ints, intsOf(then, n, &e.ints), t)
		}
		if valid == nil && tv == nil {
			continue
		}
		if valid == nil {
			valid = onesOf(n, &e.result.valid)
		}
		for i, hit := range t[:n] {
			if hit != 0 {
				setValid(valid, i, tv == nil || bitSet(tv, i))
			}
		}
	}
	e.result.setNulls(valid)
	return &e.result.v, nil
}

// over copies the values whose condition is true.
func over[T int64 | float64](out, vals []T, t []int8) {
	vals, t = vals[:len(out)], t[:len(out)]
	for i, x := range vals {
		if t[i] != 0 {
			out[i] = x
		}
	}
}
