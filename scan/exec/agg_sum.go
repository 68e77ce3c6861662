package exec

import (
	"fmt"
	"math/bits"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// quotient makes SUM and AVG of exact sums.
type quotient struct {
	avg      bool
	from, to int32 // scales of the sum and of the result
}

// result has a row per group.
func (q quotient) result(n int, at func(g int) (sum wideint.Int256, count int64)) (vector.Vector, error) {
	v := vector.Vector{Kind: vector.Decimal256, Scale: q.to, Len: n, Dec256: make([]decimal256.Num, n)}
	var valid []uint64
	for g := range n {
		sum, count := at(g)
		if count == 0 {
			if v.Valid == nil {
				v.Valid = onesOf(n, &valid)
			}
			setValid(v.Valid, g, false)
			v.Nulls++
			continue
		}
		if q.avg {
			var ok bool
			if sum, ok = divide(sum, wideint.From64(count), q.to-q.from); !ok {
				return v, &RangeError{Type: "DECIMAL", Text: "avg"}
			}
		}
		v.Dec256[g] = sum.Num()
	}
	return v, nil
}

// intSumAcc is Sum and Avg of integers: in 64 bits as long as that cannot overflow, which is known
// from how many rows of what size went in; then the sums move to 128 bits.
type intSumAcc struct {
	noMorsels
	quotient
	cells []sumCell
	wide  []wideint.Int128
	bound uint64 // no |sum| in cells is larger
	dense dense
	lanes *sumLanes

	all   bool    // rows whose value is NULL are counted, too,
	nulls []int64 // here, by group; shorter where there are none
}

type sumCell struct {
	sum int64
	n   int64
}

func (a *intSumAcc) grow(n int)   { a.cells = extend(a.cells, n) }
func (a *intSumAcc) bytes() int64 { return 16 * int64(cap(a.cells)+cap(a.wide)) }

func (a *intSumAcc) add(v *vector.Vector, gids []uint32, n int) error {
	return a.addTo(a.cells, v, gids, n)
}

func (a *intSumAcc) addRun(v *vector.Vector, g uint32, n int) error {
	return a.addTo(a.cells[g:], v, nil, n)
}

// addTo takes in rows of groups of cells; gids nil: all are of the first.
func (a *intSumAcc) addTo(cells []sumCell, v *vector.Vector, gids []uint32, n int) error {
	if a.all && v.HasNulls() {
		a.countNulls(len(a.cells)-len(cells), v, gids, n)
	}
	v, gids, n = a.dense.of(v, gids, n)
	if n == 0 {
		return nil
	}
	most := magnitude(v, n)
	hi, bound := bits.Mul64(most, uint64(n))
	if hi != 0 || bound >= 1<<62 {
		a.addWide(len(a.cells)-len(cells), v, gids, n)
		return nil
	}
	if a.bound+bound >= 1<<62 {
		a.flush()
	}
	a.bound += bound
	if gids != nil && laned(len(cells), n) && addLanes(a, v, n, gids, nil) {
		return nil
	}
	switch {
	case v.Const:
		sumConst(cells, v.Int(0), gids, n)
	case v.Int8 != nil:
		sumInts(cells, v.Int8[:n], v.Base, gids)
	case v.Int16 != nil:
		sumInts(cells, v.Int16[:n], v.Base, gids)
	case v.Int32 != nil:
		sumInts(cells, v.Int32[:n], v.Base, gids)
	case v.Int64 != nil:
		sumInts(cells, v.Int64[:n], 0, gids)
	default:
		sumConst(cells, v.Base, gids, n)
	}
	return nil
}

// addLanes adds up in lanes, if v's slots are narrow.
func addLanes[G number](a *intSumAcc, v *vector.Vector, n int, gids []G, to []uint32) bool {
	if a.lanes == nil {
		a.lanes = new(sumLanes)
	}
	switch {
	case v.Const:
		return false
	case v.Int8 != nil:
		addSums(a.lanes, a.cells, v.Int8[:n], v.Base, gids, to)
	case v.Int16 != nil:
		addSums(a.lanes, a.cells, v.Int16[:n], v.Base, gids, to)
	case v.Int32 != nil:
		addSums(a.lanes, a.cells, v.Int32[:n], v.Base, gids, to)
	default:
		return false
	}
	return true
}

func (a *intSumAcc) addCodes(v *vector.Vector, codes []uint8, to []uint32) bool {
	if v.HasNulls() || v.Const || v.Int64 != nil {
		return false
	}
	n := len(codes)
	bound := magnitude(v, n) * uint64(n)
	if bound >= 1<<62 {
		return false
	}
	if a.bound+bound >= 1<<62 {
		a.flush()
	}
	if !addLanes(a, v, n, codes, to) {
		return false
	}
	a.bound += bound
	return true
}

// addWeighted takes each value in as often as its weight says.
func (a *intSumAcc) addWeighted(v *vector.Vector, gids []uint32, weights []int64) error {
	n := len(weights)
	most, total := magnitude(v, n), uint64(0)
	for _, w := range weights {
		total += uint64(w)
	}
	hi, bound := bits.Mul64(most, total)
	wide := hi != 0 || bound >= 1<<62
	if wide {
		a.wide = extend(a.wide, len(a.cells))
	} else {
		if a.bound+bound >= 1<<62 {
			a.flush()
		}
		a.bound += bound
	}
	for i, w := range weights {
		g, x := groupOf(gids, i), v.Int(i)
		if v.IsNull(i) {
			if a.all {
				a.nulls = extend(a.nulls, int(g)+1)
				a.nulls[g] += w
			}
			continue
		}
		a.cells[g].n += w
		if wide {
			a.wide[g].Add(product(x, w))
		} else {
			a.cells[g].sum += x * w
		}
	}
	return nil
}

// product of two BIGINTs.
func product(x, y int64) wideint.Int128 {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	return wideint.Int128{Lo: lo, Hi: int64(hi) - x>>63&y - y>>63&x}
}

// magnitude is a bound of the values' absolute values.
func magnitude(v *vector.Vector, n int) uint64 {
	abs := func(x int64) uint64 { return uint64(max(x, -x)) } // right for the least, too
	switch {
	case v.Const:
		return abs(v.Int(0))
	case v.Int8 != nil:
		return abs(v.Base) + 1<<7
	case v.Int16 != nil:
		return abs(v.Base) + 1<<15
	case v.Int32 != nil:
		return abs(v.Base) + 1<<31
	case v.Int64 != nil:
		var m int64
		for _, x := range v.Int64[:n] {
			m |= x ^ x>>63
		}
		return uint64(1) << bits.Len64(uint64(m))
	}
	return abs(v.Base)
}

func sumInts[T int8 | int16 | int32 | int64](cells []sumCell, vals []T, base int64, gids []uint32) {
	if gids == nil {
		sum := base * int64(len(vals))
		var s0, s1, s2, s3 int64 // four chains, so that one does not wait for the other
		cells[0].n += int64(len(vals))
		for len(vals) >= 4 {
			s0 += int64(vals[0])
			s1 += int64(vals[1])
			s2 += int64(vals[2])
			s3 += int64(vals[3])
			vals = vals[4:]
		}
		for _, x := range vals {
			s0 += int64(x)
		}
		cells[0].sum += sum + s0 + s1 + s2 + s3
		return
	}
	gids = gids[:len(vals)]
	for i, x := range vals {
		c := &cells[gids[i]]
		c.sum += base + int64(x)
		c.n++
	}
}

func sumConst(cells []sumCell, x int64, gids []uint32, n int) {
	if gids == nil {
		cells[0].sum += x * int64(n)
		cells[0].n += int64(n)
		return
	}
	for _, g := range gids {
		cells[g].sum += x
		cells[g].n++
	}
}

// addWide is addTo of the cells from the first-th on, in 128 bits.
func (a *intSumAcc) addWide(first int, v *vector.Vector, gids []uint32, n int) {
	a.wide = extend(a.wide, len(a.cells))
	for i := range n {
		g := uint32(first) + groupOf(gids, i)
		a.wide[g].AddInt(v.Int(i))
		a.cells[g].n++
	}
}

// flush moves the sums to 128 bits.
func (a *intSumAcc) flush() {
	a.wide = extend(a.wide, len(a.cells))
	for g := range a.cells {
		a.wide[g].AddInt(a.cells[g].sum)
		a.cells[g].sum = 0
	}
	a.bound = 0
}

func (a *intSumAcc) merge(from accumulator, to []uint32) {
	o := from.(*intSumAcc)
	if a.bound+o.bound >= 1<<62 {
		a.flush()
		o.flush()
	}
	a.bound += o.bound
	for g, c := range o.cells {
		a.cells[to[g]].sum += c.sum
		a.cells[to[g]].n += c.n
	}
	for g, n := range o.nulls {
		a.nulls = extend(a.nulls, int(to[g])+1)
		a.nulls[to[g]] += n
	}
	if o.wide != nil {
		a.wide = extend(a.wide, len(a.cells))
		for g, w := range o.wide {
			a.wide[to[g]].Add(w)
		}
	}
}

func (a *intSumAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	return a.quotient.result(n, a.at)
}

// at is the sum of group g and of how many values.
func (a *intSumAcc) at(g int) (wideint.Int256, int64) {
	c := a.cells[g]
	sum := wideint.From64(c.sum)
	if g < len(a.wide) {
		sum.Add(a.wide[g].Wide())
	}
	return sum, c.n
}

// countNulls counts rows whose value is NULL, of groups from the first-th on.
func (a *intSumAcc) countNulls(first int, v *vector.Vector, gids []uint32, n int) {
	a.nulls = extend(a.nulls, len(a.cells))
	for i := range n {
		if v.IsNull(i) {
			a.nulls[uint32(first)+groupOf(gids, i)]++
		}
	}
}

// rows is how many rows group g has, if all are counted.
func (a *intSumAcc) rows(g int) int64 {
	n := a.cells[g].n
	if g < len(a.nulls) {
		n += a.nulls[g]
	}
	return n
}

// sharedCountAcc is CountRows beside a sum, which counts its values anyway.
type sharedCountAcc struct {
	noMorsels
	of *intSumAcc
}

func (a *sharedCountAcc) grow(int)                                            {}
func (a *sharedCountAcc) bytes() int64                                        { return 0 }
func (a *sharedCountAcc) add(*vector.Vector, []uint32, int) error             { return nil }
func (a *sharedCountAcc) addRun(*vector.Vector, uint32, int) error            { return nil }
func (a *sharedCountAcc) addCodes(*vector.Vector, []uint8, []uint32) bool     { return true }
func (a *sharedCountAcc) addWeighted(*vector.Vector, []uint32, []int64) error { return nil }
func (a *sharedCountAcc) merge(accumulator, []uint32)                         {}
func (a *sharedCountAcc) result(n int) (vector.Vector, error) {
	a.of.grow(n)
	out := make([]int64, n)
	for g := range out {
		out[g] = a.of.rows(g)
	}
	return vector.Vector{Kind: vector.Int, Len: n, Int64: out}, nil
}

// sharedSumAcc is Sum or Avg of what another aggregate sums up already.
type sharedSumAcc struct {
	noMorsels
	quotient
	of *intSumAcc
}

func (a *sharedSumAcc) grow(int)                                        {}
func (a *sharedSumAcc) bytes() int64                                    { return 0 }
func (a *sharedSumAcc) add(*vector.Vector, []uint32, int) error         { return nil }
func (a *sharedSumAcc) addRun(*vector.Vector, uint32, int) error        { return nil }
func (a *sharedSumAcc) addCodes(*vector.Vector, []uint8, []uint32) bool { return true }
func (a *sharedSumAcc) merge(accumulator, []uint32)                     {}
func (a *sharedSumAcc) knows(s Stats, rows int) bool                    { return a.of.knows(s, rows) }
func (a *sharedSumAcc) addStats(Stats, int)                             {}
func (a *sharedSumAcc) result(n int) (vector.Vector, error) {
	a.of.grow(n)
	return a.quotient.result(n, a.of.at)
}

// wideSumAcc is Sum and Avg of unsigned integers and decimals.
type wideSumAcc struct {
	noMorsels
	quotient
	sums  []wideint.Int256
	n     []int64
	dense dense
}

func (a *wideSumAcc) grow(n int)   { a.sums, a.n = extend(a.sums, n), extend(a.n, n) }
func (a *wideSumAcc) bytes() int64 { return 40 * int64(cap(a.sums)) }

func (a *wideSumAcc) add(v *vector.Vector, gids []uint32, n int) error {
	v, gids, n = a.dense.of(v, gids, n)
	group := func(i int) uint32 {
		if gids == nil {
			return 0
		}
		return gids[i]
	}
	switch {
	case v.Uint64 != nil:
		for i := range n {
			g := group(i)
			a.sums[g].Add128(v.Uint64[at(v, i)], 0)
			a.n[g]++
		}
	case v.Dec128 != nil:
		for i := range n {
			g := group(i)
			x := v.Dec128[at(v, i)]
			a.sums[g].Add128(x.LowBits(), x.HighBits())
			a.n[g]++
		}
	case v.Dec256 != nil:
		for i := range n {
			g := group(i)
			a.sums[g].Add(wideint.From256(v.Dec256[at(v, i)]))
			a.n[g]++
		}
	case n > 0:
		return fmt.Errorf("exec: a vector of kind %d without values", v.Kind)
	}
	return nil
}

func (a *wideSumAcc) merge(from accumulator, to []uint32) {
	o := from.(*wideSumAcc)
	for g := range o.sums {
		a.sums[to[g]].Add(o.sums[g])
		a.n[to[g]] += o.n[g]
	}
}

func (a *wideSumAcc) result(n int) (vector.Vector, error) {
	a.grow(n)
	return a.quotient.result(n, func(g int) (wideint.Int256, int64) { return a.sums[g], a.n[g] })
}
