package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/wideint"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bigints is a table of BIGINT columns.
func bigints(blockRows int, rows ...[]any) *memSource {
	types := make([]Type, len(rows[0]))
	for i := range types {
		types[i] = tInt
	}
	return newMemSource(types, rows, blockRows, nil)
}

func intCol(i int) Col { return Col{i, tInt} }

func answer(t *testing.T, n Node, opts Options) string {
	t.Helper()
	if err := Check(n); err != nil {
		t.Fatal(err)
	}
	rows, err := collect(n, opts)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, r := range rows {
		var cells []string
		for _, v := range r {
			switch v := v.(type) {
			case nil:
				cells = append(cells, "NULL")
			case wideint.Int256:
				cells = append(cells, v.Big().String())
			default:
				cells = append(cells, fmt.Sprint(v))
			}
		}
		out = append(out, strings.Join(cells, ","))
	}
	return strings.Join(out, " ")
}

func TestTruthHasThreeValuesInFiltersAndInResults(t *testing.T) {
	// Every pair of false, true and NULL.
	var rows [][]any
	for _, a := range []any{int64(0), int64(1), nil} {
		for _, b := range []any{int64(0), int64(1), nil} {
			rows = append(rows, []any{a, b})
		}
	}
	a, b := Expr(intCol(0)), Expr(intCol(1))
	null := Const{T: tInt, Null: true}
	for _, c := range []struct {
		name  string
		e     Expr
		value string // per row
		rows  string // that a filter keeps
	}{
		{"AND", And{[]Expr{a, b}}, "0 0 0 0 1 NULL 0 NULL NULL", "4"},
		{"OR", Or{[]Expr{a, b}}, "0 1 NULL 1 1 1 NULL 1 NULL", "1 3 4 5 7"},
		{"NOT", Not{a}, "1 1 1 0 0 0 NULL NULL NULL", "0 1 2"},
		{"NOT AND", Not{And{[]Expr{a, b}}}, "1 1 1 1 0 NULL 1 NULL NULL", "0 1 2 3 6"},
		{"NOT OR", Not{Or{[]Expr{a, b}}}, "1 0 NULL 0 0 0 NULL 0 NULL", "0"},
		{"equal", Compare{EQ, a, b}, "1 0 NULL 0 1 NULL NULL NULL NULL", "0 4"},
		{"unequal", Compare{NE, a, b}, "0 1 NULL 1 0 NULL NULL NULL NULL", "1 3"},
		{"null-safe equal", Compare{NullSafeEQ, a, b}, "1 0 0 0 1 0 0 0 1", "0 4 8"},
		{"less than a constant", Compare{LT, a, intConst(1)}, "1 1 1 0 0 0 NULL NULL NULL", "0 1 2"},
		{"not less than a constant", Not{Compare{LT, a, intConst(1)}}, "0 0 0 1 1 1 NULL NULL NULL", "3 4 5"},
		{"less than NULL", Compare{LT, a, null}, "NULL NULL NULL NULL NULL NULL NULL NULL NULL", ""},
		{"IS NULL", IsNull{b}, "0 0 1 0 0 1 0 0 1", "2 5 8"},
		{"IS NOT NULL", Not{IsNull{b}}, "1 1 0 1 1 0 1 1 0", "0 1 3 4 6 7"},
		{"IN", In{Arg: a, List: []Const{intConst(1)}}, "0 0 0 1 1 1 NULL NULL NULL", "3 4 5"},
		{"IN with NULL", In{Arg: a, List: []Const{intConst(1)}, Null: true}, "NULL NULL NULL 1 1 1 NULL NULL NULL", "3 4 5"},
		{"NOT IN with NULL", Not{In{Arg: a, List: []Const{intConst(1)}, Null: true}}, "NULL NULL NULL 0 0 0 NULL NULL NULL", ""},
		{"IS NULL or greater", Or{[]Expr{IsNull{a}, Compare{GT, a, intConst(0)}}}, "0 0 0 1 1 1 1 1 1", "3 4 5 6 7 8"},
		{"BETWEEN 0 AND NULL", And{[]Expr{Compare{GE, a, intConst(0)}, Compare{LE, a, null}}}, "NULL NULL NULL NULL NULL NULL NULL NULL NULL", ""},
		{"CASE", Case{When: []When{{a, b}}, Else: intConst(7), T: tInt}, "7 7 7 0 1 NULL 7 7 7", "0 1 2 4 6 7 8"},
	} {
		for _, blockRows := range []int{9, 2} {
			s := bigints(blockRows, rows...)
			if got := answer(t, &Project{Child: s.scan(), Exprs: []Expr{c.e}}, Options{}); got != c.value {
				t.Errorf("%s: %s, want %s", c.name, got, c.value)
			}
			numbered := make([][]any, len(rows))
			for i, r := range rows {
				numbered[i] = append(append([]any(nil), r...), int64(i))
			}
			s = bigints(blockRows, numbered...)
			n := s.scan()
			n.Filter = c.e
			if got := answer(t, &Project{Child: n, Exprs: []Expr{intCol(2)}}, Options{}); got != c.rows {
				t.Errorf("%s as a filter: rows %s, want %s", c.name, got, c.rows)
			}
		}
	}
}

