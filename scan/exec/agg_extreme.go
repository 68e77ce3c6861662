package exec

import (
	"bytes"
	"cmp"
	"math"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// newExtreme is Min or Max of type t.
func newExtreme(t Type, largest bool) accumulator {
	switch t.Kind {
	case vector.Int:
		start := int64(math.MaxInt64)
		if largest {
			start = math.MinInt64
		}
		return &extremeAcc[int64]{t: t, largest: largest, start: start, of: intsOf, whole: boundsOf, to: func(v *vector.Vector, x []int64) { v.Int64 = x }}
	case vector.Uint:
		start := uint64(math.MaxUint64)
		if largest {
			start = 0
		}
		return &extremeAcc[uint64]{
			t: t, largest: largest, start: start,
			of: func(v *vector.Vector, n int, s *[]uint64) []uint64 { return plainOf(v.Uint64, v, n, s) },
			to: func(v *vector.Vector, x []uint64) { v.Uint64 = x },
		}
	case vector.Float:
		start := math.Inf(1)
		if largest {
			start = math.Inf(-1)
		}
		return &extremeAcc[float64]{
			t: t, largest: largest, start: start,
			of: func(v *vector.Vector, n int, s *[]float64) []float64 { return plainOf(v.Float64, v, n, s) },
			to: func(v *vector.Vector, x []float64) { v.Float64 = x },
		}
	case vector.String:
		return &textExtremeAcc{largest: largest}
	}
	return &decExtremeAcc{t: t, largest: largest}
}

// extremeAcc is Min and Max of numbers.
type extremeAcc[T cmp.Ordered] struct {
	noMorsels
	t       Type
	largest bool
	start   T
	vals    []T
	seen    []bool
	of      func(v *vector.Vector, n int, scratch *[]T) []T
	whole   func(v *vector.Vector, n int) (lo, hi T) // of all rows; nil: as of
	to      func(v *vector.Vector, x []T)
	scratch []T
	dense   dense
}

func (a *extremeAcc[T]) grow(n int) {
	old := len(a.vals)
	a.vals, a.seen = extend(a.vals, n), extend(a.seen, n)
	for i := old; i < len(a.vals); i++ {
		a.vals[i] = a.start
	}
}

func (a *extremeAcc[T]) bytes() int64 { return 9 * int64(cap(a.vals)) }

func (a *extremeAcc[T]) addRun(v *vector.Vector, g uint32, n int) error {
	v, _, n = a.dense.of(v, nil, n)
	if n == 0 {
		return nil
	}
	m := a.vals[g]
	switch {
	case a.whole != nil:
		lo, hi := a.whole(v, n)
		if a.largest {
			m = max(m, hi)
		} else {
			m = min(m, lo)
		}
	case a.largest:
		for _, x := range a.of(v, n, &a.scratch) {
			m = max(m, x)
		}
	default:
		for _, x := range a.of(v, n, &a.scratch) {
			m = min(m, x)
		}
	}
	a.vals[g], a.seen[g] = m, true
	return nil
}

func (a *extremeAcc[T]) add(v *vector.Vector, gids []uint32, n int) error {
	if gids == nil {
		return a.addRun(v, 0, n)
	}
	v, gids, n = a.dense.of(v, gids, n)
	if n == 0 {
		return nil
	}
	x := a.of(v, n, &a.scratch)
	switch {
	case a.largest:
		gids = gids[:len(x)]
		for i, x := range x {
			g := gids[i]
			a.seen[g] = true
			if x > a.vals[g] {
				a.vals[g] = x
			}
		}
	default:
		gids = gids[:len(x)]
		for i, x := range x {
			g := gids[i]
			a.seen[g] = true
			if x < a.vals[g] {
				a.vals[g] = x
			}
		}
	}
	return nil
}

// boundsOf are the least and the largest of v's n integers, n > 0.
func boundsOf(v *vector.Vector, n int) (lo, hi int64) {
	switch {
	case v.Const:
		return v.Int(0), v.Int(0)
	case v.Int8 != nil:
		return bounds(v.Int8[:n], v.Base)
	case v.Int16 != nil:
		return bounds(v.Int16[:n], v.Base)
	case v.Int32 != nil:
		return bounds(v.Int32[:n], v.Base)
	case v.Int64 != nil:
		return bounds(v.Int64[:n], 0)
	}
	return v.Base, v.Base
}

func bounds[T int8 | int16 | int32 | int64](vals []T, base int64) (int64, int64) {
	lo, hi, lo2, hi2 := vals[0], vals[0], vals[0], vals[0]
	for len(vals) >= 2 { // two chains, so that one does not wait for the other
		x, y := vals[0], vals[1]
		lo, hi = min(lo, x), max(hi, x)
		lo2, hi2 = min(lo2, y), max(hi2, y)
		vals = vals[2:]
	}
	for _, x := range vals {
		lo, hi = min(lo, x), max(hi, x)
	}
	return base + int64(min(lo, lo2)), base + int64(max(hi, hi2))
}

func (a *extremeAcc[T]) merge(from accumulator, to []uint32) {
	o := from.(*extremeAcc[T])
	for i, x := range o.vals {
		if !o.seen[i] {
			continue
		}
		g := to[i]
		a.seen[g] = true
		if a.largest && x > a.vals[g] || !a.largest && x < a.vals[g] {
			a.vals[g] = x
		}
	}
}

func (a *extremeAcc[T]) result(n int) (vector.Vector, error) {
	a.grow(n)
	v := vector.Vector{Kind: a.t.Kind, Scale: a.t.Scale, Len: n}
	a.to(&v, a.vals[:n])
	unseen(&v, a.seen[:n])
	return v, nil
}

// unseen makes groups without a value NULL.
func unseen(v *vector.Vector, seen []bool) {
	var valid []uint64
	for g, ok := range seen {
		if !ok {
			if v.Valid == nil {
				v.Valid = onesOf(len(seen), &valid)
			}
			setValid(v.Valid, g, false)
			v.Nulls++
		}
	}
}

// decExtremeAcc is Min and Max of decimals.
type decExtremeAcc struct {
	noMorsels
	t       Type
	largest bool
	vals    []wideint.Int256
	seen    []bool
	dense   dense
}

func (a *decExtremeAcc) grow(n int)   { a.vals, a.seen = extend(a.vals, n), extend(a.seen, n) }
func (a *decExtremeAcc) bytes() int64 { return 33 * int64(cap(a.vals)) }

func (a *decExtremeAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	for i := range n {
		g := uint32(0)
		if gids != nil {
			g = gids[i]
		}
		a.keep(g, decOf(v, i))
	}
	return nil
}

func (a *decExtremeAcc) keep(g uint32, x wideint.Int256) {
	if c := 0; a.seen[g] {
		if c = x.Cmp(a.vals[g]); a.largest {
			c = -c
		}
		if c >= 0 {
			return
		}
	}
	a.vals[g], a.seen[g] = x, true
}

func (a *decExtremeAcc) merge(from accumulator, to []uint32) {
	o := from.(*decExtremeAcc)
	for g, x := range o.vals {
		if o.seen[g] {
			a.keep(to[g], x)
		}
	}
}

func (a *decExtremeAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	v := vector.Vector{Kind: a.t.Kind, Scale: a.t.Scale, Len: n}
	if a.t.Kind == vector.Decimal128 {
		v.Dec128 = make([]decimal128.Num, n)
		for g, x := range a.vals[:n] {
			v.Dec128[g] = x.Num128()
		}
	} else {
		v.Dec256 = make([]decimal256.Num, n)
		for g, x := range a.vals[:n] {
			v.Dec256[g] = x.Num()
		}
	}
	unseen(&v, a.seen[:n])
	return v, nil
}

// textExtremeAcc is Min and Max of texts.
type textExtremeAcc struct {
	noMorsels
	largest bool
	vals    [][]byte // own memory; nil: none yet
	size    int64
	dense   dense
}

func (a *textExtremeAcc) grow(n int)   { a.vals = extend(a.vals, n) }
func (a *textExtremeAcc) bytes() int64 { return 24*int64(cap(a.vals)) + a.size }

func (a *textExtremeAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	for i := range n {
		g := uint32(0)
		if gids != nil {
			g = gids[i]
		}
		a.keep(g, v.Text(i))
	}
	return nil
}

func (a *textExtremeAcc) keep(g uint32, x []byte) {
	old := a.vals[g]
	if old != nil {
		c := bytes.Compare(x, old)
		if a.largest {
			c = -c
		}
		if c >= 0 {
			return
		}
	}
	before := cap(old)
	if old = append(old[:0], x...); old == nil {
		old = []byte{}
	}
	a.vals[g] = old
	a.size += int64(cap(old) - before)
}

func (a *textExtremeAcc) merge(from accumulator, to []uint32) {
	for g, x := range from.(*textExtremeAcc).vals {
		if x != nil {
			a.keep(to[g], x)
		}
	}
}

func (a *textExtremeAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	return textsOf(a.vals[:n])
}
