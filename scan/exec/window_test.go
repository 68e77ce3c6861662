package exec

import (
	"slices"
	"testing"

	"millrace/internal/vector"

	"pgregory.net/rapid"
)

// naiveWindow computes each row's function from the definition of its frame.
func naiveWindow(n *Window) ([][]any, error) {
	in, err := naiveRun(n.Child)
	if err != nil {
		return nil, err
	}
	type row struct {
		vals, part, order []any
		at                int
	}
	rows := make([]row, len(in))
	for i, r := range in {
		rows[i].vals, rows[i].at = r.vals, i
		for _, e := range n.Partition {
			v, err := naive(e, r.vals)
			if err != nil {
				return nil, err
			}
			rows[i].part = append(rows[i].part, v)
		}
		for _, k := range n.Order {
			v, err := naive(k.Expr, r.vals)
			if err != nil {
				return nil, err
			}
			rows[i].order = append(rows[i].order, v)
		}
	}
	compare := func(a, b row) int {
		for i := range a.part {
			if c := naiveCompare(a.part[i], b.part[i]); c != 0 {
				return c
			}
		}
		for i := range a.order {
			if c := naiveCompare(a.order[i], b.order[i]); c != 0 {
				if n.Order[i].Desc {
					return -c
				}
				return c
			}
		}
		return 0
	}
	slices.SortStableFunc(rows, compare)
	same := func(a, b []any) bool {
		return slices.EqualFunc(a, b, func(x, y any) bool { return naiveCompare(x, y) == 0 })
	}
	out := make([][]any, len(rows))
	for i, r := range rows {
		from, to := i, i+1
		for from > 0 && same(rows[from-1].part, r.part) {
			from--
		}
		for to < len(rows) && same(rows[to].part, r.part) {
			to++
		}
		peer, first := i+1, i
		for peer < to && same(rows[peer].order, r.order) {
			peer++
		}
		for first > from && same(rows[first-1].order, r.order) {
			first--
		}
		out[r.at] = slices.Clone(r.vals)
		for _, f := range n.Funcs {
			end := peer
			if f.Rows {
				end = i + 1
			} else if len(n.Order) == 0 {
				end = to
			}
			if f.Whole {
				end = to
			}
			arg := func(k int) (any, error) { return naive(f.Arg, rows[k].vals) }
			var v any
			var err error
			switch f.Kind {
			case RowNumber:
				v = int64(i - from + 1)
			case Rank:
				v = int64(first - from + 1)
			case DenseRank:
				d := int64(1)
				for k := from + 1; k <= i; k++ {
					if !same(rows[k-1].order, rows[k].order) {
						d++
					}
				}
				v = d
			case Lag, Lead:
				k := i - int(f.Offset)
				if f.Kind == Lead {
					k = i + int(f.Offset)
				}
				if k >= from && k < to {
					v, err = arg(k)
				} else if f.Def != nil {
					v, err = naive(f.Def, r.vals)
				}
			case FirstValue:
				v, err = arg(from)
			case LastValue:
				v, err = arg(end - 1)
			case WindowAgg:
				var group []naiveRow
				for k := from; k < end; k++ {
					group = append(group, naiveRow{vals: rows[k].vals})
				}
				v, err = naiveAgg(f.Agg, group)
			}
			if err != nil {
				return nil, err
			}
			out[r.at] = append(out[r.at], v)
		}
	}
	return out, nil
}

func TestWindowsComputeEveryRowsFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, child := smallTable(t)
		w := &Window{Child: child}
		for range genInt(t, 2) {
			w.Partition = append(w.Partition, genExpr(t, pick(t, testTypes...), 0))
		}
		for range genInt(t, 2) {
			w.Order = append(w.Order, SortKey{Expr: genExpr(t, pick(t, testTypes...), 0), Desc: genInt(t, 1) == 0})
		}
		for range 1 + genInt(t, 2) {
			f := WindowFunc{Kind: WindowKind(1 + genInt(t, 7)), T: Type{Kind: vector.Int}, Rows: genInt(t, 3) == 0, Whole: genInt(t, 3) == 0}
			switch f.Kind {
			case Lag, Lead, FirstValue, LastValue:
				f.T = pick(t, testTypes...)
				f.Arg = genExpr(t, f.T, 0)
				f.Offset = int64(genInt(t, 3))
				if genInt(t, 1) == 0 {
					f.Def = genConst(t, f.T)
				}
			case WindowAgg:
				f.Agg = genAgg(t)
				if f.Agg.Kind == GroupConcat || f.Agg.Kind == AnyValue || f.Agg.Distinct {
					f.Agg = Agg{Kind: CountRows, T: Type{Kind: vector.Int}}
				}
				f.T = f.Agg.T
			}
			w.Funcs = append(w.Funcs, f)
		}
		if err := Check(w); err != nil {
			t.Fatal(err)
		}
		want, err := naiveWindow(w)
		if err != nil {
			return
		}
		got, err := collect(w, Options{Parallel: 1})
		if err != nil {
			t.Fatalf("%v\n%s", err, show(w))
		}
		rows := make([]naiveRow, len(want))
		for i := range want {
			rows[i].vals = want[i]
		}
		if err := sameRows(got, rows); err != nil {
			t.Fatalf("%v\npartition %+v order %+v funcs %+v\n%v\n%v", err, w.Partition, w.Order, w.Funcs, got, want)
		}
	})
}

// naiveCompare orders two values of one type, NULL first.
func naiveCompare(a, b any) int {
	if a == nil || b == nil {
		return b2i(b == nil) - b2i(a == nil)
	}
	return compareAny(a, b)
}
