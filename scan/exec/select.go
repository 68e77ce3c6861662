package exec

import (
	"math"
	"math/bits"

	"millrace/internal/vector"
)

// newSelector makes the selector of a condition: a kernel over a column where there is one, else the
// condition's value.
func newSelector(schema []Type, e Expr) (selector, error) {
	switch e := e.(type) {
	case And:
		return newManySelector(schema, e.Args, true)
	case Or:
		return newManySelector(schema, e.Args, false)
	case Not:
		s, err := newSelector(schema, e.Arg)
		return notSelector{s}, err
	case IsNull:
		if c, ok := e.Arg.(Col); ok {
			return &nullSelector{col: c.Index}, nil
		}
	}
	plain, err := newValueSelector(schema, e)
	if err != nil {
		return nil, err
	}
	if col, ok := oneText(schema, e); ok {
		return newDictSelector(schema, e, col, plain)
	}
	switch e := e.(type) {
	case Compare:
		if s := rangeOf(e); s != nil {
			return s, nil
		}
	case In:
		if s := intSetOf(e); s != nil {
			return s, nil
		}
	}
	return plain, nil
}

// columnAndConst takes a comparison of a column with a constant apart, the column on the left.
func columnAndConst(e Compare) (Col, Const, CompareOp, bool) {
	if c, ok := e.L.(Col); ok {
		k, ok := e.R.(Const)
		return c, k, e.Op, ok
	}
	if c, ok := e.R.(Col); ok {
		k, ok := e.L.(Const)
		op := e.Op
		switch op {
		case LT:
			op = GT
		case LE:
			op = GE
		case GT:
			op = LT
		case GE:
			op = LE
		}
		return c, k, op, ok
	}
	return Col{}, Const{}, 0, false
}

// rangeOf is the range kernel of a comparison with a constant, nil if there is none.
func rangeOf(e Compare) selector {
	c, k, op, ok := columnAndConst(e)
	if !ok || op == NullSafeEQ {
		return nil
	}
	if k.Null {
		return neverSelector{}
	}
	switch c.T.Kind {
	case vector.Int:
		r := &intRange{col: c.Index, lo: math.MinInt64, hi: math.MaxInt64}
		switch op {
		case EQ, NE:
			r.lo, r.hi, r.not = k.Int, k.Int, op == NE
		case LT, GE:
			// x < c is not (x ≥ c)
			r.lo, r.not = k.Int, op == LT
		case LE, GT:
			r.hi, r.not = k.Int, op == GT
		}
		r.plain()
		return r
	case vector.Float:
		r := &floatRange{col: c.Index, lo: math.Inf(-1), hi: math.Inf(1)}
		switch op {
		case EQ, NE:
			r.lo, r.hi, r.not = k.Float, k.Float, op == NE
		case LT, GE:
			r.lo, r.not = k.Float, op == LT
		case LE, GT:
			r.hi, r.not = k.Float, op == GT
		}
		return r
	}
	return nil
}

// neverSelector is a condition that is NULL for every row.
type neverSelector struct{}

func (neverSelector) pick(*Batch, []int32, bool, []int32) (int, error) { return 0, nil }

type notSelector struct{ arg selector }

func (s notSelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	return s.arg.pick(b, rows, !want, dst)
}

// manySelector is And or Or. Rows that must satisfy all are cut down by one condition after another;
// rows that must satisfy one go from condition to condition until one picks them.
type manySelector struct {
	and    bool
	args   []selector
	left   []int32
	picked []int32
	hits   []int32
	merged []int32
}

func newManySelector(schema []Type, args []Expr, and bool) (selector, error) {
	s := &manySelector{and: and}
	for _, a := range args {
		arg, err := newSelector(schema, a)
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, arg)
	}
	return s, nil
}

func (s *manySelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	if rows == nil {
		rows = allRows[:b.Len]
	}
	if s.and == want {
		n := copy(dst, rows)
		for _, a := range s.args {
			if n == 0 {
				break
			}
			var err error
			if n, err = a.pick(b, dst[:n], want, dst); err != nil {
				return 0, err
			}
		}
		return n, nil
	}
	hits := s.hits[:0]
	left := append(s.left[:0], rows...)
	for _, a := range s.args {
		if len(left) == 0 {
			break
		}
		picked := grown(&s.picked, chunkRows)
		n, err := a.pick(b, left, want, picked)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			continue
		}
		left = without(left, picked[:n])
		hits, s.merged = union(hits, picked[:n], s.merged), hits
	}
	s.left, s.hits = left, hits
	return copy(dst, hits), nil
}

// without drops the rows of some from rows, which has them all; both ascend.
func without(rows, some []int32) []int32 {
	k := 0
	for _, r := range rows {
		if len(some) > 0 && some[0] == r {
			some = some[1:]
			continue
		}
		rows[k] = r
		k++
	}
	return rows[:k]
}

// union merges two ascending lists without common rows, into the memory of dst.
func union(a, b, dst []int32) []int32 {
	dst = dst[:0]
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst = append(dst, a[0])
			a = a[1:]
		} else {
			dst = append(dst, b[0])
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// nullSelector is IS NULL of a column.
type nullSelector struct {
	col   int
	valid []uint64
}

func (s *nullSelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[s.col]
	all := rows == nil
	if all {
		rows = allRows[:b.Len]
	}
	if v.Valid == nil || v.Nulls == 0 {
		if want {
			return 0, nil
		}
		return copy(dst, rows), nil
	}
	k := 0
	if all && !v.Const {
		valid := validOf(v, b.Len, &s.valid)
		for w, word := range valid[:words(b.Len)] {
			if want {
				word = ^word
			}
			if rest := b.Len - w<<6; rest < 64 {
				word &= 1<<rest - 1
			}
			for ; word != 0; word &= word - 1 {
				dst[k] = int32(w<<6 + bits.TrailingZeros64(word))
				k++
			}
		}
		return k, nil
	}
	for _, r := range rows {
		dst[k] = r
		k += b2i(v.IsNull(int(r)) == want)
	}
	return k, nil
}

// dropNulls keeps those of the rows in dst whose value is not NULL.
func dropNulls(v *vector.Vector, dst []int32) int {
	if v.Valid == nil || v.Nulls == 0 {
		return len(dst)
	}
	k := 0
	for _, r := range dst {
		dst[k] = r
		at := int(r) + v.First
		k += int(v.Valid[at>>6] >> (at & 63) & 1)
	}
	return k
}

// newValueSelector evaluates the condition as a value.
func newValueSelector(schema []Type, e Expr) (*valueSelector, error) {
	p, err := newProgram(schema, []Expr{e})
	if err != nil {
		return nil, err
	}
	return &valueSelector{p: p}, nil
}

type valueSelector struct {
	p     *program
	batch Batch
	truth []int8
	valid []uint64
}

func (s *valueSelector) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	s.batch = Batch{Len: b.Len, Sel: rows, Cols: b.Cols}
	s.p.in.set(&s.batch)
	v, err := s.p.evs[0].eval(&s.p.in)
	if err != nil {
		return 0, err
	}
	n := s.p.in.n
	t := truthsOf(v, n, &s.truth)
	valid := validOf(v, n, &s.valid)
	if rows == nil {
		rows = allRows[:b.Len]
	}
	k := 0
	for i, row := range rows {
		hit := b2i(t[i] != 0 == want)
		if valid != nil {
			hit &= int(valid[i>>6] >> (i & 63) & 1)
		}
		dst[k] = row
		k += hit
	}
	return k, nil
}
