package exec

import (
	"errors"
	"slices"
	"testing"

	"millrace/scan"
)

func TestJoinsBeyondTheBudgetAreComputedPartByPart(t *testing.T) {
	var left, right [][]any
	for i := range 30_000 {
		key := any(int64(i%20_000) * 1_000_003)
		if i%97 == 0 {
			key = nil
		}
		left = append(left, []any{key, int64(i)})
		if i%3 != 0 {
			right = append(right, []any{key, int64(-i)})
		}
	}
	l, r := bigints(5000, left...), bigints(5000, right...)
	for name, keys := range map[string][]Expr{
		"integers": {intCol(0)},
		"texts":    {Convert{Arg: intCol(0), T: tText}},
		"two keys": {intCol(0), Convert{Arg: intCol(0), T: tText}},
	} {
		for kind := Inner; kind <= Anti; kind++ {
			n := &Join{Kind: kind, Left: l.scan(), Right: r.scan(), LeftKeys: keys, RightKeys: keys}
			counted := &Aggregate{Child: n, Aggs: []Agg{{Kind: CountRows, T: tInt}, {Kind: Max, Arg: intCol(1), T: tInt}}}
			for what, n := range map[string]Node{"rows": n, "counted": counted} {
				want, err := collect(n, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, parallel := range []int{1, 3} {
					const budget = 1_000_000
					b := &testBudget{left: budget}
					got, err := collect(n, Options{Parallel: parallel, Budget: b})
					if err != nil || b.left != budget {
						t.Errorf("%s of a join of kind %d by %s: %v, %d bytes not given back", what, kind, name, err, budget-b.left)
						continue
					}
					if !slices.Equal(bag(got), bag(want)) {
						t.Errorf("%s of a join of kind %d by %s: another answer of %d rows, want %d", what, kind, name, len(got), len(want))
					}
				}
			}
		}
	}
	for name, n := range map[string]*Join{
		"no keys": {Kind: Inner, Left: l.scan(), Right: r.scan()},
		"NOT IN":  {Kind: AntiNull, Left: l.scan(), Right: r.scan(), LeftKeys: []Expr{intCol(0)}, RightKeys: []Expr{intCol(0)}},
		"nothing": {Kind: Inner, Left: l.scan(), Right: r.scan(), LeftKeys: []Expr{intCol(0)}, RightKeys: []Expr{intCol(0)}},
	} {
		budget := int64(400_000)
		if name == "nothing" {
			budget = 1000
		}
		b := &testBudget{left: budget}
		if _, err := collect(n, Options{Budget: b}); !errors.Is(err, scan.ErrMemory) || b.left != budget {
			t.Errorf("%s: %v, %d bytes not given back", name, err, budget-b.left)
		}
	}
}
