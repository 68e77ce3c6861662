package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/internal/vector"
)

func TestASortWithALimitOpensOnlyBlocksThatMayHoldItsRows(t *testing.T) {
	types := []Type{tInt, {Kind: vector.Float}, tText}
	var rows [][]any
	const blocks, size = 20, 500
	for b := range blocks {
		for i := range size {
			x := (b*7)%blocks*1000 + i
			rows = append(rows, []any{int64(x), float64(x) / 4, fmt.Sprintf("%08d", x)})
		}
	}
	for col := range types {
		for _, desc := range []bool{false, true} {
			s := newMemSource(types, rows, size, nil)
			sort := &Sort{Child: s.scan(), Keys: []SortKey{{Expr: Col{col, types[col]}, Desc: desc}}, Limit: 5}
			want, _ := naiveRun(sort)
			got, err := collect(sort, Options{Parallel: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := sameRows(got, want); err != nil {
				t.Error(err)
			}
			if n := s.opened.Load(); n > 3*int64(len(types)) {
				t.Errorf("column %d, descending %v: %d columns were opened", col, desc, n)
			}
		}
	}
}

func TestTheBoundOfASortKeepsTiesAndNulls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		types := []Type{tInt, {Kind: vector.Float}, tText, tInt}
		rows := make([][]any, 900)
		for i := range rows {
			x := rnd.IntN(6)
			rows[i] = []any{int64(x), float64(x), fmt.Sprint(x), int64(i)}
			if rnd.IntN(4) == 0 || round%3 == 0 && i > 300 {
				rows[i][0], rows[i][1], rows[i][2] = nil, nil, nil
			}
		}
		for col := range 3 {
			s := newMemSource(types, rows, 100, rnd)
			n := s.scan()
			if round%2 == 0 {
				n.Filter = Compare{NE, Col{3, tInt}, intConst(7)}
			}
			sort := &Sort{Child: n, Limit: int64(1 + rnd.IntN(300)), Keys: []SortKey{
				{Expr: Col{col, types[col]}, Desc: round%4 < 2},
				{Expr: Col{3, tInt}, Desc: round%8 < 4},
			}}
			want, _ := naiveRun(sort)
			for _, parallel := range []int{1, 3} {
				got, err := collect(sort, Options{Parallel: parallel})
				if err != nil {
					t.Fatal(err)
				}
				if err := sameRows(got, want); err != nil {
					t.Fatalf("round %d column %d on %d goroutines: %v", round, col, parallel, err)
				}
			}
		}
	}
}

func TestASortWithALimitReadsOtherColumnsOnlyForTheRowsThatItKeeps(t *testing.T) {
	types := []Type{tInt, tText, tInt}
	var table [][]any
	rnd := rand.New(rand.NewPCG(7, 8))
	for i := range 9000 {
		table = append(table, []any{rnd.Int64N(1000), fmt.Sprint("text ", i), int64(i)})
	}
	s := newMemSource(types, table, 450, nil)
	for _, b := range s.blocks {
		b.(*memBlock).noStats = true
	}
	n := s.scan()
	n.Filter = Compare{GE, Col{0, tInt}, intConst(10)}
	columns := []Expr{Col{2, tInt}, Col{1, tText}, Func{Fn: Concat, Args: []Expr{Col{1, tText}, textConst("!")}, T: tText}, Col{0, tInt}}
	sort := &Sort{Child: &Project{Child: n, Exprs: columns}, Keys: []SortKey{{Expr: Col{3, tInt}}, {Expr: Col{0, tInt}, Desc: true}}, Offset: 1, Limit: 3}
	want, _ := naiveRun(sort)
	for _, parallel := range []int{1, 4} {
		s.opened.Store(0)
		got, err := collect(sort, Options{Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameRows(got, want); err != nil {
			t.Error(err)
		}
		// Two keys of all blocks, and three columns of those of three rows.
		if n := s.opened.Load(); n > 2*int64(len(s.blocks))+9 {
			t.Errorf("%d columns were opened", n)
		}
	}
}
