package exec

import (
	"slices"

	"millrace/internal/vector"
)

// distinctAcc feeds an aggregate each different value of a group once: it numbers the values,
// then the pairs of group and value, and feeds them when all rows are in.
type distinctAcc struct {
	t      Type
	inner  accumulator
	values keyTable
	pairs  *pairSet // nil: there is only group 0
	groups int
	dense  dense
	ids    []uint32

	// Integers of no groups that are only counted are kept as bits while they lie close together, and not in values.
	ints *intBits
}

func newDistinct(t Type, inner accumulator) accumulator {
	a := &distinctAcc{t: t, inner: inner, values: newKeyTable(t, 0)}
	if _, ok := inner.(*countAcc); ok && t.Kind == vector.Int {
		a.ints = &intBits{}
	}
	return a
}

// spell moves what is kept as bits to the values.
func (a *distinctAcc) spell() {
	if a.ints == nil {
		return
	}
	a.ints.each(func(v *vector.Vector, n int) { a.values.ids(v, grown(&a.ids, n)) })
	a.ints = nil
}

func (a *distinctAcc) grow(n int) { a.groups = max(a.groups, n) }
func (a *distinctAcc) end(int)    {}
func (a *distinctAcc) merged()    {}

func (a *distinctAcc) bytes() int64 {
	n := a.values.bytes()
	if a.ints != nil {
		n += 8 * int64(len(a.ints.bits))
	}
	if a.pairs != nil {
		n += a.pairs.bytes()
	}
	return n
}

func (a *distinctAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	if a.ints != nil && gids == nil && a.ints.add(v, n) {
		return nil
	}
	a.spell()
	ids := grown(&a.ids, n)
	a.values.ids(v, ids)
	if err := a.values.fits(); err != nil || gids == nil {
		return err
	}
	if a.pairs == nil {
		a.pairs = &pairSet{}
	}
	a.pairs.add(gids, ids, a.values.len())
	return nil
}

func (a *distinctAcc) merge(from accumulator, to []uint32) {
	o := from.(*distinctAcc)
	if o.ints != nil && a.ints != nil {
		fits := true
		o.ints.each(func(v *vector.Vector, n int) { fits = fits && a.ints.add(v, n) })
		if fits {
			return
		}
	}
	a.spell()
	o.spell()
	if o.values.len() == 0 {
		return
	}
	vals := o.values.values()
	ids := make([]uint32, o.values.len())
	for at := 0; at < len(ids); at += chunkRows {
		end := min(len(ids), at+chunkRows)
		part := vals.Slice(at, end)
		a.values.ids(&part, ids[at:end])
	}
	if o.pairs == nil {
		return
	}
	if a.pairs == nil {
		a.pairs = &pairSet{}
	}
	o.pairs.each(func(g, id []uint32) {
		for i := range g {
			g[i], id[i] = to[g[i]], ids[id[i]]
		}
		a.pairs.add(g, id, a.values.len())
	})
}

func (a *distinctAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	a.inner.grow(n)
	if c, ok := a.inner.(*countAcc); ok {
		a.count(c)
		return c.result(n)
	}
	if err := a.values.fits(); err != nil {
		return vector.Vector{}, err
	}
	vals := a.values.values()
	var rows []int32
	var gids []uint32
	if a.pairs == nil {
		for i := range a.values.len() {
			rows = append(rows, int32(i))
		}
	} else {
		a.pairs.each(func(g, id []uint32) {
			gids = append(gids, g...)
			for _, id := range id {
				rows = append(rows, int32(id))
			}
		})
	}
	if _, ok := a.inner.(*varianceAcc); ok || a.t.Kind == vector.Float {
		// Sums of floats must not depend on the order in which values were met.
		order := make([]int32, len(rows))
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortFunc(order, func(x, y int32) int { return compareRows(&vals, int(rows[x]), &vals, int(rows[y])) })
		rows = take(new([]int32), rows, order)
		if gids != nil {
			gids = take(new([]uint32), gids, order)
		}
	}
	var c column
	for at := 0; at < len(rows); at += chunkRows {
		end := min(len(rows), at+chunkRows)
		var g []uint32
		if gids != nil {
			g = gids[at:end]
		}
		if err := a.inner.add(c.gather(&vals, rows[at:end]), g, end-at); err != nil {
			return vector.Vector{}, err
		}
	}
	a.inner.end(0)
	a.inner.merged()
	return a.inner.result(n)
}

// count is COUNT(DISTINCT): the pairs need not be looked at twice.
func (a *distinctAcc) count(c *countAcc) {
	if a.ints != nil {
		if len(c.n) > 0 {
			c.n[0] += a.ints.count()
		}
		return
	}
	if a.pairs == nil {
		if len(c.n) > 0 { // there may be no group at all
			c.n[0] += int64(a.values.len())
		}
		return
	}
	a.pairs.count(c.n)
}