func TestArithmeticOutsideItsTypeIsARangeErrorOnlyForRowsThatCount(t *testing.T) {
	s := bigints(100, []any{int64(math.MaxInt64), int64(1)}, []any{int64(2), int64(3)}, []any{nil, int64(math.MaxInt64)})
	for _, c := range []struct {
		op   ArithOp
		want string
	}{
		{Add, "BIGINT value is out of range in 'a'"},
		{Mul, "9223372036854775807 6 NULL"},
		{Sub, "9223372036854775806 -1 NULL"},
	} {
		e := Arith{Op: c.op, L: intCol(0), R: intCol(1), T: tInt, Text: "a"}
		if got := answer(t, &Project{Child: s.scan(), Exprs: []Expr{e}}, Options{}); got != c.want {
			t.Errorf("operator %d: %s, want %s", c.op, got, c.want)
		}
	}
	sum := Arith{Op: Add, L: intCol(0), R: intCol(1), T: tInt, Text: "a"}
	n := s.scan()
	n.Filter = And{[]Expr{Compare{GT, sum, intConst(0)}, Compare{LT, intCol(0), intConst(100)}}}
	if got := answer(t, n, Options{}); got != "2,3" {
		t.Errorf("a filter that cannot fail did not go first: %s", got)
	}
	_, err := collect(&Project{Child: s.scan(), Exprs: []Expr{sum}}, Options{})
	var re *RangeError
	if !errors.As(err, &re) || re.Type != "BIGINT" || re.Text != "a" {
		t.Errorf("%#v", err)
	}
}

