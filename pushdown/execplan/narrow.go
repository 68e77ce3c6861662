package execplan

import (
	"slices"

	"millrace/scan"
	"millrace/scan/exec"
)

// Narrow is n without what nobody reads: want says which of its columns are wanted. It returns where each of
// the old columns is now (-1: gone).
func Narrow(n exec.Node, want []bool) (exec.Node, []int) {
	switch n := n.(type) {
	case *exec.Scan:
		need := slices.Clone(want)
		mark(n.Filter, need)
		out := *n
		at := places(need)
		if !slices.Contains(at, -1) {
			return n, at
		}
		out.Columns, out.Types = nil, nil
		for i, c := range n.Columns {
			if at[i] >= 0 {
				out.Columns, out.Types = append(out.Columns, c), append(out.Types, n.Types[i])
			}
		}
		if out.Columns == nil {
			out.Columns, out.Types = []scan.Column{}, []exec.Type{}
		}
		out.Filter = placed(n.Filter, at)
		return &out, at
	case *exec.Filter:
		need := slices.Clone(want)
		mark(n.Cond, need)
		child, at := Narrow(n.Child, need)
		return &exec.Filter{Child: child, Cond: placed(n.Cond, at)}, at
	case *exec.Project:
		need := make([]bool, len(n.Child.Schema()))
		at := places(want)
		for i, e := range n.Exprs {
			if at[i] >= 0 {
				mark(e, need)
			}
		}
		child, below := Narrow(n.Child, need)
		out := &exec.Project{Child: child}
		for i, e := range n.Exprs {
			if at[i] >= 0 {
				out.Exprs = append(out.Exprs, placed(e, below))
			}
		}
		return out, at
	case *exec.Aggregate:
		need := make([]bool, len(n.Child.Schema()))
		for _, e := range n.By {
			mark(e, need)
		}
		keep := slices.Clone(want)
		for i := range n.By {
			keep[i] = true
		}
		if len(n.By) == 0 && !slices.Contains(keep, true) && len(keep) > 0 {
			keep[0] = true // its one row counts all the same
		}
		at := places(keep)
		for i, a := range n.Aggs {
			if at[len(n.By)+i] >= 0 {
				markAgg(a, need)
			}
		}
		child, below := Narrow(n.Child, need)
		out := &exec.Aggregate{Child: child}
		for _, e := range n.By {
			out.By = append(out.By, placed(e, below))
		}
		for i, a := range n.Aggs {
			if at[len(n.By)+i] >= 0 {
				out.Aggs = append(out.Aggs, placedAgg(a, below))
			}
		}
		return out, at
	case *exec.Sort:
		need := slices.Clone(want)
		for _, k := range n.Keys {
			mark(k.Expr, need)
		}
		out := *n
		child, at := Narrow(n.Child, need)
		out.Child, out.Keys = child, placedKeys(n.Keys, at)
		return &out, at
	case *exec.Limit:
		out := *n
		child, at := Narrow(n.Child, want)
		out.Child = child
		return &out, at
	case *exec.Union:
		out := &exec.Union{}
		var at []int
		for _, c := range n.Children {
			// All children keep the same columns, whatever they need themselves.
			child, places := Narrow(c, want)
			child, places = exactly(child, places, want)
			out.Children, at = append(out.Children, child), places
		}
		return out, at
	case *exec.Join:
		left := len(n.Left.Schema())
		l, r := make([]bool, left), make([]bool, len(n.Right.Schema()))
		all := make([]bool, left+len(r))
		marks := n.Kind == exec.Mark || n.Kind == exec.MarkNull
		if marks {
			copy(all, want[:left])
		} else {
			copy(all, want)
		}
		mark(n.Residual, all)
		copy(l, all)
		copy(r, all[left:])
		for i := range n.LeftKeys {
			mark(n.LeftKeys[i], l)
			mark(n.RightKeys[i], r)
		}
		out := *n
		var la, ra []int
		out.Left, la = Narrow(n.Left, l)
		out.Right, ra = Narrow(n.Right, r)
		width := len(out.Left.Schema())
		at := slices.Clone(la)
		for _, x := range ra {
			if x >= 0 {
				x += width
			}
			at = append(at, x)
		}
		out.LeftKeys, out.RightKeys = nil, nil
		for i := range n.LeftKeys {
			out.LeftKeys = append(out.LeftKeys, placed(n.LeftKeys[i], la))
			out.RightKeys = append(out.RightKeys, placed(n.RightKeys[i], ra))
		}
		out.Residual = placed(n.Residual, at)
		if marks {
			return &out, append(at[:left:left], width)
		}
		return &out, at[:len(want)]
	case *exec.Window:
		width := len(n.Child.Schema())
		need := slices.Clone(want[:width])
		for _, e := range n.Partition {
			mark(e, need)
		}
		for _, k := range n.Order {
			mark(k.Expr, need)
		}
		for _, f := range n.Funcs {
			mark(f.Arg, need)
			mark(f.Def, need)
			mark(f.Agg.Arg, need)
		}
		child, at := Narrow(n.Child, need)
		out := &exec.Window{Child: child, Order: placedKeys(n.Order, at)}
		for _, e := range n.Partition {
			out.Partition = append(out.Partition, placed(e, at))
		}
		narrower := len(child.Schema())
		for i, f := range n.Funcs {
			f.Arg, f.Def, f.Agg.Arg = placed(f.Arg, at), placed(f.Def, at), placed(f.Agg.Arg, at)
			out.Funcs = append(out.Funcs, f)
			at = append(at, narrower+i)
		}
		return out, at
	}
	at := make([]int, len(want))
	for i := range at {
		at[i] = i
	}
	return n, at
}

// exactly gives n only the wanted columns, in their order.
func exactly(n exec.Node, at []int, want []bool) (exec.Node, []int) {
	out := places(want)
	if slices.Equal(at, out) && len(n.Schema()) == countTrue(want) {
		return n, out
	}
	p := &exec.Project{Child: n}
	types := n.Schema()
	for i := range want {
		if want[i] {
			p.Exprs = append(p.Exprs, exec.Col{Index: at[i], T: types[at[i]]})
		}
	}
	return p, out
}

func countTrue(b []bool) int {
	n := 0
	for _, x := range b {
		if x {
			n++
		}
	}
	return n
}

// places counts the wanted columns; -1 for the others.
func places(want []bool) []int {
	at := make([]int, len(want))
	n := 0
	for i, w := range want {
		at[i] = -1
		if w {
			at[i] = n
			n++
		}
	}
	return at
}

func mark(e exec.Expr, need []bool) {
	Walk(e, func(e exec.Expr) {
		if c, ok := e.(exec.Col); ok {
			need[c.Index] = true
		}
	})
}

func markAgg(a exec.Agg, need []bool) {
	mark(a.Arg, need)
	for _, k := range a.Order {
		mark(k.Expr, need)
	}
}

func placed(e exec.Expr, at []int) exec.Expr {
	if e == nil {
		return nil
	}
	return Rewritten(e, func(c exec.Col) exec.Expr {
		c.Index = at[c.Index]
		return c
	})
}

func placedAgg(a exec.Agg, at []int) exec.Agg {
	a.Arg = placed(a.Arg, at)
	a.Order = placedKeys(a.Order, at)
	return a
}

func placedKeys(keys []exec.SortKey, at []int) []exec.SortKey {
	var out []exec.SortKey
	for _, k := range keys {
		out = append(out, exec.SortKey{Expr: placed(k.Expr, at), Desc: k.Desc})
	}
	return out
}
