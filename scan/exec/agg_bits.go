package exec

import "millrace/internal/vector"

// bitAcc is BitAnd, BitOr and BitXor; of no values all ones, or zero.
type bitAcc struct {
	noMorsels
	kind    AggKind
	vals    []uint64
	dense   dense
	scratch []int64
}

func (a *bitAcc) grow(n int) {
	old := len(a.vals)
	a.vals = extend(a.vals, n)
	if a.kind == BitAnd {
		for i := old; i < len(a.vals); i++ {
			a.vals[i] = ^uint64(0)
		}
	}
}

func (a *bitAcc) bytes() int64 { return 8 * int64(cap(a.vals)) }

func (a *bitAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	var ints []int64
	if v.Kind == vector.Int && n > 0 {
		ints = intsOf(v, n, &a.scratch)
	}
	for i := range n {
		var x uint64
		if ints != nil {
			x = uint64(ints[i])
		} else {
			x = v.Uint64[at(v, i)]
		}
		g := uint32(0)
		if gids != nil {
			g = gids[i]
		}
		a.take(g, x)
	}
	return nil
}

func (a *bitAcc) take(g uint32, x uint64) {
	switch a.kind {
	case BitAnd:
		a.vals[g] &= x
	case BitOr:
		a.vals[g] |= x
	default:
		a.vals[g] ^= x
	}
}

func (a *bitAcc) merge(from accumulator, to []uint32) {
	for g, x := range from.(*bitAcc).vals {
		a.take(to[g], x)
	}
}

func (a *bitAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	return vector.Vector{Kind: vector.Uint, Len: n, Uint64: a.vals[:n]}, nil
}