func TestWindowsAreExactAtBothEndsOfBigint(t *testing.T) {
	floor := func(step, origin int64) Expr {
		return Func{Fn: FloorTo, Args: []Expr{intCol(0), intConst(step), intConst(origin)}, T: tInt}
	}
	s := bigints(100, []any{int64(math.MaxInt64)}, []any{int64(math.MaxInt64 - 1)}, []any{int64(math.MinInt64 + 6)}, []any{int64(-1)}, []any{int64(6)})
	want, err := naiveRun(&Project{Child: s.scan(), Exprs: []Expr{floor(7, 3)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(&Project{Child: s.scan(), Exprs: []Expr{floor(7, 3)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameRows(got, want); err != nil {
		t.Error(err)
	}
	s = bigints(100, []any{int64(math.MaxInt64)}, []any{int64(math.MinInt64)})
	for _, step := range []int64{3, 7, 60_000, math.MaxInt64} {
		n := &Project{Child: s.scan(), Exprs: []Expr{floor(step, 1)}}
		_, fails := naiveRun(n)
		if _, err := collect(n, Options{}); (err != nil) != (fails != nil) {
			t.Errorf("step %d: %v, want %v", step, err, fails)
		}
	}
}

func TestSumsAndAveragesAreExactBeyond64Bits(t *testing.T) {
	s := bigints(2, []any{int64(9007199254740993)}, []any{int64(9007199254740992)})
	aggs := []Agg{sumOf(intCol(0)), {Kind: Avg, Arg: intCol(0), T: tAvg}}
	if got := answer(t, &Aggregate{Child: s.scan(), Aggs: aggs}, Options{}); got != "18014398509481985,90071992547409925000" {
		t.Error(got)
	}
	s = bigints(1, []any{int64(math.MaxInt64)}, []any{int64(math.MaxInt64)})
	if got := answer(t, &Aggregate{Child: s.scan(), Aggs: aggs[:1]}, Options{Parallel: 2}); got != "18446744073709551614" {
		t.Error(got)
	}
	// AVG rounds half away from zero: −1/2 with no digits is −1.
	s = bigints(9, []any{int64(-1)}, []any{int64(0)})
	if got := answer(t, &Aggregate{Child: s.scan(), Aggs: []Agg{{Kind: Avg, Arg: intCol(0), T: tSum}}}, Options{}); got != "-1" {
		t.Error(got)
	}
}

func TestAggregatesOfNoRowsHaveOneGroupOnlyWithoutKeys(t *testing.T) {
	s := bigints(9, []any{int64(1)})
	n := s.scan()
	n.Filter = Compare{GT, intCol(0), intConst(5)}
	aggs := []Agg{
		{Kind: CountRows, T: tInt},
		{Kind: Count, Arg: intCol(0), T: tInt},
		sumOf(intCol(0)),
		{Kind: Max, Arg: intCol(0), T: tInt},
		{Kind: BitAnd, Arg: intCol(0), T: Type{Kind: vector.Uint}},
		{Kind: AnyValue, Arg: intCol(0), T: tInt},
	}
	if got := answer(t, &Aggregate{Child: n, Aggs: aggs}, Options{}); got != "0,0,NULL,NULL,18446744073709551615,NULL" {
		t.Error(got)
	}
	if got := answer(t, &Aggregate{Child: n, By: []Expr{intCol(0)}, Aggs: aggs}, Options{}); got != "" {
		t.Error(got)
	}
}

func TestExactStatisticsAnswerAggregatesWithoutOpeningAColumn(t *testing.T) {
	s := bigints(2, []any{int64(5), nil}, []any{int64(7), int64(1)}, []any{int64(-3), nil}, []any{int64(9), nil}, []any{int64(4), int64(2)})
	n := s.scan()
	aggs := []Agg{
		{Kind: CountRows, T: tInt},
		{Kind: Count, Arg: intCol(1), T: tInt},
		sumOf(intCol(0)),
		{Kind: Avg, Arg: intCol(0), T: tAvg},
		{Kind: Min, Arg: intCol(0), T: tInt},
		{Kind: Max, Arg: intCol(1), T: tInt},
	}
	want := "5,2,22,44000,-3,2"
	if got := answer(t, &Aggregate{Child: n, Aggs: aggs}, Options{}); got != want || s.opened.Load() != 0 {
		t.Errorf("%s with %d columns opened", got, s.opened.Load())
	}
	// A filter that every row of a block passes does not keep the block from being answered so.
	n.Filter = Compare{GE, intCol(0), intConst(5)}
	if got := answer(t, &Aggregate{Child: n, Aggs: aggs}, Options{}); got != "3,1,21,70000,5,1" || s.opened.Load() != 2 {
		t.Errorf("%s with %d columns opened", got, s.opened.Load())
	}
	// Nor are blocks opened in which no row can pass.
	s.opened.Store(0)
	n.Filter = Compare{GT, intCol(0), intConst(9)}
	if got := answer(t, n, Options{}); got != "" || s.opened.Load() != 0 {
		t.Errorf("%s with %d columns opened", got, s.opened.Load())
	}
}

func TestColumnsBesideTheFilterAreOpenedOnlyOnceARowPassed(t *testing.T) {
	s := bigints(2, []any{int64(1), int64(10)}, []any{int64(5), int64(11)}, []any{int64(1), int64(12)}, []any{int64(5), int64(13)})
	n := s.scan()
	n.Filter = And{[]Expr{
		Compare{EQ, Arith{Op: Mod, L: intCol(0), R: intConst(2), T: tInt}, intConst(0)},
	}}
	if got := answer(t, n, Options{}); got != "" || s.opened.Load() != 2 {
		t.Errorf("%s with %d columns opened", got, s.opened.Load())
	}
}

func TestReverseReadsEachPartitionFromItsEndAndALimitStopsReading(t *testing.T) {
	var rows [][]any
	for i := range 8 {
		rows = append(rows, []any{int64(i)})
	}
	s := bigints(2, rows...) // two blocks a partition
	n := s.scan()
	n.Reverse = true
	if got := answer(t, n, Options{}); got != "3 2 1 0 7 6 5 4" {
		t.Error(got)
	}
	s.opened.Store(0)
	if got := answer(t, &Limit{Child: n, Offset: 1, Count: 1}, Options{}); got != "2" || s.opened.Load() != 1 {
		t.Errorf("%s with %d columns opened", got, s.opened.Load())
	}
}

func TestGroupsComeInTheOrderOfTheirFirstRows(t *testing.T) {
	var rows [][]any
	for i := range 50_000 {
		rows = append(rows, []any{int64((i * 7919 % 30_011) * 1_000_003)})
	}
	s := bigints(4096, rows...)
	n := &Aggregate{Child: s.scan(), By: []Expr{intCol(0)}, Aggs: []Agg{{Kind: CountRows, T: tInt}}}
	want, err := naiveRun(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, parallel := range []int{1, 3} {
		got, err := collect(n, Options{Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameRows(got, want); err != nil {
			t.Errorf("%d goroutines: %v", parallel, err)
		}
	}
}

// testBudget counts.
type testBudget struct{ left int64 }

func (b *testBudget) Grow(n int64) bool {
	for {
		left := atomic.LoadInt64(&b.left)
		if left < n {
			return false
		}
		if atomic.CompareAndSwapInt64(&b.left, left, left-n) {
			return true
		}
	}
}

func (b *testBudget) Shrink(n int64) { atomic.AddInt64(&b.left, n) }

func TestWhatIsKeptIsCountedAndGivenBack(t *testing.T) {
	var rows [][]any
	for i := range 60_000 {
		rows = append(rows, []any{int64(i) * 1_000_003, int64(i % 7)})
	}
	s := bigints(5000, rows...)
	for name, n := range map[string]Node{
		"values": &Aggregate{Child: s.scan(), By: []Expr{intCol(1)}, Aggs: []Agg{{Kind: Count, Distinct: true, Arg: intCol(0), T: tInt}}},
		"rows":   &Sort{Child: s.scan(), Keys: []SortKey{{Expr: intCol(0), Desc: true}}, Limit: -1},
	} {
		for _, parallel := range []int{1, 4} {
			b := &testBudget{left: 400_000}
			if _, err := collect(n, Options{Parallel: parallel, Budget: b}); !errors.Is(err, scan.ErrMemory) {
				t.Errorf("%s on %d goroutines: %v", name, parallel, err)
			}
			if b.left != 400_000 {
				t.Errorf("%s on %d goroutines: %d bytes were not given back", name, parallel, 400_000-b.left)
			}
			b = &testBudget{left: 1 << 30}
			if _, err := collect(n, Options{Parallel: parallel, Budget: b}); err != nil || b.left != 1<<30 {
				t.Errorf("%s on %d goroutines: %v, %d bytes not given back", name, parallel, err, 1<<30-b.left)
			}
		}
	}
}

func TestGroupsBeyondTheBudgetAreComputedInPasses(t *testing.T) {
	var rows [][]any
	for i := range 60_000 {
		rows = append(rows, []any{int64(i%20_000) * 1_000_003, int64(i % 7)})
	}
	s := bigints(5000, rows...)
	for name, by := range map[string][]Expr{
		"integers": {intCol(0)},
		"texts":    {Convert{Arg: intCol(0), T: tText}},
		"two keys": {intCol(1), intCol(0)},
	} {
		n := &Aggregate{Child: s.scan(), By: by, Aggs: []Agg{sumOf(intCol(1)), {Kind: AnyValue, Arg: intCol(0), T: tInt}}}
		sorted := &Sort{Child: n, Limit: -1}
		for i, typ := range n.Schema()[:len(by)] {
			sorted.Keys = append(sorted.Keys, SortKey{Expr: Col{i, typ}})
		}
		want, err := collect(sorted, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, parallel := range []int{1, 2} {
			const budget = 1_500_000
			b := &testBudget{left: budget}
			got, err := collect(n, Options{Parallel: parallel, Budget: b})
			if err != nil || b.left != budget {
				t.Errorf("%s on %d goroutines: %v, %d bytes not given back", name, parallel, err, budget-b.left)
				continue
			}
			slices.SortFunc(got, func(x, y []any) int {
				for i := range by {
					if c := compareAny(x[i], y[i]); c != 0 {
						return c
					}
				}
				return 0
			})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s on %d goroutines: another answer of %d rows, want %d", name, parallel, len(got), len(want))
			}
		}
	}
	// A budget for nothing at all is an error after a bounded number of passes.
	n := &Aggregate{Child: s.scan(), By: []Expr{intCol(0)}}
	if _, err := collect(n, Options{Budget: &testBudget{left: 1000}}); !errors.Is(err, scan.ErrMemory) {
		t.Error(err)
	}
}

// endless is a source of one block many times that cancels after some.
type endless struct {
	*memSource
	after  int64
	opens  atomic.Int64
	cancel context.CancelFunc
}

type endlessBlock struct {
	Block
	e *endless
}

func (b endlessBlock) Stats(scan.Column) (Stats, bool) { return Stats{}, false }

func (b endlessBlock) Open(ctx context.Context, cols []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	if b.e.opens.Add(1) == b.e.after {
		b.e.cancel()
	}
	return b.Block.Open(context.WithoutCancel(ctx), cols)
}

func (e *endless) Blocks(ctx context.Context, t *catalog.Table, c []scan.Column, p scan.Expr) ([]Block, error) {
	out := make([]Block, 10_000)
	for i := range out {
		out[i] = endlessBlock{e.blocks[0], e}
	}
	return out, nil
}

func TestACancelledQueryStopsAtTheNextBlock(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		e := &endless{memSource: bigints(10, []any{int64(1)}, []any{int64(2)}), after: 20, cancel: cancel}
		s := e.scan()
		s.Source = e
		it, err := Run(ctx, &Aggregate{Child: s, By: []Expr{intCol(0)}, Aggs: []Agg{rows}}, Options{Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := it.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		it.Close()
		if n := e.opens.Load(); n > 20+int64(parallel) {
			t.Errorf("%d blocks were opened", n)
		}
		cancel()
	}
}

func TestExplainSaysWhatEachOperatorDid(t *testing.T) {
	s := bigints(2, []any{int64(1), int64(1)}, []any{int64(2), int64(1)}, []any{int64(3), int64(2)}, []any{int64(9), int64(2)}, []any{int64(10), int64(2)})
	n := s.scan()
	n.Filter = Compare{GT, intCol(0), intConst(2)}
	filter := &Filter{Child: n, Cond: Compare{LT, intCol(0), intConst(10)}}
	plan := &Aggregate{Child: filter, By: []Expr{intCol(1)}, Aggs: []Agg{rows}}
	var x Explain
	if got := answer(t, plan, Options{Explain: &x}); got != "2,2" {
		t.Fatal(got)
	}
	if len(x.Operators) != 3 || x.Operators[0].Node != Node(plan) || x.Operators[1].Node != Node(filter) || x.Operators[2].Node != Node(n) {
		t.Fatalf("%+v", x.Operators)
	}
	agg, f, sc := x.Operators[0], x.Operators[1], x.Operators[2]
	if agg.Rows != 1 || f.Rows != 2 || sc.Rows != 2 || sc.Blocks != 3 || sc.Pruned != 2 || sc.RowsScanned != 2 || sc.BytesOpened == 0 {
		t.Errorf("%+v", x.Operators)
	}
}

func TestPlansThatCannotBeCarriedOutAreRefusedBeforehand(t *testing.T) {
	s := bigints(2, []any{int64(1)})
	for _, n := range []Node{
		&Project{Child: s.scan(), Exprs: []Expr{Col{1, tInt}}},
		&Project{Child: s.scan(), Exprs: []Expr{Col{0, tText}}},
		&Project{Child: s.scan(), Exprs: []Expr{Compare{EQ, intCol(0), textConst("a")}}},
		&Project{Child: s.scan(), Exprs: []Expr{Arith{Op: Div, L: intCol(0), R: intCol(0), T: tInt}}},
		&Project{Child: s.scan(), Exprs: []Expr{Func{Fn: FloorTo, Args: []Expr{intCol(0), intConst(0), intConst(0)}, T: tInt}}},
		&Aggregate{Child: s.scan(), Aggs: []Agg{{Kind: Sum, Arg: intCol(0), T: tInt}}},
		&Aggregate{Child: s.scan(), Aggs: []Agg{{Kind: 99, Arg: intCol(0), T: tInt}}},
		&Filter{Child: s.scan(), Cond: Like{Arg: intCol(0)}},
	} {
		if err := Check(n); !errors.Is(err, ErrNotSupported) {
			t.Errorf("%s: %v", show(n), err)
		}
	}
}

func TestAnIteratorIsDoneAfterItsEndAndAfterClose(t *testing.T) {
	s := bigints(2, []any{int64(1)})
	it, err := Run(context.Background(), s.scan(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err = it.Next(context.Background())
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	it.Close()
	it.Close()
	if _, err := it.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
