package exec

import (
	"fmt"

	"millrace/internal/vector"
)

// truthsOf is v's n truth values as 0 or 1; what lies under NULL is unspecified.
func truthsOf(v *vector.Vector, n int, scratch *[]int8) []int8 {
	if v.Int8 != nil && !v.Const && v.Base == 0 {
		return v.Int8[:n]
	}
	out := grown(scratch, n)
	for i := range out {
		out[i] = int8(b2i(v.Int(i) != 0))
	}
	return out
}

// connectiveEval is And or Or. An argument that may fail is evaluated only for the rows that
// those before it have not decided.
type connectiveEval struct {
	and      bool
	args     []evaluator
	fallible []bool
	out      column
	valid    []uint64
	av       []uint64
	at       []int8
	open     []int32 // input rows not decided, as row numbers of the batch
	where    []int32 // and which results they are
	sub      input
	subBatch Batch
}

func (c *compiler) connective(args []Expr, and bool) (evaluator, error) {
	e := &connectiveEval{and: and}
	for i, a := range args {
		if a.Type().Kind != vector.Int {
			return nil, fmt.Errorf("%w: %v as a truth value", ErrNotSupported, a.Type())
		}
		risky := i > 0 && Fallible(a)
		ev, err := c.compile(a)
		if risky {
			ev, err = c.branch(a)
		}
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, ev)
		e.fallible = append(e.fallible, risky)
	}
	return e, nil
}

func (e *connectiveEval) eval(in *input) (*vector.Vector, error) {
	n := in.n
	out := e.out.bools(n)
	neutral := int8(b2i(e.and))
	fillWith(out, neutral)
	var valid []uint64 // of out: NULL where undecided and some argument was NULL
	for k, a := range e.args {
		if e.fallible[k] {
			var err error
			if valid, err = e.risky(a, in, out, valid); err != nil {
				return nil, err
			}
			continue
		}
		v, err := a.eval(in)
		if err != nil {
			return nil, err
		}
		t := truthsOf(v, n, &e.at)
		av := validOf(v, n, &e.av)
		if av == nil && valid == nil {
			if e.and {
				for i := range out {
					out[i] &= t[i] & 1
				}
			} else {
				for i := range out {
					out[i] |= t[i] & 1
				}
			}
			continue
		}
		valid = e.nullable(valid, n)
		for i := range out {
			e.combine(out, valid, i, t[i], av == nil || bitSet(av, i))
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *connectiveEval) nullable(valid []uint64, n int) []uint64 {
	if valid == nil {
		return onesOf(n, &e.valid)
	}
	return valid
}

// combine takes one argument's truth into row i.
func (e *connectiveEval) combine(out []int8, valid []uint64, i int, t int8, known bool) {
	neutral := int8(b2i(e.and))
	switch {
	case out[i] != neutral: // decided
	case !known:
		setValid(valid, i, false)
	case t != neutral:
		out[i] = 1 - neutral
		setValid(valid, i, true)
	}
}

func (e *connectiveEval) risky(a evaluator, in *input, out []int8, valid []uint64) ([]uint64, error) {
	neutral := int8(b2i(e.and))
	rows := in.b.rows()
	e.open, e.where = e.open[:0], e.where[:0]
	for i, x := range out {
		if x == neutral {
			e.open = append(e.open, rows[i])
			e.where = append(e.where, int32(i))
		}
	}
	if len(e.open) == 0 {
		return valid, nil
	}
	e.subBatch = Batch{Len: in.b.Len, Sel: e.open, Cols: in.b.Cols}
	e.sub.set(&e.subBatch)
	v, err := a.eval(&e.sub)
	if err != nil {
		return nil, err
	}
	t := truthsOf(v, e.sub.n, &e.at)
	av := validOf(v, e.sub.n, &e.av)
	valid = e.nullable(valid, in.n)
	for k, i := range e.where {
		e.combine(out, valid, int(i), t[k], av == nil || bitSet(av, k))
	}
	return valid, nil
}

// notEval is Not.
type notEval struct {
	arg   evaluator
	out   column
	t     []int8
	valid []uint64
}

func (c *compiler) not(e Not) (evaluator, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	if e.Arg.Type().Kind != vector.Int {
		return nil, fmt.Errorf("%w: NOT of %v", ErrNotSupported, e.Arg.Type())
	}
	return &notEval{arg: arg}, nil
}

func (e *notEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	out := e.out.bools(in.n)
	for i, t := range truthsOf(v, in.n, &e.t) {
		out[i] = t ^ 1
	}
	e.out.setNulls(validOf(v, in.n, &e.valid))
	return &e.out.v, nil
}

// nullEval is IsNull.
type nullEval struct {
	arg   evaluator
	out   column
	valid []uint64
}

func (c *compiler) isNull(e IsNull) (evaluator, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	return &nullEval{arg: arg}, nil
}

func (e *nullEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	out := e.out.bools(in.n)
	valid := validOf(v, in.n, &e.valid)
	for i := range out {
		out[i] = int8(b2i(valid != nil && !bitSet(valid, i)))
	}
	return &e.out.v, nil
}

// Fallible says that evaluating e may be an error for some row.
func Fallible(e Expr) bool {
	switch e := e.(type) {
	case nil, Col, Const:
		return false
	case Arith, Convert, Map:
		return true
	case Compare:
		return Fallible(e.L) || Fallible(e.R)
	case And:
		return anyFallible(e.Args)
	case Or:
		return anyFallible(e.Args)
	case Not:
		return Fallible(e.Arg)
	case IsNull:
		return Fallible(e.Arg)
	case In:
		return Fallible(e.Arg)
	case Like:
		return Fallible(e.Arg)
	case Case:
		for _, w := range e.When {
			if Fallible(w.Cond) || Fallible(w.Then) {
				return true
			}
		}
		return Fallible(e.Else)
	case Func:
		return e.Fn == Abs || e.Fn == FloorTo || e.Fn == Round || e.Fn == Ceil || e.Fn == Floor || anyFallible(e.Args)
	}
	return true
}

func anyFallible(args []Expr) bool {
	for _, a := range args {
		if Fallible(a) {
			return true
		}
	}
	return false
}
