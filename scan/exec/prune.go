package exec

import (
	"bytes"
	"cmp"
	"slices"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/wideint"
)

// Pruning only saves work: what is not known may be.

// blockFacts is what is known of a block without opening it.
type blockFacts struct {
	scan  *Scan
	block Block
	// announced: no filter is asked, but fetched, and that it was is noted here; nil: filters are asked.
	announced *bool
}

// factsOf is what is known of a block.
func factsOf(s *Scan, b Block) blockFacts { return blockFacts{scan: s, block: b} }

// prune leaves out blocks in which no row can pass the filter. Blocks' own filters may lie on the disk; so they are asked last, and
// before that all of them are fetched at once.
func prune(s *Scan, filter []conjunct, blocks []Block) []Block {
	if len(filter) == 0 {
		return blocks
	}
	announced := false
	pass := func(in []Block, facts func(Block) blockFacts) []Block {
		out := make([]Block, 0, len(in))
		for _, b := range in {
			f := facts(b)
			if !slices.ContainsFunc(filter, func(c conjunct) bool { return !f.may(c.e, true) }) {
				out = append(out, b)
			}
		}
		return out
	}
	blocks = pass(blocks, func(b Block) blockFacts { return blockFacts{s, b, &announced} })
	if !announced {
		return blocks
	}
	return pass(blocks, func(b Block) blockFacts { return factsOf(s, b) })
}

// passes says that every row of the block meets the conjunct for sure.
func (f blockFacts) passes(c conjunct) bool { return f.must(c.e, true) }

// must says that e has truth want for every row of the block for sure.
func (f blockFacts) must(e Expr, want bool) bool {
	switch e := e.(type) {
	case Not:
		return f.must(e.Arg, !want)
	case And:
		return f.mustMany(e.Args, want, want)
	case Or:
		return f.mustMany(e.Args, want, !want)
	case IsNull:
		c, ok := e.Arg.(Col)
		return ok && !want && f.noNulls(c)
	case Compare:
		c, k, op, ok := columnAndConst(e)
		if !ok || k.Null || op == NullSafeEQ || !f.noNulls(c) {
			return false
		}
		if want {
			op = negated[op]
		}
		return !f.mayRange(c, op, k)
	}
	return false
}

// mustMany is whether all arguments must, or one.
func (f blockFacts) mustMany(args []Expr, want, all bool) bool {
	for _, a := range args {
		if f.must(a, want) != all {
			return !all
		}
	}
	return all
}

func (f blockFacts) noNulls(c Col) bool {
	s, ok := f.block.Stats(f.scan.Columns[c.Index])
	return ok && s.Nulls == 0
}

// negated is the operator that holds where the other does not, NULLs aside.
var negated = [...]CompareOp{EQ: NE, NE: EQ, LT: GE, LE: GT, GT: LE, GE: LT}

// may says whether some row of the block may have truth want for e. Two-valued questions only: a
// row for which e is NULL has neither truth.
func (f blockFacts) may(e Expr, want bool) bool {
	switch e := e.(type) {
	case Const:
		return !e.Null && (e.Int != 0) == want
	case Not:
		return f.may(e.Arg, !want)
	case And:
		return f.many(e.Args, want, want)
	case Or:
		return f.many(e.Args, want, !want)
	case IsNull:
		c, ok := e.Arg.(Col)
		if !ok || !want {
			return true
		}
		s, ok := f.block.Stats(f.scan.Columns[c.Index])
		return !ok || s.Nulls != 0
	case Compare:
		return f.mayCompare(e, want)
	case In:
		c, ok := e.Arg.(Col)
		if !ok {
			return true
		}
		if !want {
			return !e.Null
		}
		const most = 1000 // beyond this looking costs more than it saves
		if len(e.List) > most {
			return true
		}
		for _, k := range e.List {
			if !k.Null && f.mayRange(c, EQ, k) {
				return true
			}
		}
		return false
	case Like:
		return f.mayLike(e, want)
	}
	return true
}

