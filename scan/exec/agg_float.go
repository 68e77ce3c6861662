package exec

import (
	"cmp"
	"math"
	"slices"

	"millrace/internal/vector"
)

// Sums of floats depend on the order of adding. So each morsel's rows are summed from zero in
// their order, and the morsels' sums in the order of morsels, whichever goroutines had them: one
// goroutine adds a morsel's sums at its end; several note them, to be added when all is done.

// floatFold adds the sums of morsels.
type floatFold struct {
	logged bool
	cur    []floatCell // of the present morsel
	total  []floatCell
	log    []floatLog
	groups []uint32 // met in this morsel, with repetitions
	many   bool     // groups is not kept, because going through all is cheaper
}

type floatCell struct {
	sum float64
	n   int64
}

// floatLog is what one morsel added.
type floatLog struct {
	morsel int
	groups []uint32
	cells  []floatCell
}

func (f *floatFold) grow(n int) { f.cur, f.total = extend(f.cur, n), extend(f.total, n) }

func (f *floatFold) bytes() int64 {
	n := 16*int64(cap(f.cur)+cap(f.total)) + 4*int64(cap(f.groups))
	for _, l := range f.log {
		n += 20 * int64(len(l.groups))
	}
	return n
}

// note remembers which groups a morsel touches, as long as they are fewer than all.
func (f *floatFold) note(gids []uint32) {
	if f.many {
		return
	}
	if len(f.groups)+len(gids) > len(f.cur)/2 {
		f.many = true
		return
	}
	f.groups = append(f.groups, gids...)
}

func (f *floatFold) end(morsel int) {
	var l floatLog
	take := func(g uint32) {
		c := f.cur[g]
		if c.n == 0 {
			return
		}
		f.cur[g] = floatCell{}
		if f.logged {
			l.groups = append(l.groups, g)
			l.cells = append(l.cells, c)
			return
		}
		f.total[g].sum += c.sum
		f.total[g].n += c.n
	}
	if f.many || len(f.groups) == 0 {
		for g := range f.cur {
			take(uint32(g))
		}
	} else {
		for _, g := range f.groups {
			take(g)
		}
	}
	f.groups, f.many = f.groups[:0], false
	if len(l.groups) > 0 {
		l.morsel = morsel
		f.log = append(f.log, l)
	}
}

func (f *floatFold) mergeFrom(o *floatFold, to []uint32) {
	for _, l := range o.log {
		for i, g := range l.groups {
			l.groups[i] = to[g]
		}
		f.log = append(f.log, l)
	}
}

func (f *floatFold) merged() {
	slices.SortFunc(f.log, func(a, b floatLog) int { return cmp.Compare(a.morsel, b.morsel) })
	for _, l := range f.log {
		for i, g := range l.groups {
			f.total[g].sum += l.cells[i].sum
			f.total[g].n += l.cells[i].n
		}
	}
	f.log = nil
}

// floatSumAcc is Sum and Avg of floats.
type floatSumAcc struct {
	floatFold
	avg     bool
	dense   dense
	scratch []float64
}

func (a *floatSumAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	if n == 0 {
		return nil
	}
	vals := plainOf(v.Float64, v, n, &a.scratch)
	if gids == nil {
		c := a.cur[0]
		for _, x := range vals {
			c.sum += x
		}
		c.n += int64(n)
		a.cur[0] = c
		return nil
	}
	a.note(gids)
	gids = gids[:len(vals)]
	for i, x := range vals {
		c := &a.cur[gids[i]]
		c.sum += x
		c.n++
	}
	return nil
}

func (a *floatSumAcc) merge(from accumulator, to []uint32) {
	a.mergeFrom(&from.(*floatSumAcc).floatFold, to)
}

func (a *floatSumAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	if a.log != nil { // one goroutine did it all
		a.merged()
	}
	v := vector.Vector{Kind: vector.Float, Len: n, Float64: make([]float64, n)}
	var valid []uint64
	for g := range n {
		c := a.total[g]
		if c.n == 0 {
			if v.Valid == nil {
				v.Valid = onesOf(n, &valid)
			}
			setValid(v.Valid, g, false)
			v.Nulls++
			continue
		}
		x := c.sum
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return v, &RangeError{Type: "DOUBLE", Text: "sum"}
		}
		if a.avg {
			x /= float64(c.n)
		}
		v.Float64[g] = x
	}
	return v, nil
}
