package exec

import (
	"math"

	"millrace/internal/vector"
)

// anyAcc is AnyValue: the value of a group's first row, which may be NULL.
type anyAcc struct {
	noMorsels
	sink *groupSink // says where rows come from
	vals builder
	at   []int32  // by group: where in vals
	pos  []uint64 // by group: the place of the row
	out  column
}

const noRow = math.MaxUint64

func (a *anyAcc) grow(n int) {
	old := len(a.at)
	a.at, a.pos = extend(a.at, n), extend(a.pos, n)
	for i := old; i < len(a.pos); i++ {
		a.pos[i] = noRow
	}
}

func (a *anyAcc) bytes() int64 { return a.vals.size() + 12*int64(cap(a.at)) }

func (a *anyAcc) add(v *vector.Vector, gids []uint32, n int) error {
	if gids == nil {
		if n > 0 && a.pos[0] == noRow {
			a.keep(0, a.sink.place(0), v, 0)
		}
		return a.vals.fits()
	}
	for i, g := range gids {
		if a.pos[g] == noRow {
			a.keep(g, a.sink.place(i), v, i)
		}
	}
	return a.vals.fits()
}

func (a *anyAcc) keep(g uint32, pos uint64, v *vector.Vector, i int) {
	a.at[g], a.pos[g] = int32(a.vals.n), pos
	a.vals.append1(v, i)
}

func (a *anyAcc) merge(from accumulator, to []uint32) {
	o := from.(*anyAcc)
	v := o.vals.vector()
	for i, pos := range o.pos {
		if pos < a.pos[to[i]] {
			a.keep(to[i], pos, &v, int(o.at[i]))
		}
	}
}

func (a *anyAcc) result(n int) (vector.Vector, error) {
	if a.vals.n == 0 { // no row at all
		return nullVector(a.vals.t, n), nil
	}
	if err := a.vals.fits(); err != nil {
		return vector.Vector{}, err
	}
	v := a.vals.vector()
	return *a.out.gather(&v, a.at[:n]), nil
}
