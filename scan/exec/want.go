package exec

// want notes for each join at or below n which of its columns are looked at. cols says so of n's own;
// nil: all are.
func (r *runner) want(n Node, cols []bool) {
	of := func(width int, exprs ...Expr) []bool {
		out := make([]bool, width)
		for _, e := range exprs {
			for _, c := range columnsOf(e, nil) {
				out[c] = true
			}
		}
		return out
	}
	switch n := n.(type) {
	case *Filter:
		if cols != nil {
			for i, w := range of(len(cols), n.Cond) {
				cols[i] = cols[i] || w
			}
		}
		r.want(n.Child, cols)
	case *Limit:
		r.want(n.Child, cols)
	case *Project:
		var used []Expr
		for i, e := range n.Exprs {
			if cols == nil || cols[i] {
				used = append(used, e)
			}
		}
		r.want(n.Child, of(len(n.Child.Schema()), used...))
	case *Aggregate:
		used := append([]Expr(nil), n.By...)
		for _, a := range n.Aggs {
			used = append(used, a.Arg)
			for _, k := range a.Order {
				used = append(used, k.Expr)
			}
		}
		r.want(n.Child, of(len(n.Child.Schema()), used...))
	case *Join:
		left, right := len(n.Left.Schema()), len(n.Right.Schema())
		if cols == nil {
			r.want(n.Left, nil)
			r.want(n.Right, nil)
			return
		}
		if n.Kind.onlyMatch() {
			cols = append(cols[:left:left], make([]bool, right)...)
		}
		for i, w := range of(left+right, n.Residual) {
			cols[i] = cols[i] || w
		}
		r.wants[n] = cols
		l, q := of(left, n.LeftKeys...), of(right, n.RightKeys...)
		for i, w := range cols {
			switch {
			case !w:
			case i < left:
				l[i] = true
			default:
				q[i-left] = true
			}
		}
		r.want(n.Left, l)
		r.want(n.Right, q)
	default:
		for _, c := range children(n) {
			r.want(c, nil)
		}
	}
}
