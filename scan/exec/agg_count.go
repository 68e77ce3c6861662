package exec

import "millrace/internal/vector"

// countAcc is CountRows and Count.
type countAcc struct {
	noMorsels
	n     []int64
	valid []uint64
}

func (a *countAcc) grow(n int)   { a.n = extend(a.n, n) }
func (a *countAcc) bytes() int64 { return 8 * int64(cap(a.n)) }

func (a *countAcc) add(v *vector.Vector, gids []uint32, n int) error {
	var valid []uint64
	if v != nil {
		valid = validOf(v, n, &a.valid)
	}
	switch {
	case gids == nil:
		a.n[0] += int64(countValid(valid, n))
	case valid == nil:
		counts := a.n
		for _, g := range gids {
			counts[g]++
		}
	default:
		for i, g := range gids {
			a.n[g] += int64(valid[i>>6] >> (i & 63) & 1)
		}
	}
	return nil
}

func (a *countAcc) merge(from accumulator, to []uint32) {
	for g, n := range from.(*countAcc).n {
		a.n[to[g]] += n
	}
}

func (a *countAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	return vector.Vector{Kind: vector.Int, Len: n, Int64: a.n[:n]}, nil
}
