package exec

import (
	"math"
	"reflect"
	"testing"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
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
		{"the first row's", nil, []Expr{Like{Arg: text, Pattern: []byte("%t%")}}, []Agg{rows, {Kind: AnyValue, Arg: text, T: tText}}, "0,8,de NULL,6,NULL 1,2,at"},
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
		"the order of values":             {By: []Expr{text}, Aggs: []Agg{{Kind: GroupConcat, Arg: text, T: tText, MaxLen: 100}}},
		"the first row's":                 {By: []Expr{text}, Aggs: []Agg{{Kind: AnyValue, Arg: number, T: tInt}}},
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
		row := []any{[]string{"de", "ch", "AT", "at", "fr"}[i*i%5], int64(i % 4), int64(math.MaxInt64 - i), wideint.From64(int64(i-30) * 101), "x"}
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

func TestJoinsOfAColumnWithATallyLookAtItsValues(t *testing.T) {
	var table [][]any
	for i := range 60 {
		row := []any{[]string{"a", "b", "c", "d"}[i*i%7%4], int64(i * i), int64(i % 3)}
		if i%5 == 0 {
			row[0] = nil
		}
		if i%7 == 0 {
			row[1] = nil
		}
		table = append(table, row)
	}
	types := []Type{tText, tInt, tInt}
	// The small side: keys, of which b comes twice, groups and numbers.
	few := [][]any{{"a", "mail", int64(1)}, {"b", "tv", int64(2)}, {"c", "mail", int64(3)}, {"b", "mail", int64(4)}, {"x", "none", int64(5)}, {nil, "null", int64(6)}}
	once := [][]any{few[0], few[1], few[2], few[4]}
	key, number := Col{0, tText}, Col{1, tInt}
	group, weight := Col{4, tText}, Col{5, tInt}
	aggs := []Agg{rows, sumOf(number), {Kind: Avg, Arg: number, T: tAvg}, {Kind: Count, Arg: number, T: tInt}, {Kind: Max, Arg: number, T: tInt}}
	for _, c := range []struct {
		name  string
		join  Join
		above func(n Node) Node
		by    []Expr
		aggs  []Agg
		few   [][]any
		rows  bool // are looked at
	}{
		{name: "by the small side", join: Join{Kind: Inner}, by: []Expr{group}, aggs: aggs, few: few},
		{name: "by the key", join: Join{Kind: Inner}, by: []Expr{key}, aggs: aggs, few: few},
		{name: "by both", join: Join{Kind: Inner}, by: []Expr{group, key}, aggs: aggs, few: few},
		{name: "not at all", join: Join{Kind: Inner}, aggs: aggs, few: few},
		{name: "numbers of the small side", join: Join{Kind: Inner}, by: []Expr{group}, aggs: append([]Agg{sumOf(weight), {Kind: Min, Arg: weight, T: tInt}}, aggs...), few: few},
		{name: "with another condition", join: Join{Kind: Inner, Residual: Compare{GE, weight, intConst(3)}}, by: []Expr{group}, aggs: aggs, few: few},
		{name: "with a filter", join: Join{Kind: Inner}, above: func(n Node) Node { return &Filter{Child: n, Cond: Compare{NE, group, textConst("tv")}} }, by: []Expr{group}, aggs: aggs, few: few},
		{name: "with a projection", join: Join{Kind: Inner}, above: func(n Node) Node {
			return &Project{Child: n, Exprs: []Expr{Func{Fn: Upper, Args: []Expr{group}, T: tText}, number}}
		}, by: []Expr{Col{0, tText}}, aggs: []Agg{rows, sumOf(number)}, few: few},
		{name: "left", join: Join{Kind: LeftOuter}, by: []Expr{group}, aggs: aggs, few: once},
		{name: "left, of several", join: Join{Kind: LeftOuter}, by: []Expr{group}, aggs: aggs, few: few, rows: true},
		{name: "who has a match", join: Join{Kind: Semi}, by: []Expr{key}, aggs: aggs, few: few},
		{name: "who has none", join: Join{Kind: Anti}, by: []Expr{key}, aggs: aggs, few: few},
		{name: "whether there is one", join: Join{Kind: MarkNull}, by: []Expr{Col{3, tInt}}, aggs: aggs, few: few},
		{name: "by numbers", join: Join{Kind: Inner}, by: []Expr{Col{2, tInt}}, aggs: aggs, few: few, rows: true},
		{name: "numbers compared", join: Join{Kind: Inner, Residual: Compare{GE, number, weight}}, by: []Expr{group}, aggs: aggs, few: few, rows: true},
	} {
		for _, parallel := range []int{1, 3} {
			s, small := newMemSource(types, table, 12, nil), newMemSource([]Type{tText, tText, tInt}, c.few, 100, nil)
			join := c.join
			join.Left, join.Right, join.LeftKeys, join.RightKeys = s.scan(), small.scan(), []Expr{key}, []Expr{Col{0, tText}}
			var child Node = &join
			if c.above != nil {
				child = c.above(child)
			}
			plan := &Aggregate{Child: child, By: c.by, Aggs: c.aggs}
			tallies := func(on bool) {
				for i, b := range s.blocks {
					b.(*memBlock).tallies = on && i != 2
				}
			}
			tallies(false)
			want, err := collect(plan, Options{Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
			tallies(true)
			var did Explain
			got, err := collect(plan, Options{Parallel: parallel, Explain: &did})
			if err != nil {
				t.Fatal(c.name, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
			st := did.Operators[len(did.Operators)-2]
			if read := st.Answered < st.Blocks-st.Pruned-1; read != c.rows {
				t.Errorf("%s: of %d blocks %d were pruned and %d answered", c.name, st.Blocks, st.Pruned, st.Answered)
			}
		}
	}
}
