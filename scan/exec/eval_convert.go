package exec

import (
	"fmt"
	"math"
	"strconv"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// convertEval is Convert.
type convertEval struct {
	arg      evaluator
	from, to Type
	text     string
	out      column
	ints     []int64
	valid    []uint64
}

func (c *compiler) convert(e Convert) (evaluator, error) {
	from, to := e.Arg.Type(), e.T
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	if from == to {
		return arg, nil
	}
	ok := false
	switch from.Kind {
	case vector.Int, vector.Uint:
		ok = to.Kind != vector.String || from.Kind == vector.Int
	case vector.Decimal128, vector.Decimal256:
		ok = to.Kind == vector.Float || decimalKind(to.Kind) && to.Scale >= from.Scale
	}
	if !ok {
		return nil, fmt.Errorf("%w: conversion of %v to %v", ErrNotSupported, from, to)
	}
	return &convertEval{arg: arg, from: from, to: to, text: e.Text}, nil
}

func (e *convertEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	valid := validOf(v, n, &e.valid)
	null := func(i int) bool { return valid != nil && !bitSet(valid, i) }
	switch e.to.Kind {
	case vector.Int:
		out := e.out.ints(n)
		for i := range out {
			x := v.Uint64[at(v, i)]
			if x > math.MaxInt64 && !null(i) {
				return nil, &RangeError{Type: "BIGINT", Text: e.text}
			}
			out[i] = int64(x)
		}
	case vector.Uint:
		ints := intsOf(v, n, &e.ints)
		out := e.out.uints(n)
		for i := range out {
			if ints[i] < 0 && !null(i) {
				return nil, &RangeError{Type: "BIGINT UNSIGNED", Text: e.text}
			}
			out[i] = uint64(ints[i])
		}
	case vector.Float:
		out := e.out.floats64(n)
		switch {
		case e.from.Kind == vector.Int:
			for i, x := range intsOf(v, n, &e.ints) {
				out[i] = float64(x)
			}
		case e.from.Kind == vector.Uint:
			for i := range out {
				out[i] = float64(v.Uint64[at(v, i)])
			}
		default:
			for i := range out {
				out[i] = 0
				if !null(i) {
					out[i] = decOf(v, i).Float(e.from.Scale)
				}
			}
		}
	case vector.Decimal128, vector.Decimal256:
		if err := e.decimals(v, n, null); err != nil {
			return nil, err
		}
	case vector.String:
		b := e.out.texts()
		for i, x := range intsOf(v, n, &e.ints) {
			if !null(i) {
				e.out.bytes = strconv.AppendInt(e.out.bytes, x, 10)
			}
			if err := b.end(); err != nil {
				return nil, err
			}
		}
		b.done()
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

// at is the slot of row i.
func at(v *vector.Vector, i int) int {
	if v.Const {
		return 0
	}
	return i
}

func (e *convertEval) decimals(v *vector.Vector, n int, null func(int) bool) error {
	wide := e.to.Kind == vector.Decimal256
	e.out.reset(e.to, n)
	if wide {
		e.out.v.Dec256 = grown(&e.out.dec256, n)
	} else {
		e.out.v.Dec128 = grown(&e.out.dec128, n)
	}
	var ints []int64
	if e.from.Kind == vector.Int {
		ints = intsOf(v, n, &e.ints)
	}
	for i := range n {
		var x wideint.Int256
		ok := true
		if !null(i) {
			switch e.from.Kind {
			case vector.Int:
				x = wideint.From64(ints[i])
			case vector.Uint:
				x = wideint.Int256{v.Uint64[at(v, i)]}
			default:
				x = decOf(v, i)
			}
			x, ok = x.Rescale(e.to.Scale - e.from.Scale)
		}
		if !ok || !x.InDecimal(wide) {
			return &RangeError{Type: "DECIMAL", Text: e.text}
		}
		if wide {
			e.out.v.Dec256[i] = x.Num()
		} else {
			e.out.v.Dec128[i] = x.Num128()
		}
	}
	return nil
}
