package exec

import (
	"fmt"
	"math"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// roundEval is Abs, Round, Floor and Ceil.
type roundEval struct {
	fn       Fn
	arg      evaluator
	from, to Type
	digits   int64
	text     string
	out      column
	ints     []int64
	fl       []float64
	valid    []uint64
}

func newRounding(e Func, arg evaluator, from Type, digits int64) (evaluator, error) {
	r := &roundEval{fn: e.Fn, arg: arg, from: from, to: e.T, digits: digits}
	ok := false
	switch from.Kind {
	case vector.Int, vector.Uint:
		ok = e.T == from && (e.Fn != Round || digits >= 0)
	case vector.Float:
		ok = e.T == from
	case vector.Decimal128, vector.Decimal256:
		ok = decimalKind(e.T.Kind) || e.T.Kind == vector.Int && e.Fn != Abs
	}
	if !ok {
		return nil, fmt.Errorf("%w: rounding of %v to %v", ErrNotSupported, from, e.T)
	}
	return r, nil
}

func (e *roundEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	valid := validOf(v, n, &e.valid)
	switch e.from.Kind {
	case vector.Int:
		if e.fn != Abs {
			return v, nil
		}
		out := e.out.ints(n)
		for i, x := range intsOf(v, n, &e.ints) {
			if x == math.MinInt64 && (valid == nil || bitSet(valid, i)) {
				return nil, &RangeError{Type: "BIGINT", Text: "abs"}
			}
			out[i] = max(x, -x)
		}
	case vector.Uint:
		return v, nil
	case vector.Float:
		out := e.out.floats64(n)
		for i, x := range plainOf(v.Float64, v, n, &e.fl) {
			switch e.fn {
			case Abs:
				x = math.Abs(x)
			case Floor:
				x = math.Floor(x)
			case Ceil:
				x = math.Ceil(x)
			case Round:
				x = roundFloat(x, e.digits)
			}
			out[i] = x
		}
	default:
		if err := e.decimals(v, n, valid); err != nil {
			return nil, err
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

// roundFloat rounds to digits after the point, halves to even as MySQL's rint does.
func roundFloat(x float64, digits int64) float64 {
	switch {
	case digits == 0:
		return math.RoundToEven(x)
	case digits > 308 || math.IsInf(x, 0) || math.IsNaN(x):
		return x
	case digits < -308:
		return 0
	}
	p := math.Pow10(int(max(digits, -digits)))
	if digits < 0 {
		return math.RoundToEven(x/p) * p
	}
	y := math.RoundToEven(x * p)
	if math.IsInf(y, 0) {
		return x
	}
	return y / p
}

func (e *roundEval) decimals(v *vector.Vector, n int, valid []uint64) error {
	e.out.reset(e.to, n)
	switch e.to.Kind {
	case vector.Int:
		e.out.v.Int64 = grown(&e.out.int64s, n)
	case vector.Decimal256:
		e.out.v.Dec256 = grown(&e.out.dec256, n)
	default:
		e.out.v.Dec128 = grown(&e.out.dec128, n)
	}
	for i := range n {
		var x wideint.Int256
		ok := true
		if valid == nil || bitSet(valid, i) {
			x, ok = e.decimal(decOf(v, i))
		}
		switch {
		case e.to.Kind == vector.Int:
			if !ok || !x.Fits64() {
				return &RangeError{Type: "BIGINT", Text: e.text}
			}
			e.out.v.Int64[i] = int64(x[0])
		case !ok || !x.InDecimal(e.to.Kind == vector.Decimal256):
			return &RangeError{Type: "DECIMAL", Text: e.text}
		case e.to.Kind == vector.Decimal256:
			e.out.v.Dec256[i] = x.Num()
		default:
			e.out.v.Dec128[i] = decimal128.New(int64(x[1]), x[0])
		}
	}
	return nil
}

func (e *roundEval) decimal(x wideint.Int256) (wideint.Int256, bool) {
	scale := e.from.Scale
	switch e.fn {
	case Abs:
		x = x.Abs()
	case Round:
		digits := int32(min(e.digits, int64(scale)))
		if e.digits < -80 {
			return wideint.Int256{}, true
		}
		x, _ = x.Rescale(digits - scale)
		scale = digits
	case Floor, Ceil:
		if scale > 0 {
			q, r := x.QuoRem(wideint.Pow10[scale])
			if r != (wideint.Int256{}) && (e.fn == Floor) == r.Negative() {
				if e.fn == Floor {
					q.Add(wideint.From64(-1))
				} else {
					q.Add(wideint.From64(1))
				}
			}
			x, scale = q, 0
		}
	}
	return x.Rescale(e.to.Scale - scale)
}
