package exec

import (
	"fmt"
	"math"
	"math/bits"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// arithEval is Arith. Overflow is looked for in all rows at once, by a flag that the loop
// gathers; only if it is set are the rows that are not NULL looked at one by one.
type arithEval struct {
	op     ArithOp
	l, r   evaluator // r is nil for Neg
	t      Type
	rescal int32 // of decimal division: digits to add to the dividend before dividing
	lScale int32
	rScale int32
	text   string

	out      column
	li, ri   []int64
	lu, ru   []uint64
	lf, rf   []float64
	va, vb   []uint64
	and, own []uint64
}

func (c *compiler) arith(e Arith) (evaluator, error) {
	a := &arithEval{op: e.Op, t: e.T, text: e.Text, lScale: e.L.Type().Scale}
	var err error
	if a.l, err = c.compile(e.L); err != nil {
		return nil, err
	}
	if e.Op == Neg {
		if e.T.Kind == vector.String || e.L.Type().Kind != e.T.Kind {
			return nil, fmt.Errorf("%w: negation", ErrNotSupported)
		}
		return a, nil
	}
	if d, ok := asConst(e.R); ok && !d.Null && d.Int > 1 && e.T.Kind == vector.Int && d.T.Kind == vector.Int && e.L.Type().Kind == vector.Int && (e.Op == IntDiv || e.Op == Mod) {
		return &divEval{arg: a.l, by: newFloorer(d.Int, 0), rest: e.Op == Mod}, nil
	}
	a.rScale = e.R.Type().Scale
	if a.r, err = c.compile(e.R); err != nil {
		return nil, err
	}
	lt, rt := e.L.Type(), e.R.Type()
	switch e.T.Kind {
	case vector.Int, vector.Uint, vector.Float:
		if lt.Kind != e.T.Kind || rt.Kind != e.T.Kind || e.Op == Div && e.T.Kind != vector.Float ||
			e.Op == IntDiv && e.T.Kind == vector.Float {
			return nil, fmt.Errorf("%w: arithmetic on %v and %v", ErrNotSupported, lt, rt)
		}
	case vector.Decimal128, vector.Decimal256:
		if !decimalKind(lt.Kind) || !decimalKind(rt.Kind) {
			return nil, fmt.Errorf("%w: arithmetic on %v and %v", ErrNotSupported, lt, rt)
		}
		switch {
		case (e.Op == Add || e.Op == Sub || e.Op == Mod) && (lt.Scale != e.T.Scale || rt.Scale != e.T.Scale),
			e.Op == Mul && lt.Scale+rt.Scale != e.T.Scale,
			e.Op == IntDiv && (lt.Scale != rt.Scale || e.T.Scale != 0):
			return nil, fmt.Errorf("%w: scales %d and %d for %d", ErrNotSupported, lt.Scale, rt.Scale, e.T.Scale)
		}
		// l/10^a ÷ r/10^b · 10^s = l · 10^(s−a+b) ÷ r
		a.rescal = e.T.Scale - lt.Scale + rt.Scale
	default:
		return nil, fmt.Errorf("%w: arithmetic of kind %d", ErrNotSupported, e.T.Kind)
	}
	return a, nil
}

func decimalKind(k vector.Kind) bool { return k == vector.Decimal128 || k == vector.Decimal256 }

func (e *arithEval) eval(in *input) (*vector.Vector, error) {
	n := in.n
	l, err := e.l.eval(in)
	if err != nil {
		return nil, err
	}
	valid := validOf(l, n, &e.va)
	r := l
	if e.r != nil {
		if r, err = e.r.eval(in); err != nil {
			return nil, err
		}
		valid = andValid(valid, validOf(r, n, &e.vb), &e.and)
	}
	switch e.t.Kind {
	case vector.Int:
		return e.ints(l, r, n, valid)
	case vector.Uint:
		return e.uints(l, r, n, valid)
	case vector.Float:
		return e.floats(l, r, n, valid)
	}
	return e.decimals(l, r, n, valid)
}

func (e *arithEval) rangeError() error {
	name := "DOUBLE"
	switch e.t.Kind {
	case vector.Int:
		name = "BIGINT"
	case vector.Uint:
		name = "BIGINT UNSIGNED"
	case vector.Decimal128, vector.Decimal256:
		name = "DECIMAL"
	}
	return &RangeError{Type: name, Text: e.text}
}

// owned is a bitmap of the result that may be written to.
func (e *arithEval) owned(valid []uint64, n int) []uint64 {
	out := grown(&e.own, words(n))
	if valid == nil {
		fillWith(out, ^uint64(0))
	} else {
		copy(out, valid)
	}
	return out
}

func (e *arithEval) ints(lv, rv *vector.Vector, n int, valid []uint64) (*vector.Vector, error) {
	l, r := intsOf(lv, n, &e.li), intsOf(rv, n, &e.ri)
	out := e.out.ints(n)
	l, r = l[:len(out)], r[:len(out)]
	var over int64 // negative once a result overflowed
	switch e.op {
	case Add:
		for i := range out {
			a, b := l[i], r[i]
			x := a + b
			out[i] = x
			over |= (a ^ x) & (b ^ x)
		}
	case Sub:
		for i := range out {
			a, b := l[i], r[i]
			x := a - b
			out[i] = x
			over |= (a ^ b) & (a ^ x)
		}
	case Mul:
		for i := range out {
			hi, lo := wideint.MulSigned(l[i], r[i])
			out[i] = int64(lo)
			if hi != int64(lo)>>63 {
				over = -1
			}
		}
	case Neg:
		for i := range out {
			a := l[i]
			out[i] = -a
			over |= a & -a // only of the least
		}
	case IntDiv, Mod:
		valid = e.owned(valid, n)
		for i := range out {
			a, b := l[i], r[i]
			switch {
			case b == 0:
				valid[i>>6] &^= 1 << (i & 63)
				out[i] = 0
			case b == -1:
				if e.op == IntDiv {
					out[i] = -a
					over |= a & -a
				} else {
					out[i] = 0
				}
			case e.op == IntDiv:
				out[i] = a / b
			default:
				out[i] = a % b
			}
		}
	}
	if over < 0 {
		for i := range out {
			if (valid == nil || bitSet(valid, i)) && e.overflows(l[i], r[i]) {
				return nil, e.rangeError()
			}
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *arithEval) overflows(a, b int64) bool {
	switch e.op {
	case Add:
		x := a + b
		return (a^x)&(b^x) < 0
	case Sub:
		return (a^b)&(a^(a-b)) < 0
	case Mul:
		hi, lo := wideint.MulSigned(a, b)
		return hi != int64(lo)>>63
	case Neg:
		return a == math.MinInt64
	case IntDiv:
		return a == math.MinInt64 && b == -1
	}
	return false
}

func (e *arithEval) uints(lv, rv *vector.Vector, n int, valid []uint64) (*vector.Vector, error) {
	l, r := plainOf(lv.Uint64, lv, n, &e.lu), plainOf(rv.Uint64, rv, n, &e.ru)
	out := e.out.uints(n)
	if e.op == IntDiv || e.op == Mod {
		valid = e.owned(valid, n)
	}
	for i := range out {
		a, b := l[i], r[i]
		var over uint64
		switch e.op {
		case Add:
			out[i], over = bits.Add64(a, b, 0)
		case Sub:
			out[i], over = bits.Sub64(a, b, 0)
		case Mul:
			over, out[i] = bits.Mul64(a, b)
		case Neg:
			out[i], over = -a, a
		case IntDiv, Mod:
			if b == 0 {
				valid[i>>6] &^= 1 << (i & 63)
				out[i] = 0
			} else if e.op == IntDiv {
				out[i] = a / b
			} else {
				out[i] = a % b
			}
		}
		if over != 0 && (valid == nil || bitSet(valid, i)) {
			return nil, e.rangeError()
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *arithEval) floats(lv, rv *vector.Vector, n int, valid []uint64) (*vector.Vector, error) {
	l, r := plainOf(lv.Float64, lv, n, &e.lf), plainOf(rv.Float64, rv, n, &e.rf)
	out := e.out.floats64(n)
	l, r = l[:len(out)], r[:len(out)]
	sum := 0.0 // becomes NaN once a result is infinite or not a number
	switch e.op {
	case Add:
		for i := range out {
			x := l[i] + r[i]
			out[i] = x
			sum += x * 0
		}
	case Sub:
		for i := range out {
			x := l[i] - r[i]
			out[i] = x
			sum += x * 0
		}
	case Mul:
		for i := range out {
			x := l[i] * r[i]
			out[i] = x
			sum += x * 0
		}
	case Neg:
		for i := range out {
			out[i] = -l[i]
		}
	case Div, Mod:
		valid = e.owned(valid, n)
		for i := range out {
			a, b := l[i], r[i]
			if b == 0 {
				valid[i>>6] &^= 1 << (i & 63)
				out[i] = 0
				continue
			}
			x := 0.0
			if e.op == Div {
				x = a / b
			} else {
				x = math.Mod(a, b)
			}
			out[i] = x
			sum += x * 0
		}
	}
	if sum != 0 {
		for i, x := range out {
			if x*0 != 0 && (valid == nil || bitSet(valid, i)) {
				return nil, e.rangeError()
			}
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *arithEval) decimals(lv, rv *vector.Vector, n int, valid []uint64) (*vector.Vector, error) {
	wide := e.t.Kind == vector.Decimal256
	e.out.reset(e.t, n)
	if wide {
		e.out.v.Dec256 = grown(&e.out.dec256, n)
	} else {
		e.out.v.Dec128 = grown(&e.out.dec128, n)
	}
	if e.op == Div || e.op == IntDiv || e.op == Mod {
		valid = e.owned(valid, n)
	}
	for i := range n {
		if valid != nil && !bitSet(valid, i) {
			e.putDec(i, wideint.Int256{}, wide)
			continue
		}
		a := decOf(lv, i)
		var x wideint.Int256
		ok := true
		switch e.op {
		case Neg:
			x = a.Neg()
		case Add:
			x = a
			x.Add(decOf(rv, i))
		case Sub:
			x = a
			x.Add(decOf(rv, i).Neg())
		case Mul:
			x, ok = a.Mul(decOf(rv, i))
		default:
			b := decOf(rv, i)
			if b == (wideint.Int256{}) {
				valid[i>>6] &^= 1 << (i & 63)
				e.putDec(i, wideint.Int256{}, wide)
				continue
			}
			switch e.op {
			case IntDiv:
				x, _ = a.QuoRem(b)
			case Mod:
				_, x = a.QuoRem(b)
			case Div:
				x, ok = divide(a, b, e.rescal)
			}
		}
		if !ok || !x.InDecimal(wide) {
			return nil, e.rangeError()
		}
		e.putDec(i, x, wide)
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *arithEval) putDec(i int, x wideint.Int256, wide bool) {
	if wide {
		e.out.v.Dec256[i] = x.Num()
	} else {
		e.out.v.Dec128[i] = x.Num128()
	}
}

// divide is a·10^digits/b, rounded half away from zero; false when it does not fit.
func divide(a, b wideint.Int256, digits int32) (wideint.Int256, bool) {
	if digits < 0 {
		b2, ok := b.Rescale(-digits)
		if !ok {
			return wideint.Int256{}, true // the divisor is beyond any dividend
		}
		return a.QuoRound(b2), true
	}
	if num, ok := a.Rescale(digits); ok {
		return num.QuoRound(b), true
	}
	return wideint.DivideBig(a, b, digits)
}
