package exec

import (
	"cmp"
	"math"
	"slices"

	"millrace/internal/vector"
)

// varianceFold is floatFold for variances: the recurrence of Welford within a morsel, the formula of
// Chan, Golub and LeVeque between morsels.
type varianceFold struct {
	logged bool
	cur    []moments
	total  []moments
	log    []momentsLog
}

// moments are a count, a mean and the sum of squared distances from it.
type moments struct {
	n    int64
	mean float64
	m2   float64
}

type momentsLog struct {
	morsel int
	groups []uint32
	cells  []moments
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

func (m *moments) join(o moments) {
	if m.n == 0 {
		*m = o
		return
	}
	n := m.n + o.n
	d := o.mean - m.mean
	m.m2 += o.m2 + d*d*(float64(m.n)*float64(o.n)/float64(n))
	m.mean += d * float64(o.n) / float64(n)
	m.n = n
}

func (f *varianceFold) grow(n int) { f.cur, f.total = extend(f.cur, n), extend(f.total, n) }

func (f *varianceFold) bytes() int64 {
	n := 24 * int64(cap(f.cur)+cap(f.total))
	for _, l := range f.log {
		n += 28 * int64(len(l.groups))
	}
	return n
}

func (f *varianceFold) end(morsel int) {
	l := momentsLog{morsel: morsel}
	for g, c := range f.cur {
		if c.n == 0 {
			continue
		}
		f.cur[g] = moments{}
		if f.logged {
			l.groups = append(l.groups, uint32(g))
			l.cells = append(l.cells, c)
		} else {
			f.total[g].join(c)
		}
	}
	if len(l.groups) > 0 {
		f.log = append(f.log, l)
	}
}

func (f *varianceFold) merged() {
	slices.SortFunc(f.log, func(a, b momentsLog) int { return cmp.Compare(a.morsel, b.morsel) })
	for _, l := range f.log {
		for i, g := range l.groups {
			f.total[g].join(l.cells[i])
		}
	}
	f.log = nil
}

// varianceAcc is VarPop, VarSamp, StdPop and StdSamp.
type varianceAcc struct {
	varianceFold
	kind    AggKind
	t       Type
	dense   dense
	floats  []float64
	scratch []int64
}

func (a *varianceAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	if n == 0 {
		return nil
	}
	var vals []float64
	switch a.t.Kind {
	case vector.Float:
		vals = plainOf(v.Float64, v, n, &a.floats)
	case vector.Int:
		vals = grown(&a.floats, n)
		for i, x := range intsOf(v, n, &a.scratch) {
			vals[i] = float64(x)
		}
	case vector.Uint:
		vals = grown(&a.floats, n)
		for i := range vals {
			vals[i] = float64(v.Uint64[at(v, i)])
		}
	default:
		vals = grown(&a.floats, n)
		for i := range vals {
			vals[i] = decOf(v, i).Float(a.t.Scale)
		}
	}
	for i, x := range vals {
		g := uint32(0)
		if gids != nil {
			g = gids[i]
		}
		a.cur[g].add(x)
	}
	return nil
}

func (a *varianceAcc) merge(from accumulator, to []uint32) {
	for _, l := range from.(*varianceAcc).log {
		for i, g := range l.groups {
			l.groups[i] = to[g]
		}
		a.log = append(a.log, l)
	}
}

func (a *varianceAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	if a.log != nil {
		a.merged()
	}
	least := int64(1)
	if a.kind == VarSamp || a.kind == StdSamp {
		least = 2
	}
	v := vector.Vector{Kind: vector.Float, Len: n, Float64: make([]float64, n)}
	var valid []uint64
	for g := range n {
		m := a.total[g]
		if m.n < least {
			if v.Valid == nil {
				v.Valid = onesOf(n, &valid)
			}
			setValid(v.Valid, g, false)
			v.Nulls++
			continue
		}
		x := m.m2 / float64(m.n-least+1)
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return v, &RangeError{Type: "DOUBLE", Text: "variance"}
		}
		if a.kind == StdPop || a.kind == StdSamp {
			x = math.Sqrt(x)
		}
		v.Float64[g] = x
	}
	return v, nil
}
