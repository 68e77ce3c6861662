package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/blobexpand"
	"millrace/internal/recordbatch"

	"pgregory.net/rapid"
)

// oneRow is what the naive evaluation looks at.
type oneRow struct {
	partition int32
	offset    int64
	ts        int64
	key       string // "" absent
	x         *int64
	s         *string
}

// truth evaluates e for one row, straight by SQL's definitions.
func truth(e Expr, r oneRow) Tri {
	and := func(args []Expr, unit, zero Tri) Tri {
		out := unit
		for _, a := range args {
			switch truth(a, r) {
			case zero:
				return zero
			case Null:
				out = Null
			}
		}
		return out
	}
	value := func(c Column) (v Literal, null bool) {
		switch c.Kind {
		case Partition:
			return Literal{Int: int64(r.partition)}, false
		case Offset:
			return Literal{Int: r.offset}, false
		case Timestamp:
			return Literal{Int: r.ts}, !validTimestamp(r.ts)
		case Key:
			return Literal{String: r.key}, r.key == ""
		}
		if c.Index == 0 {
			if r.x == nil {
				return Literal{}, true
			}
			return Literal{Int: *r.x}, false
		}
		if r.s == nil {
			return Literal{}, true
		}
		return Literal{String: *r.s}, false
	}
	order := func(a, b Literal) int { return cmp.Or(cmp.Compare(a.Int, b.Int), strings.Compare(a.String, b.String)) }
	switch e := e.(type) {
	case And:
		return and(e.Args, True, False)
	case Or:
		return and(e.Args, False, True)
	case Not:
		return [...]Tri{True, False, Null}[truth(e.Arg, r)]
	case Const:
		return e.Value
	case IsNull:
		_, null := value(e.Column)
		return tri(null)
	case Compare:
		v, null := value(e.Column)
		if null {
			return Null
		}
		return decide(e.Op, order(v, e.Value))
	case In:
		v, null := value(e.Column)
		if null {
			return Null
		}
		for _, c := range e.Values {
			if order(v, c) == 0 {
				return True
			}
		}
		if e.Null {
			return Null
		}
		return False
	}
	panic("unknown filter")
}

func drawExpr(t *rapid.T, depth int) Expr {
	if depth > 0 {
		args := func() []Expr {
			out := make([]Expr, rapid.IntRange(0, 3).Draw(t, "args"))
			for i := range out {
				out[i] = drawExpr(t, depth-1)
			}
			return out
		}
		switch rapid.IntRange(0, 4).Draw(t, "node") {
		case 0:
			return And{args()}
		case 1:
			return Or{args()}
		case 2:
			return Not{drawExpr(t, depth-1)}
		}
	}
	c := rapid.SampledFrom([]Column{colPartition, colOffset, colTimestamp, colKey, expanded(0), expanded(1)}).Draw(t, "column")
	lit := func() Literal {
		switch {
		case c.Kind == Key || c == expanded(1):
			return Literal{String: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "text")}
		case c.Kind == Timestamp:
			return Literal{Int: rapid.SampledFrom([]int64{-5, 999, 1000, 1500, 2000, 3000, 1 << 62}).Draw(t, "ts")}
		}
		return Literal{Int: rapid.Int64Range(-1, 7).Draw(t, "int")}
	}
	switch rapid.IntRange(0, 5).Draw(t, "leaf") {
	case 0:
		return IsNull{c}
	case 1:
		values := make([]Literal, rapid.IntRange(0, 12).Draw(t, "values"))
		for i := range values {
			values[i] = lit()
		}
		return In{c, values, rapid.Bool().Draw(t, "null")}
	case 2:
		return Const{rapid.SampledFrom([]Tri{False, True, Null}).Draw(t, "const")}
	}
	return Compare{c, Op(rapid.IntRange(0, 5).Draw(t, "op")), lit()}
}

// The kernels, with all their pruning, keep exactly the rows for which the filter is true by
// definition; and counts from bounds, where there are any, agree.
func TestFiltersKeepWhatTheDefinitionSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &fakeSource{start: rapid.Int64Range(0, 2).Draw(rt, "start")}
		var all []oneRow
		for p := range int32(3) {
			offset := int64(0)
			for range rapid.IntRange(0, 3).Draw(rt, "batches") {
				var recs []rec
				for range rapid.IntRange(1, 4).Draw(rt, "records") {
					r := oneRow{
						partition: p, offset: offset,
						ts:  rapid.SampledFrom([]int64{-1, 500, 1000, 1500, 2000, 3000}).Draw(rt, "ts"),
						key: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "key"),
					}
					var members []string
					if rapid.Bool().Draw(rt, "hasX") {
						x := rapid.Int64Range(-1, 7).Draw(rt, "x")
						r.x = &x
						members = append(members, fmt.Sprintf(`"x":%d`, x))
					}
					if rapid.Bool().Draw(rt, "hasS") {
						x := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(rt, "s")
						r.s = &x
						members = append(members, fmt.Sprintf(`"s":%q`, x))
					}
					offset++
					all = append(all, r)
					recs = append(recs, rec{r.ts, r.key, "{" + strings.Join(members, ",") + "}"})
				}
				s.add(p, rapid.SampledFrom([]int{recordbatch.None, recordbatch.Zstd}).Draw(rt, "codec"), recs...)
			}
		}
		for range 8 {
			req := Request{
				Source: s, Table: table(3, column("x", blobexpand.Int64), column("s", blobexpand.Text)),
				Columns: []Column{colPartition, colOffset}, Filter: drawExpr(rt, 3), Reverse: rapid.Bool().Draw(rt, "reverse"),
			}
			var want []string
			for p := range int32(3) {
				var part []string
				for _, r := range all {
					if r.partition == p && r.offset >= s.start && truth(req.Filter, r) == True {
						part = append(part, fmt.Sprintf("%d,%d", r.partition, r.offset))
					}
				}
				if req.Reverse {
					slices.Reverse(part)
				}
				want = append(want, part...)
			}
			got, _ := rows(t, req)
			if !slices.Equal(got, want) {
				rt.Fatalf("%#v\n got %v\nwant %v", req.Filter, got, want)
			}
			if counts, ok, err := CountFromBounds(&req); err != nil {
				rt.Fatal(err)
			} else if ok {
				n := int64(0)
				for _, c := range counts {
					n += c.Rows
				}
				if n != int64(len(want)) {
					rt.Fatalf("%#v\ncounted %d of %d", req.Filter, n, len(want))
				}
			}
		}
	})
}
