package exec

import "millrace/internal/vector"

// divEval is DIV or % of integers by a constant above one: truncating, without division.
type divEval struct {
	arg  evaluator
	by   floorer
	rest bool

	out   column
	ints  []int64
	valid []uint64
	cut   bucketRuns
}

func (e *divEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	x := intsOf(v, n, &e.ints)
	out := e.out.ints(n)
	x = x[:len(out)]
	by := e.by
	if e.rest {
		for i := range out {
			sign := x[i] >> 63
			r := by.rem(uint64((x[i] ^ sign) - sign))
			out[i] = (int64(r) ^ sign) - sign
		}
	} else {
		for i := range out {
			sign := x[i] >> 63
			q := by.quo(uint64((x[i] ^ sign) - sign))
			out[i] = (int64(q) ^ sign) - sign
		}
	}
	e.out.setNulls(validOf(v, n, &e.valid))
	return &e.out.v, nil
}
