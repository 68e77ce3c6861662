package exec

import (
	"math"
	"testing"

	"millrace/internal/vector"
)

// tallySource has texts with NULLs and numbers in blocks of four rows.
func tallySource() *memSource {
	types := []Type{tText, tInt, tInt}
	var rows [][]any
	for i, s := range []any{"de", nil, "ch", "de", "at", "at", nil, "fr", nil, nil, nil, nil, "ch", "ch", "ch", "ch"} {
		rows = append(rows, []any{s, int64(i % 3), int64(i)})
	}
	s := newMemSource(types, rows, 4, nil)
	for _, b := range s.blocks {
		b.(*memBlock).tallies = true
	}
	return s
}

func TestWhatIsAskedOfOneColumnIsAnsweredByTallies(t *testing.T) {
	text, number := Col{0, tText}, Col{1, tInt}
	is := func(s string) Expr { return Compare{EQ, text, textConst(s)} }
	for _, c := range []struct {
		name   string
		filter Expr
		by     []Expr
		aggs   []Agg
		want   string
	}{
		{"equal", is("ch"), nil, []Agg{rows}, "5"},
		{"none", is("xx"), nil, []Agg{rows, {Kind: Max, Arg: text, T: tText}}, "0,NULL"},
		{"unequal, which NULL is not", Not{is("ch")}, nil, []Agg{rows}, "5"},
		{"NULL", IsNull{text}, nil, []Agg{rows, {Kind: Count, Arg: text, T: tInt}}, "6,0"},
		{"pattern", Like{Arg: text, Pattern: []byte("%t%")}, nil, []Agg{rows, {Kind: Min, Arg: text, T: tText}}, "2,at"},
		{"groups in the order of their first rows", nil, []Expr{text}, []Agg{rows, {Kind: Count, Arg: text, T: tInt}}, "de,2,2 NULL,6,0 ch,5,5 at,2,2 fr,1,1"},
		{"groups of an expression", Not{IsNull{text}}, []Expr{Func{Fn: Substring, Args: []Expr{text, intConst(2)}, T: tText}}, []Agg{rows}, "e,2 h,5 t,2 r,1"},
		{"sums of an expression", nil, nil, []Agg{sumOf(is("ch")), {Kind: Avg, Arg: is("ch"), T: tAvg}, {Kind: Count, Arg: text, Distinct: true, T: tInt}}, "5,5000,4"},
		{"numbers", Compare{GE, number, intConst(1)}, []Expr{number}, []Agg{rows, sumOf(number)}, "1,5,5 2,5,10"},
		{"counts of another column without NULLs", is("de"), nil, []Agg{{Kind: Count, Arg: number, T: tInt}}, "2"},
	} {
		s := tallySource()
		n := s.scan()
		n.Filter = c.filter
		for _, parallel := range []int{1, 3} {
			if got := answer(t, &Aggregate{Child: n, By: c.by, Aggs: c.aggs}, Options{Parallel: parallel}); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		if s.opened.Load() > 0 || s.tallied.Load() == 0 && c.name != "none" {
			t.Errorf("%s: %d columns were opened, %d tallies read", c.name, s.opened.Load(), s.tallied.Load())
		}
	}
}

func TestWhatATallyDoesNotSayIsRead(t *testing.T) {
	text, number := Col{0, tText}, Col{1, tInt}
	for name, n := range map[string]*Aggregate{
		"an expression of another column": {By: []Expr{text}, Aggs: []Agg{sumOf(Arith{Op: Add, L: number, R: number, T: tInt})}},
		"a condition on another column":   {Child: &Filter{Cond: Compare{GE, number, intConst(1)}}, By: []Expr{text}, Aggs: []Agg{rows}},
		"different values":                {By: []Expr{text}, Aggs: []Agg{{Kind: Sum, Arg: number, Distinct: true, T: tSum}}},
		"its NULLs":                       {By: []Expr{number}, Aggs: []Agg{{Kind: Count, Arg: text, T: tInt}}},
		"the order of values":             {By: []Expr{text}, Aggs: []Agg{{Kind: AnyValue, Arg: text, T: tText}}},
		"floats":                          {By: []Expr{text}, Aggs: []Agg{{Kind: Sum, Arg: Convert{Arg: Func{Fn: Length, Args: []Expr{text}, T: tInt}, T: tFloat}, T: tFloat}}},
		"how often bits come":             {By: []Expr{text}, Aggs: []Agg{{Kind: BitXor, Arg: Func{Fn: Length, Args: []Expr{text}, T: tInt}, T: Type{Kind: vector.Uint}}}},
	} {
		s := tallySource()
		var child Node = s.scan()
		if f, ok := n.Child.(*Filter); ok {
			child = &Filter{Child: child, Cond: f.Cond}
		}
		n.Child = child
		want, _ := naiveRun(n)
		got, err := collect(n, Options{Parallel: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameRows(got, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.opened.Load() == 0 {
			t.Errorf("%s: nothing was opened", name)
		}
	}
}

func TestBlocksThatAreSeenInPartAreNotAnsweredByTallies(t *testing.T) {
	s := tallySource()
	for _, b := range s.blocks {
		b := b.(*memBlock)
		b.from, b.to = 1, 3
	}
	n := &Aggregate{Child: s.scan(), By: []Expr{Col{0, tText}}, Aggs: []Agg{rows}}
	if got := answer(t, n, Options{Parallel: 1}); got != "NULL,4 ch,3 at,1" {
		t.Error(got)
	}
}

func TestNumbersAreSummedUpByTheValuesOfATally(t *testing.T) {
	money := Type{Kind: vector.Decimal128, Scale: 2}
	types := []Type{tText, tInt, tInt, money, tText}
	var table [][]any
	for i := range 60 {
		row := []any{[]string{"de", "ch", "AT", "at", "fr"}[i*i%5], int64(i % 4), int64(math.MaxInt64 - i), from64(int64(i-30) * 101), "x"}
		for c := range 4 {
			if (i*7+c*3)%11 == 0 {
				row[c] = nil
			}
		}
		if i >= 24 && i < 36 {
			row[3] = nil // a block without
		}
		table = append(table, row)
	}
	text, few, large, amount, other := Col{0, tText}, Col{1, tInt}, Col{2, tInt}, Col{3, money}, Col{4, tText}
	all := func(c Col) []Agg {
		sum, avg := Type{Kind: vector.Decimal256, Scale: c.T.Scale}, Type{Kind: vector.Decimal256, Scale: c.T.Scale + 4}
		return []Agg{{Kind: Sum, Arg: c, T: sum}, rows, {Kind: Avg, Arg: c, T: avg}, {Kind: Count, Arg: c, T: tInt}, {Kind: Min, Arg: c, T: c.T}, {Kind: Max, Arg: c, T: c.T}}
	}
	for name, n := range map[string]*Aggregate{
		"by text":             {By: []Expr{text}, Aggs: append(all(large), all(amount)...)},
		"by a number":         {By: []Expr{few}, Aggs: append(all(large), append(all(few), rows)...)},
		"by an expression":    {By: []Expr{Like{Arg: text, Pattern: []byte("%t")}}, Aggs: all(amount)},
		"in other letters":    {By: []Expr{Func{Fn: Lower, Args: []Expr{text}, T: tText}}, Aggs: append(all(large), Agg{Kind: Max, Arg: text, T: tText})},
		"where":               {Child: &Filter{Cond: In{Arg: text, List: []Const{textConst("de"), textConst("at")}}}, Aggs: append(all(large), all(amount)...)},
		"where nothing is":    {Child: &Filter{Cond: Compare{EQ, text, textConst("zz")}}, Aggs: all(amount)},
		"where NULL is":       {Child: &Filter{Cond: IsNull{few}}, By: []Expr{few}, Aggs: all(large)},
		"beside other values": {By: []Expr{text}, Aggs: []Agg{sumOf(few), {Kind: Count, Arg: other, T: tInt}, {Kind: Count, Arg: text, Distinct: true, T: tInt}}},
	} {
		for _, parallel := range []int{1, 3} {
			s := newMemSource(types, table, 12, nil)
			for i, b := range s.blocks {
				b.(*memBlock).tallies = i != 1
			}
			var child Node = s.scan()
			if f, ok := n.Child.(*Filter); ok {
				child = &Filter{Child: child, Cond: f.Cond}
			}
			plan := &Aggregate{Child: child, By: n.By, Aggs: n.Aggs}
			want, err := naiveRun(plan)
			if err != nil {
				t.Fatal(err)
			}
			var did Explain
			got, err := collect(plan, Options{Parallel: parallel, Explain: &did})
			if err != nil {
				t.Fatal(name, err)
			}
			if err := sameRows(got, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			st := did.Operators[len(did.Operators)-1]
			if rest := st.Blocks - st.Pruned - st.Answered; rest > 1 || st.RowsScanned > 12*rest {
				t.Errorf("%s: of %d blocks %d were pruned and %d answered, %d rows scanned", name, st.Blocks, st.Pruned, st.Answered, st.RowsScanned)
			}
		}
	}
}
