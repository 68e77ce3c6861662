package exec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRunsOfKeysAnswerAsRowsDo holds runs of windows against the plain interpreter: sorted, nearly sorted and shuffled times, negative
// ones, with NULLs, filtered, and at the ends of BIGINT.
func TestRunsOfKeysAnswerAsRowsDo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	at := Expr(Col{0, tInt})
	keys := map[string]Expr{
		"DIV":            Arith{Op: IntDiv, L: at, R: intConst(1000), T: tInt},
		"FloorTo":        Func{Fn: FloorTo, Args: []Expr{at, intConst(1000), intConst(7)}, T: tInt},
		"FloorTo, least": Func{Fn: FloorTo, Args: []Expr{at, intConst(1000), intConst(0), intConst(5500)}, T: tInt},
		"of a window":    Convert{Arg: Func{Fn: FloorTo, Args: []Expr{at, intConst(1000), intConst(0)}, T: tInt}, T: tText},
		"twice":          Arith{Op: Add, L: Arith{Op: IntDiv, L: at, R: intConst(500), T: tInt}, R: Arith{Op: IntDiv, L: at, R: intConst(500), T: tInt}, T: tInt},
		"and the time":   Arith{Op: Add, L: Arith{Op: IntDiv, L: at, R: intConst(500), T: tInt}, R: at, T: tInt},
	}
	aggs := []Agg{
		rows, sumOf(Col{1, tInt}),
		{Kind: Count, Arg: Col{1, tInt}, T: tInt},
		{Kind: Max, Arg: Col{1, tInt}, T: tInt},
		{Kind: AnyValue, Arg: Col{1, tInt}, T: tInt},
		{Kind: Avg, Arg: Col{1, tInt}, T: tAvg},
		{Kind: Count, Arg: Col{1, tInt}, Distinct: true, T: tInt},
	}
	for name, times := range map[string]func(i int) any{
		"sorted":   func(i int) any { return int64(3*i - 2000) },
		"nearly":   func(i int) any { return int64(3*i) + rnd.Int64N(40) },
		"shuffled": func(int) any { return rnd.Int64N(4000) },
		"NULLs": func(i int) any {
			if i%100 == 3 {
				return nil
			}
			return int64(3 * i)
		},
		"one":      func(int) any { return int64(12345) },
		"greatest": func(i int) any { return math.MaxInt64 - int64(3000-i) },
		"least":    func(i int) any { return math.MinInt64 + int64(i)*10 },
	} {
		table := make([][]any, 3000)
		for i := range table {
			table[i] = []any{times(i), rnd.Int64N(100)}
			if i%50 == 0 {
				table[i][1] = nil
			}
		}
		for key, by := range keys {
			for _, filtered := range []bool{false, true} {
				n := newMemSource([]Type{tInt, tInt}, table, 1100, rnd).scan()
				if filtered {
					n.Filter = Compare{LT, Col{1, tInt}, intConst(70)}
				}
				plan := &Aggregate{Child: n, By: []Expr{by}, Aggs: aggs}
				want, fails := naiveRun(plan)
				for _, parallel := range []int{1, 2} {
					got, err := collect(plan, Options{Parallel: parallel})
					if (err != nil) != (fails != nil) {
						t.Fatalf("%s, %s: %v, want %v", name, key, err, fails)
					}
					if err == nil {
						err = sameRows(got, want)
					}
					if fails == nil && err != nil {
						t.Errorf("%s, %s, filtered %v: %v", name, key, filtered, err)
					}
				}
			}
		}
	}
}
