package exec

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"

	"millrace/internal/vector"
)

// topBound carries what a Sort with a limit knows down to its scan: a row whose first key is worse than that of as
// many rows as are wanted need not be looked at, and a block of which that is true of all rows need not be opened. Blocks are
// visited from the most promising one on, so that the bound is sharp soon. Equal keys pass: later keys and the order of
// the scan decide about them. Shared by the goroutines of a run.
type topBound struct {
	col  int // of the scan
	desc bool
	best []Const // by block: no row has a better key; Kind 0: not known
	now  atomic.Pointer[Const]
}

// topBoundOf is the bound of a Sort of a pipeline's rows, nil if there can be none: the first key is no column of the scan, or a row
// that is left out could have failed.
func topBoundOf(p *pipeline, keys []SortKey) *topBound {
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys[1:] {
		if Fallible(k.Expr) {
			return nil
		}
	}
	c, ok := p.source(keys[0].Expr)
	if !ok {
		return nil
	}
	return &topBound{col: c.Index, desc: keys[0].Desc}
}

// order says in which order to visit blocks.
func (t *topBound) order(s *Scan, blocks []Block) []int32 {
	t.best = make([]Const, len(blocks))
	out := make([]int32, len(blocks))
	for i, b := range blocks {
		out[i] = int32(i)
		t.best[i] = t.bestOf(s.Types[t.col], factsOf(s, b))
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		x, y := &t.best[a], &t.best[b]
		if x.T.Kind == 0 || y.T.Kind == 0 {
			return cmp.Compare(b2i(x.T.Kind != 0), b2i(y.T.Kind != 0))
		}
		return t.compare(x, y)
	})
	return out
}

// bestOf is the best key that a row of the block can have.
func (t *topBound) bestOf(typ Type, f blockFacts) Const {
	s, ok := f.block.Stats(f.scan.Columns[t.col])
	switch {
	case !ok:
		return Const{}
	case !t.desc && s.Nulls != 0:
		return Const{T: typ, Null: true}
	case t.desc && s.HasMax:
		s.Max.T = typ
		return s.Max
	case !t.desc && s.HasMin:
		s.Min.T = typ
		return s.Min
	}
	return Const{}
}

// compare is below zero where a comes before b.
func (t *topBound) compare(a, b *Const) int {
	c := 0
	if a.Null || b.Null {
		c = b2i(b.Null) - b2i(a.Null)
	} else {
		c = compareConst(*a, *b)
	}
	if t.desc {
		return -c
	}
	return c
}

// tighten says that as many rows as are wanted have first keys that are no worse than k.
func (t *topBound) tighten(k Const) {
	for {
		old := t.now.Load()
		if old != nil && t.compare(&k, old) >= 0 || t.now.CompareAndSwap(old, &k) {
			return
		}
	}
}

// hopeless says that no row of block i can be wanted any more.
func (t *topBound) hopeless(i int) bool {
	k := t.now.Load()
	return k != nil && t.best[i].T.Kind != 0 && t.compare(&t.best[i], k) > 0
}

// pick writes those of rows (nil: all) to dst that may be wanted.
func (t *topBound) pick(b *Batch, rows, dst []int32) []int32 {
	k := t.now.Load()
	if k == nil {
		return orAll(rows, b.Len)
	}
	v := &b.Cols[t.col]
	n := 0
	switch {
	case k.Null && t.desc:
		return orAll(rows, b.Len) // NULL is last
	case k.Null:
		n, _ = (&nullSelector{col: t.col}).pick(b, rows, true, dst)
	case v.Const || v.HasNulls() && !t.desc:
		n = t.pickAny(v, k, orAll(rows, b.Len), dst)
	case v.Kind == vector.Int:
		r := intRange{col: t.col, lo: k.Int, hi: k.Int}
		if t.desc {
			r.hi = 1<<63 - 1
		} else {
			r.lo = -1 << 63
		}
		n, _ = r.pick(b, rows, true, dst)
	case v.Kind == vector.Float && rows == nil:
		n = dropNulls(v, dst[:t.pickFloats(v.Float64[:b.Len], k.Float, dst)])
	default:
		n = t.pickAny(v, k, orAll(rows, b.Len), dst)
	}
	return dst[:n]
}

// pickFloats branches: soon hardly a row is good enough, and the branch is foretold.
func (t *topBound) pickFloats(vals []float64, bound float64, dst []int32) int {
	n := 0
	if t.desc {
		for i, x := range vals {
			if x >= bound {
				dst[n] = int32(i)
				n++
			}
		}
		return n
	}
	for i, x := range vals {
		if x <= bound {
			dst[n] = int32(i)
			n++
		}
	}
	return n
}

func (t *topBound) pickAny(v *vector.Vector, k *Const, rows, dst []int32) int {
	n := 0
	typ := Type{v.Kind, v.Scale}
	for _, i := range rows {
		var c int
		switch {
		case v.IsNull(int(i)):
			c = -1
		case v.Kind == vector.String:
			c = bytes.Compare(v.Text(int(i)), k.Bytes)
		default:
			c = compareConst(constOf(v, int(i), typ), *k)
		}
		if t.desc {
			c = -c
		}
		dst[n] = i
		n += b2i(c <= 0)
	}
	return n
}
