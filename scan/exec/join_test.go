package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/internal/vector"

	"pgregory.net/rapid"
)

// narrow keeps a table small and its values alike, so that joins find something.
func smallTable(t *rapid.T) (*memSource, Node) {
	s := genTable(t)
	if len(s.rows) > 60 {
		s.rows = s.rows[:60]
		s = newMemSource(testTypes, s.rows, 17, nil)
	}
	n := s.scan()
	if genInt(t, 2) == 0 {
		n.Filter = genCond(t, 1)
	}
	return s, n
}

func naiveJoin(t *rapid.T, n *Join) ([][]any, error) {
	left, err := naiveRun(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := naiveRun(n.Right)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, l := range left {
		matches, unknown := 0, false
		for _, r := range right {
			all := true
			for i := range n.LeftKeys {
				a, err := naive(n.LeftKeys[i], l.vals)
				if err != nil {
					return nil, err
				}
				b, err := naive(n.RightKeys[i], r.vals)
				if err != nil {
					return nil, err
				}
				if a == nil || b == nil {
					unknown, all = true, false
				} else if naiveKey(a) != naiveKey(b) {
					all = false
				}
			}
			pair := append(slices.Clone(l.vals), r.vals...)
			if all && n.Residual != nil {
				v, err := naive(n.Residual, pair)
				if err != nil {
					return nil, err
				}
				all = v != nil && v != int64(0)
			}
			if all {
				if matches++; n.Kind == Inner || n.Kind == LeftOuter {
					out = append(out, pair)
				}
			}
		}
		switch {
		case n.Kind == Semi && matches > 0, n.Kind == Anti && matches == 0, n.Kind == AntiNull && matches == 0 && !unknown:
			out = append(out, l.vals)
		case n.Kind == LeftOuter && matches == 0:
			out = append(out, append(slices.Clone(l.vals), make([]any, len(n.Right.Schema()))...))
		}
	}
	return out, nil
}

// bag is rows without their order.
func bag(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		for _, v := range r {
			fmt.Fprintf(&b, "%v|", naiveKey(v))
		}
		out[i] = b.String()
	}
	slices.Sort(out)
	return out
}

func TestJoinsFindWhatComparingAllPairsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, left := smallTable(t)
		_, right := smallTable(t)
		j := &Join{Kind: JoinKind(1 + genInt(t, 4)), Left: left, Right: right}
		keys := genInt(t, 2)
		if j.Kind == AntiNull {
			keys = 1
		}
		for range keys {
			typ := pick(t, testTypes...)
			j.LeftKeys = append(j.LeftKeys, genExpr(t, typ, 0))
			j.RightKeys = append(j.RightKeys, genExpr(t, typ, 0))
		}
		if j.Kind != AntiNull && genInt(t, 2) == 0 {
			// Over both sides: a left integer and a right one.
			l, r := slices.Index(testTypes, Type{Kind: vector.Int}), slices.Index(testTypes, Type{Kind: vector.Int})
			j.Residual = Compare{Op: pick(t, LT, NE, GE), L: Col{l, testTypes[l]}, R: Col{len(testTypes) + r, testTypes[r]}}
		}
		if err := Check(j); err != nil {
			t.Fatal(err)
		}
		want, err := naiveJoin(t, j)
		if err != nil {
			return
		}
		got, err := collect(j, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bag(got), bag(want)) {
			t.Fatalf("kind %d, %d keys, residual %v: %d rows, want %d\ngot  %.300q\nwant %.300q", j.Kind, keys, j.Residual, len(got), len(want), bag(got), bag(want))
		}
	})
}

func TestUnionsYieldOneChildAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, left := smallTable(t)
		_ = a
		_, right := smallTable(t)
		u := &Union{Children: []Node{left, right, left}}
		var want [][]any
		for _, c := range u.Children {
			rows, err := collect(c, Options{Parallel: 1})
			if err != nil {
				return
			}
			want = append(want, rows...)
		}
		got, err := collect(u, Options{Parallel: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || !slices.Equal(bag(got), bag(want)) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
	})
}

func TestGroupsOfJoinsAreThoseOfTheirRowsOnAnyNumberOfGoroutines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, left := smallTable(t)
		_, right := smallTable(t)
		j := &Join{Kind: JoinKind(1 + genInt(t, 1)), Left: left, Right: right}
		typ := pick(t, testTypes...)
		j.LeftKeys, j.RightKeys = []Expr{genExpr(t, typ, 0)}, []Expr{genExpr(t, typ, 0)}
		by := genInt(t, 2*len(testTypes)-1)
		key := Col{by, testTypes[by%len(testTypes)]}
		arg := Col{len(testTypes) + genInt(t, len(testTypes)-1), Type{}}
		arg.T = testTypes[arg.Index-len(testTypes)]
		var child Node = j
		if genInt(t, 1) == 0 {
			child = &Filter{Child: child, Cond: Not{IsNull{arg}}}
		}
		rows, err := collect(child, Options{Parallel: 1})
		if err != nil {
			return
		}
		type group struct{ rows, vals int64 }
		want := map[string]group{}
		for _, r := range rows {
			g := want[naiveKey(r[by])]
			g.rows++
			if r[arg.Index] != nil {
				g.vals++
			}
			want[naiveKey(r[by])] = g
		}
		a := &Aggregate{Child: child, By: []Expr{key}, Aggs: []Agg{{Kind: CountRows, T: Type{Kind: vector.Int}}, {Kind: Count, Arg: arg, T: Type{Kind: vector.Int}}}}
		for _, parallel := range []int{1, 4} {
			got, err := collect(a, Options{Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("%d groups, want %d", len(got), len(want))
			}
			for _, g := range got {
				if w := want[naiveKey(g[0])]; g[1] != w.rows || g[2] != w.vals {
					t.Fatalf("group %v: %v and %v, want %d and %d", g[0], g[1], g[2], w.rows, w.vals)
				}
			}
		}
	})
}

// endsAfter is a context that ends when it was asked so often whether it has.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestComparingNULLsWithEveryRowEndsWithTheStatement(t *testing.T) {
	var left, right [][]any
	for i := range 1000 {
		left = append(left, []any{nil, int64(i)})
		right = append(right, []any{int64(i), int64(-1 - i)})
	}
	l, r := bigints(1000, left...), bigints(1000, right...)
	for _, kind := range []JoinKind{AntiNull, MarkNull} {
		n := &Join{Kind: kind, Left: l.scan(), Right: r.scan(), LeftKeys: []Expr{intCol(0), intCol(1)}, RightKeys: []Expr{intCol(0), intCol(1)}}
		it, err := Run(t.Context(), n, Options{Parallel: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := it.Next(&endsAfter{t.Context(), 20}); !errors.Is(err, context.Canceled) {
			t.Errorf("kind %d: %v", kind, err)
		}
		it.Close()
	}
}