// many is whether all arguments may, or one.
func (f blockFacts) many(args []Expr, want, all bool) bool {
	for _, a := range args {
		if f.may(a, want) != all {
			return !all
		}
	}
	return all
}

func (f blockFacts) mayCompare(e Compare, want bool) bool {
	c, k, op, ok := columnAndConst(e)
	if !ok {
		return true
	}
	if op == NullSafeEQ {
		if !want {
			return true
		}
		if k.Null {
			return f.may(IsNull{c}, true)
		}
		op = EQ
	}
	if k.Null {
		return false
	}
	if !want {
		op = negated[op]
	}
	return f.mayRange(c, op, k)
}

// mayRange says whether some value of column c may stand in relation op to k.
func (f blockFacts) mayRange(c Col, op CompareOp, k Const) bool {
	col := f.scan.Columns[c.Index]
	if s, ok := f.block.Stats(col); ok {
		// low and high: how the bounds compare with k.
		low, high := 0, 0
		if s.HasMin {
			low = compareConst(s.Min, k)
		}
		if s.HasMax {
			high = compareConst(s.Max, k)
		}
		switch op {
		case EQ:
			if s.HasMin && low > 0 || s.HasMax && high < 0 {
				return false
			}
		case NE:
			if s.HasMin && s.HasMax && low == 0 && high == 0 {
				return false
			}
		case LT:
			if s.HasMin && low >= 0 {
				return false
			}
		case LE:
			if s.HasMin && low > 0 {
				return false
			}
		case GT:
			if s.HasMax && high <= 0 {
				return false
			}
		case GE:
			if s.HasMax && high < 0 {
				return false
			}
		}
	}
	if op == EQ && (c.T.Kind == vector.Int || c.T.Kind == vector.String) {
		if f.announced == nil {
			return f.block.MayContain(col, k)
		}
		*f.announced = true
		if b, ok := f.block.(Fetcher); ok {
			b.WillAsk(col, k)
		}
	}
	return true
}

// mayLike uses the text before the pattern's first wildcard.
func (f blockFacts) mayLike(e Like, want bool) bool {
	c, ok := e.Arg.(Col)
	if !ok || !want || e.Fold {
		return true
	}
	m := newMatcher(e)
	first := m.pieces[0]
	prefix := first.text
	for i, any := range first.any {
		if any {
			prefix = prefix[:i]
			break
		}
	}
	if len(m.pieces) == 1 && first.any == nil {
		return f.mayRange(c, EQ, Const{T: c.T, Bytes: prefix})
	}
	s, ok := f.block.Stats(f.scan.Columns[c.Index])
	if !ok || len(prefix) == 0 {
		return true
	}
	if s.HasMax && bytes.Compare(s.Max.Bytes, prefix) < 0 {
		return false
	}
	// Everything from a bound on that is above the prefix without starting with it is above all that
	// starts with it.
	if s.HasMin && bytes.Compare(s.Min.Bytes, prefix) > 0 && !bytes.HasPrefix(s.Min.Bytes, prefix) {
		return false
	}
	return true
}

// compareConst orders two constants of one type, neither NULL.
func compareConst(a, b Const) int {
	switch b.T.Kind {
	case vector.Int:
		return cmp.Compare(a.Int, b.Int)
	case vector.Uint:
		return cmp.Compare(a.Uint, b.Uint)
	case vector.Float:
		return b2i(a.Float > b.Float) - b2i(a.Float < b.Float)
	case vector.String:
		return bytes.Compare(a.Bytes, b.Bytes)
	}
	return wideint.From256(a.Dec).Cmp(wideint.From256(b.Dec))
}

// exact are a column's statistics if they are exact.
func (f blockFacts) exact(c scan.Column) (Stats, bool) {
	s, ok := f.block.Stats(c)
	return s, ok && s.Exact && s.Nulls >= 0
}
