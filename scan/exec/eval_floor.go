package exec

import (
	"math"
	"math/bits"

	"millrace/internal/vector"
)

// floorer computes the largest origin + k·step that is ≤ x, without division: the remainder of an
// unsigned number comes from a multiplication by a rounded-up reciprocal (Granlund and Montgomery,
// «Division by invariant integers using multiplication»), which is exact for all 64-bit numbers.
type floorer struct {
	step  uint64
	magic uint64
	shift uint8
	one   bool   // step is 1: nothing to do
	bias  uint64 // what to add to the remainder of x+2^63 to get the remainder of x−origin
}

func newFloorer(step, origin int64) floorer {
	d := uint64(step)
	f := floorer{step: d, one: d == 1}
	if f.one {
		return f
	}
	l := bits.Len64(d - 1) // ceil(log2 d)
	// floor(2^64·(2^l−d)/d) + 1; 2^l overflows only for l = 64, which a positive step never has
	q, _ := bits.Div64(1<<l-d, 0, d)
	f.magic, f.shift = q+1, uint8(l-1)
	f.bias = d - f.rem(uint64(origin)+1<<63)
	return f
}

// quo is u div step, which is not 1.
func (f *floorer) quo(u uint64) uint64 {
	hi, _ := bits.Mul64(f.magic, u)
	return (hi + (u-hi)>>1) >> (f.shift & 63)
}

// rem is u mod step.
func (f *floorer) rem(u uint64) uint64 { return u - f.quo(u)*f.step }

// floor is exact unless the result is below the least BIGINT, where it wraps.
func (f *floorer) floor(x int64) int64 {
	if f.one {
		return x
	}
	r := f.rem(uint64(x)+1<<63) + f.bias
	if r >= f.step {
		r -= f.step
	}
	return x - int64(r)
}

// least is the least number whose floor is a BIGINT.
func (f *floorer) least() int64 {
	if f.one {
		return math.MinInt64
	}
	low := f.floor(math.MinInt64)
	if low <= 0 {
		return math.MinInt64 // no wrap
	}
	return low + int64(f.step) // two's complement: wraps back
}

// floorEval is FloorTo.
type floorEval struct {
	arg   evaluator
	by    floorer
	from  int64 // below it nothing is floored
	out   column
	ints  []int64
	valid []uint64
	cut   bucketRuns
	jumps bool // values jump between windows
	tries int
}

func (e *floorEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	x := intsOf(v, n, &e.ints)
	out := e.out.ints(n)
	valid := validOf(v, n, &e.valid)
	least := e.by.least()
	below := false
	by := e.by
	x = x[:len(out)]
	if e.jumps {
		for i := range out {
			t := x[i]
			out[i] = by.floor(t)
			if t < e.from {
				out[i] = t
				continue
			}
			below = below || t < least
		}
		e.tries++
		e.jumps = e.tries%64 != 0 // look again now and then
	} else {
		// Times mostly come sorted, and stay in a window for many rows.
		start, jumps := by.floor(0), 0
		low := max(start, e.from) // of the rows that are in the window
		for i, t := range x {
			if t < low || uint64(t)-uint64(start) >= by.step {
				if t < e.from {
					out[i] = t
					continue
				}
				if t < least {
					below = true
					continue
				}
				start = by.floor(t)
				low = max(start, e.from)
				jumps++
			}
			out[i] = start
		}
		e.jumps = jumps > len(x)/8
	}
	if below {
		for i := range out {
			if x[i] < least && x[i] >= e.from && (valid == nil || bitSet(valid, i)) {
				return nil, &RangeError{Type: "BIGINT", Text: "the start of a window"}
			}
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}
