package exec

import (
	"fmt"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// inEval is In.
type inEval struct {
	arg   evaluator
	kind  vector.Kind
	null  bool // a miss is NULL
	ints  map[int64]struct{}
	uints map[uint64]struct{}
	float map[float64]struct{}
	decs  map[wideint.Int256]struct{}
	texts map[string]struct{}

	out   column
	i64   []int64
	valid []uint64
	own   []uint64
}

func (c *compiler) in(e In) (evaluator, error) {
	t := e.Arg.Type()
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	in := &inEval{
		arg: arg, kind: t.Kind, null: e.Null,
		ints: map[int64]struct{}{}, uints: map[uint64]struct{}{}, float: map[float64]struct{}{},
		decs: map[wideint.Int256]struct{}{}, texts: map[string]struct{}{},
	}
	for _, v := range e.List {
		if v.T != t {
			return nil, fmt.Errorf("%w: IN of %v among %v", ErrNotSupported, t, v.T)
		}
		if v.Null {
			in.null = true
			continue
		}
		switch t.Kind {
		case vector.Int:
			in.ints[v.Int] = struct{}{}
		case vector.Uint:
			in.uints[v.Uint] = struct{}{}
		case vector.Float:
			in.float[v.Float] = struct{}{}
		case vector.String:
			in.texts[string(v.Bytes)] = struct{}{}
		default:
			in.decs[wideint.From256(v.Dec)] = struct{}{}
		}
	}
	return in, nil
}

func (e *inEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	out := e.out.bools(n)
	switch e.kind {
	case vector.Int:
		for i, x := range intsOf(v, n, &e.i64) {
			_, ok := e.ints[x]
			out[i] = int8(b2i(ok))
		}
	case vector.Uint:
		for i := range out {
			_, ok := e.uints[v.Uint64[at(v, i)]]
			out[i] = int8(b2i(ok))
		}
	case vector.Float:
		for i := range out {
			_, ok := e.float[v.Float64[at(v, i)]]
			out[i] = int8(b2i(ok))
		}
	case vector.String:
		for i := range out {
			_, ok := e.texts[string(v.Text(i))]
			out[i] = int8(b2i(ok))
		}
	default:
		for i := range out {
			_, ok := e.decs[decOf(v, i)]
			out[i] = int8(b2i(ok))
		}
	}
	valid := validOf(v, n, &e.valid)
	if e.null {
		own := onesOf(n, &e.own)
		for i, hit := range out {
			if hit == 0 || valid != nil && !bitSet(valid, i) {
				setValid(own, i, false)
			}
		}
		valid = own
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}
