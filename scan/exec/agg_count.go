package exec

import "millrace/internal/vector"

// countAcc is CountRows and Count.
type countAcc struct {
	noMorsels
	rows  bool // it is CountRows
	n     []int64
	valid []uint64
	lanes *countLanes
}

func (a *countAcc) grow(n int)   { a.n = extend(a.n, n) }
func (a *countAcc) bytes() int64 { return 8 * int64(cap(a.n)) }

func (a *countAcc) add(v *vector.Vector, gids []uint32, n int) error {
	if gids == nil {
		return a.addRun(v, 0, n)
	}
	var valid []uint64
	if v != nil {
		valid = validOf(v, n, &a.valid)
	}
	switch {
	case valid != nil:
		for i, g := range gids {
			a.n[g] += int64(valid[i>>6] >> (i & 63) & 1)
		}
	case laned(len(a.n), n):
		addCounts(a.lane(), a.n, gids, nil)
	default:
		counts := a.n
		for _, g := range gids {
			counts[g]++
		}
	}
	return nil
}

func (a *countAcc) lane() *countLanes {
	if a.lanes == nil {
		a.lanes = new(countLanes)
	}
	return a.lanes
}

func (a *countAcc) addCodes(v *vector.Vector, codes []uint8, to []uint32) bool {
	if v != nil && v.HasNulls() {
		return false
	}
	addCounts(a.lane(), a.n, codes, to)
	return true
}

func (a *countAcc) addRun(v *vector.Vector, g uint32, n int) error {
	var valid []uint64
	if v != nil {
		valid = validOf(v, n, &a.valid)
	}
	a.n[g] += int64(countValid(valid, n))
	return nil
}

func (a *countAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	for i, w := range weights {
		if v == nil || !v.IsNull(i) {
			a.n[groupOf(gids, i)] += w
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
