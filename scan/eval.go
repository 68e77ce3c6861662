package scan

import "github.com/apache/arrow-go/v18/arrow/decimal256"

// vector is one column of n rows as the kernels see it; the field of its domain
// is set. It aliases what it was made of.
type vector struct {
	n        int
	ints     []int64
	uints    []uint64
	floats   []float64
	decimals interface {
		decimal(i int) decimal256.Num
	}
	strings interface{ Value(i int) string }
	nulls   interface{ IsNull(i int) bool } // nil: none is null
}

// vectors gives an evaluator its columns.
type vectors interface {
	vector(c Column) *vector
	rows() int
}

// evaluator evaluates filters over vectors; it owns scratch and is reused. Not
// safe for concurrent use.
type evaluator struct{ free [][]Tri }

func (ev *evaluator) get(n int) []Tri {
	if k := len(ev.free); k > 0 && cap(ev.free[k-1]) >= n {
		out := ev.free[k-1][:n]
		ev.free = ev.free[:k-1]
		return out
	}
	return make([]Tri, n, max(n, MaxBatchRows))
}

func (ev *evaluator) put(t []Tri) { ev.free = append(ev.free, t) }

// eval returns e's truth value for every row; the caller puts it back.
func (ev *evaluator) eval(e Expr, vs vectors) []Tri {
	n := vs.rows()
	switch e := e.(type) {
	case And:
		return ev.fold(e.Args, vs, True, &andTable)
	case Or:
		return ev.fold(e.Args, vs, False, &orTable)
	case Not:
		out := ev.eval(e.Arg, vs)
		for i, t := range out {
			out[i] = notTable[t]
		}
		return out
	case Const:
		out := ev.get(n)
		fill(out, e.Value)
		return out
	case Compare:
		out := ev.get(n)
		compareKernel(vs.vector(e.Column), e.Op, e.Value, out)
		return out
	case In:
		out := ev.get(n)
		inKernel(vs.vector(e.Column), e.Values, e.Null, out)
		return out
	case IsNull:
		out := ev.get(n)
		nullKernel(vs.vector(e.Column), out)
		return out
	}
	panic("scan: unknown filter")
}

func (ev *evaluator) fold(args []Expr, vs vectors, unit Tri, table *[3][3]Tri) []Tri {
	if len(args) == 0 {
		out := ev.get(vs.rows())
		fill(out, unit)
		return out
	}
	out := ev.eval(args[0], vs)
	for _, a := range args[1:] {
		next := ev.eval(a, vs)
		for i, t := range next {
			out[i] = table[out[i]][t]
		}
		ev.put(next)
	}
	return out
}
