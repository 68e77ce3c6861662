package exec

import (
	"bytes"
	"cmp"
	"fmt"

	"millrace/internal/vector"
)

// compareEval is Compare of any two expressions; filters of a column against a constant have
// kernels of their own.
type compareEval struct {
	op       CompareOp
	l, r     evaluator
	kind     vector.Kind
	out      column
	va, vb   []uint64
	and      []uint64
	li, ri   []int64
	lu, ru   []uint64
	lf, rf   []float64
	lessOnly [3]int8 // truth of less, equal, greater
}

func (c *compiler) compare(e Compare) (evaluator, error) {
	lt, rt := e.L.Type(), e.R.Type()
	if lt != rt {
		return nil, fmt.Errorf("%w: comparison of %v with %v", ErrNotSupported, lt, rt)
	}
	evs, err := c.all(e.L, e.R)
	if err != nil {
		return nil, err
	}
	return &compareEval{op: e.Op, l: evs[0], r: evs[1], kind: lt.Kind, lessOnly: truths(e.Op)}, nil
}

// truths of an operator for less, equal, greater.
func truths(op CompareOp) [3]int8 {
	switch op {
	case EQ, NullSafeEQ:
		return [3]int8{0, 1, 0}
	case NE:
		return [3]int8{1, 0, 1}
	case LT:
		return [3]int8{1, 0, 0}
	case LE:
		return [3]int8{1, 1, 0}
	case GT:
		return [3]int8{0, 0, 1}
	}
	return [3]int8{0, 1, 1}
}

func (e *compareEval) eval(in *input) (*vector.Vector, error) {
	l, err := e.l.eval(in)
	if err != nil {
		return nil, err
	}
	r, err := e.r.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	va, vb := validOf(l, n, &e.va), validOf(r, n, &e.vb)
	out := e.out.bools(n)
	switch e.kind {
	case vector.Int:
		orderInto(out, intsOf(l, n, &e.li), intsOf(r, n, &e.ri))
	case vector.Uint:
		orderInto(out, plainOf(l.Uint64, l, n, &e.lu), plainOf(r.Uint64, r, n, &e.ru))
	case vector.Float:
		orderInto(out, plainOf(l.Float64, l, n, &e.lf), plainOf(r.Float64, r, n, &e.rf))
	case vector.String:
		for i := range out {
			out[i] = int8(bytes.Compare(l.Text(i), r.Text(i)))
		}
	default:
		for i := range out {
			out[i] = int8(decOf(l, i).Cmp(decOf(r, i)))
		}
	}
	for i, o := range out {
		out[i] = e.lessOnly[o+1]
	}
	if e.op == NullSafeEQ {
		if va != nil || vb != nil {
			for i := range out {
				a, b := va == nil || bitSet(va, i), vb == nil || bitSet(vb, i)
				if !a || !b {
					out[i] = int8(b2i(a == b))
				}
			}
		}
		return &e.out.v, nil
	}
	e.out.setNulls(andValid(va, vb, &e.and))
	return &e.out.v, nil
}

// orderInto sets −1, 0 or 1.
func orderInto[T cmp.Ordered](out []int8, l, r []T) {
	l, r = l[:len(out)], r[:len(out)]
	for i := range out {
		a, b := l[i], r[i]
		out[i] = int8(b2i(a > b) - b2i(a < b))
	}
}
