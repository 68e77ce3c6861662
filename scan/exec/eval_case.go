package exec

import (
	"fmt"

	"millrace/internal/vector"
)

// caseEval is Case. Conditions and branches are evaluated only for the rows that come to them.
type caseEval struct {
	t     Type
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

	result column
	order  []int32 // for each row: where in out its value is
}

func (c *compiler) caseOf(e Case) (evaluator, error) {
	out := &caseEval{t: e.T}
	branch := func(b Expr, t Type) (evaluator, error) {
		if b == nil {
			return nil, nil
		}
		if t.Kind != b.Type().Kind || t.Scale != b.Type().Scale {
			return nil, fmt.Errorf("%w: CASE of %v with %v", ErrNotSupported, t, b.Type())
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
	v := e.out.vector()
	return e.result.gather(&v, e.order), nil
}

// over is the input cut down to rows.
func (e *caseEval) over(in *input, rows []int32) *input {
	e.batch = Batch{Len: in.b.Len, Sel: rows, Cols: in.b.Cols}
	e.sub.set(&e.batch)
	return &e.sub
}
