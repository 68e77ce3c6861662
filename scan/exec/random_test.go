package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"pgregory.net/rapid"
)

var testTypes = []Type{
	{Kind: vector.Int},
	{Kind: vector.String},
	{Kind: vector.Float},
	{Kind: vector.Uint},
	{Kind: vector.Decimal128, Scale: 2},
	{Kind: vector.Decimal256, Scale: 4},
	{Kind: vector.Int},
	{Kind: vector.String},
}

func pick[T any](t *rapid.T, of ...T) T {
	return of[rapid.IntRange(0, len(of)-1).Draw(t, "pick")]
}

func genInt(t *rapid.T, max int) int { return rapid.IntRange(0, max).Draw(t, "n") }

func genValue(t *rapid.T, typ Type, nulls bool) any {
	if nulls && genInt(t, 5) == 0 {
		return nil
	}
	switch typ.Kind {
	case vector.Int:
		switch genInt(t, 9) {
		case 0:
			return pick[int64](t, math.MinInt64, math.MaxInt64, math.MinInt64+1, 1<<40, -1<<33, 1<<31, 40000)
		case 1:
			return int64(1_700_000_000_000 + 7_777_777*genInt(t, 1000))
		}
		return int64(genInt(t, 12) - 4)
	case vector.Uint:
		return pick[uint64](t, 0, 1, 2, 3, 7, 1<<63, math.MaxUint64)
	case vector.Float:
		return pick(t, 0.0, 0.1, 0.2, -1.5, 2.5, 3.5, 1e10, 1e-10, -7, 1e300)
	case vector.String:
		return pick(t, "", "a", "A", "ab", "b", "Ä%", "some1", "some2", "a text that is longer than sixteen bytes", "a text that is longer than sixteen butts", "x_y")
	}
	x := wideint.From64(int64(genInt(t, 2000) - 1000))
	if genInt(t, 6) == 0 {
		x, _ = x.Mul(wideint.Pow10[pick(t, 20, 34, 18)])
	}
	return x
}

func genTable(t *rapid.T) *memSource {
	n := genInt(t, 60)
	if genInt(t, 9) == 0 {
		n *= 150
	}
	seed := rapid.Uint64().Draw(t, "seed")
	rnd := rand.New(rand.NewPCG(seed, 1))
	base := make([][]any, min(n, 60))
	for i := range base {
		for _, typ := range testTypes {
			base[i] = append(base[i], genValue(t, typ, true))
		}
	}
	rows := make([][]any, n)
	for i := range rows { // rows beyond the first few are mixtures of them
		rows[i] = make([]any, len(testTypes))
		for c := range rows[i] {
			k := i
			if i >= len(base) {
				k = rnd.IntN(len(base))
			}
			rows[i][c] = base[k][c]
		}
	}
	size := max(1, n/(1+genInt(t, 4)))
	return newMemSource(testTypes, rows, size, rnd)
}

func genConst(t *rapid.T, typ Type) Const { return constAny(typ, genValue(t, typ, genInt(t, 3) == 0)) }

func intConst(x int64) Const { return Const{T: Type{Kind: vector.Int}, Int: x} }

func genExpr(t *rapid.T, typ Type, depth int) Expr {
	var cols []Expr
	for i, c := range testTypes {
		if c == typ {
			cols = append(cols, Col{i, c})
		}
	}
	leaf := func() Expr {
		if len(cols) > 0 && genInt(t, 3) > 0 {
			return pick(t, cols...)
		}
		return genConst(t, typ)
	}
	if depth == 0 || genInt(t, 4) == 0 {
		return leaf()
	}
	sub := func(typ Type) Expr { return genExpr(t, typ, depth-1) }
	if genInt(t, 6) == 0 {
		c := Case{T: typ}
		for range 1 + genInt(t, 1) {
			c.When = append(c.When, When{genCond(t, depth-1), sub(typ)})
		}
		if genInt(t, 2) > 0 {
			c.Else = sub(typ)
		}
		return c
	}
	str, integer := Type{Kind: vector.String}, Type{Kind: vector.Int}
	switch typ.Kind {
	case vector.Int:
		switch genInt(t, 7) {
		case 0, 1:
			return Arith{Op: pick(t, Add, Sub, Mul, IntDiv, Mod), L: sub(typ), R: sub(typ), T: typ, Text: "x"}
		case 2:
			return Arith{Op: Neg, L: sub(typ), T: typ, Text: "-x"}
		case 3:
			f := Func{Fn: FloorTo, Args: []Expr{sub(typ), intConst(pick[int64](t, 1, 2, 3, 7, 60000, 1<<40)), intConst(pick[int64](t, 0, 5, -9))}, T: typ}
			if least := pick[int64](t, math.MinInt64, -4, 0, 1, 60001); least != math.MinInt64 {
				f.Args = append(f.Args, intConst(least))
			}
			return f
		case 4:
			fn := pick(t, Year, Month, Day, Hour, Minute, Second, DayOfWeek, DayOfYear, Quarter, DateOf)
			ts := Func{Fn: Abs, Args: []Expr{Arith{Op: Mod, L: sub(typ), R: intConst(4_000_000_000_000), T: typ}}, T: typ}
			var arg Expr = ts
			if genInt(t, 1) == 0 {
				arg = Arith{Op: Sub, L: ts, R: intConst(2_000_000_000_000), T: typ}
			}
			return Func{Fn: fn, Args: []Expr{arg, intConst(1000), intConst(pick[int64](t, 0, 3600, -19800))}, T: typ}
		case 5:
			return Func{Fn: pick(t, Length, CharLength), Args: []Expr{sub(str)}, T: typ}
		case 6:
			return Convert{Arg: sub(Type{Kind: vector.Uint}), T: typ, Text: "c"}
		}
		return Map{Arg: sub(pick(t, integer, str)), T: typ, Apply: func(c Const) (Const, error) {
			if c.Null {
				return intConst(-1), nil
			}
			return intConst(c.Int%5 + int64(len(c.Bytes))), nil
		}}
	case vector.Uint:
		if genInt(t, 2) == 0 {
			return Convert{Arg: sub(integer), T: typ, Text: "c"}
		}
		return Arith{Op: pick(t, Add, Sub, Mul, IntDiv, Mod), L: sub(typ), R: sub(typ), T: typ, Text: "x"}
	case vector.Float:
		switch genInt(t, 3) {
		case 0:
			return Convert{Arg: sub(pick(t, integer, testTypes[4], testTypes[5])), T: typ}
		case 1:
			return Func{Fn: pick(t, Abs, Floor, Ceil, Round), Args: []Expr{sub(typ)}, T: typ}
		}
		return Arith{Op: pick(t, Add, Sub, Mul, Div, Mod), L: sub(typ), R: sub(typ), T: typ, Text: "x"}
	case vector.String:
		switch genInt(t, 4) {
		case 0:
			return Func{Fn: pick(t, Lower, Upper), Args: []Expr{sub(typ)}, T: typ}
		case 1:
			args := []Expr{sub(typ), intConst(int64(genInt(t, 8) - 4))}
			if genInt(t, 1) == 0 {
				args = append(args, intConst(int64(genInt(t, 4))))
			}
			return Func{Fn: Substring, Args: args, T: typ}
		case 2:
			return Func{Fn: Concat, Args: []Expr{sub(typ), sub(typ)}, T: typ}
		case 3:
			return Convert{Arg: sub(integer), T: typ}
		}
		return Map{Arg: sub(pick(t, integer, str)), T: typ, Apply: func(c Const) (Const, error) {
			return Const{T: typ, Null: c.Int == 3, Bytes: []byte(fmt.Sprint(c.Null, c.Int%3, len(c.Bytes)))}, nil
		}}
	}
	switch genInt(t, 3) {
	case 0:
		return Convert{Arg: sub(pick(t, integer, Type{Kind: vector.Uint})), T: typ, Text: "c"}
	case 1:
		return Func{Fn: pick(t, Abs, Round, Floor, Ceil), Args: []Expr{sub(typ)}, T: typ}
	}
	op := pick(t, Add, Sub, Mod, Div)
	return Arith{Op: op, L: sub(typ), R: sub(typ), T: typ, Text: "x"}
}

func genCond(t *rapid.T, depth int) Expr {
	typ := pick(t, testTypes...)
	sub := func() Expr { return genExpr(t, typ, max(0, depth-1)) }
	if depth > 0 && genInt(t, 2) == 0 {
		var args []Expr
		for range 1 + genInt(t, 2) {
			args = append(args, genCond(t, depth-1))
		}
		switch genInt(t, 2) {
		case 0:
			return And{args}
		case 1:
			return Or{args}
		}
		return Not{args[0]}
	}
	switch genInt(t, 7) {
	case 0:
		return IsNull{sub()}
	case 1:
		in := In{Arg: sub(), Null: genInt(t, 5) == 0}
		for range genInt(t, 12) {
			in.List = append(in.List, genConst(t, typ))
		}
		return in
	case 2:
		p := pick(t, "some%", "%a%", "a", "_", "%_b%", "", "%", "a%t__t is%bytes", "x|_y", "%S", "ä|%")
		l := Like{Arg: genExpr(t, Type{Kind: vector.String}, max(0, depth-1)), Pattern: []byte(p), Fold: genInt(t, 3) == 0}
		if strings.Contains(p, "|") {
			l.Escape = '|'
		}
		return l
	}
	op := pick(t, EQ, NE, LT, LE, GT, GE, NullSafeEQ)
	if genInt(t, 1) == 0 {
		return Compare{Op: op, L: sub(), R: genConst(t, typ)}
	}
	return Compare{Op: op, L: sub(), R: sub()}
}

func genAgg(t *rapid.T) Agg {
	typ := pick(t, testTypes...)
	a := Agg{
		Kind: pick(t, CountRows, Count, Sum, Avg, Min, Max, VarPop, VarSamp, StdPop, StdSamp, BitAnd, BitOr, BitXor, AnyValue, GroupConcat),
		Arg:  genExpr(t, typ, genInt(t, 1)), Distinct: genInt(t, 3) == 0,
	}
	switch a.Kind {
	case CountRows:
		return Agg{Kind: CountRows, T: Type{Kind: vector.Int}}
	case Count:
		a.T = Type{Kind: vector.Int}
	case Sum, Avg, VarPop, VarSamp, StdPop, StdSamp:
		if typ.Kind == vector.String {
			return genAgg(t)
		}
		a.T = Type{Kind: vector.Float}
		if a.Kind == Sum && typ.Kind != vector.Float {
			a.T = Type{Kind: vector.Decimal256, Scale: typ.Scale}
		}
		if a.Kind == Avg && typ.Kind != vector.Float {
			a.T = Type{Kind: vector.Decimal256, Scale: typ.Scale + 4}
		}
	case BitAnd, BitOr, BitXor:
		if typ.Kind != vector.Int && typ.Kind != vector.Uint {
			return genAgg(t)
		}
		a.T = Type{Kind: vector.Uint}
	case GroupConcat:
		a.Arg = genExpr(t, Type{Kind: vector.String}, 1)
		a.T = Type{Kind: vector.String}
		a.Separator = []byte(pick(t, ",", "", "; "))
		a.MaxLen = pick(t, 1024, 20, 0)
		if genInt(t, 1) == 0 {
			a.Order = []SortKey{{Expr: genExpr(t, pick(t, testTypes...), 0), Desc: genInt(t, 1) == 0}}
		}
	default:
		a.T = a.Arg.Type()
	}
	return a
}

// genPlan is a random plan over a random table.
func genPlan(t *rapid.T) Node {
	s := genTable(t).scan()
	var n Node = s
	if genInt(t, 1) == 0 {
		s.Filter = genCond(t, 3)
	}
	if genInt(t, 3) == 0 {
		n = &Filter{Child: n, Cond: genCond(t, 2)}
	}
	shape := genInt(t, 5)
	if shape > 0 && genInt(t, 2) == 0 {
		// Keeps the types of the columns, so that expressions above fit.
		p := &Project{Child: n}
		for i, typ := range testTypes {
			if genInt(t, 1) == 0 {
				p.Exprs = append(p.Exprs, Col{i, typ})
			} else {
				p.Exprs = append(p.Exprs, genExpr(t, typ, 2))
			}
		}
		n = p
		if genInt(t, 2) == 0 {
			n = &Filter{Child: n, Cond: genCond(t, 1)}
		}
	}
	switch shape {
	case 0:
		p := &Project{Child: n}
		for range 1 + genInt(t, 3) {
			p.Exprs = append(p.Exprs, genExpr(t, pick(t, testTypes...), 3))
		}
		return p
	case 1:
		sort := &Sort{Child: n, Offset: int64(genInt(t, 3)), Limit: int64(genInt(t, 12) - 1)}
		for range genInt(t, 2) {
			sort.Keys = append(sort.Keys, SortKey{Expr: genExpr(t, pick(t, testTypes...), 1), Desc: genInt(t, 1) == 0})
		}
		return sort
	case 2:
		return &Limit{Child: n, Offset: int64(genInt(t, 5)), Count: int64(genInt(t, 10) - 1)}
	}
	a := &Aggregate{Child: n}
	for range genInt(t, 3) {
		a.By = append(a.By, genExpr(t, pick(t, testTypes...), genInt(t, 1)))
	}
	for range genInt(t, 3) {
		a.Aggs = append(a.Aggs, genAgg(t))
	}
	if len(a.By) == 0 && len(a.Aggs) == 0 {
		a.Aggs = append(a.Aggs, Agg{Kind: CountRows, T: Type{Kind: vector.Int}})
	}
	return a
}

// collect runs a plan and copies its rows.
func collect(n Node, opts Options) ([][]any, error) {
	ctx := context.Background()
	it, err := Run(ctx, n, opts)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var out [][]any
	schema := n.Schema()
	for {
		b, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if b.Rows() == 0 || b.Len > chunkRows || len(b.Cols) != len(schema) {
			return nil, fmt.Errorf("a batch of %d rows and %d columns", b.Rows(), len(b.Cols))
		}
		for c := range b.Cols {
			if v := &b.Cols[c]; v.Kind != schema[c].Kind || decimalKind(v.Kind) && v.Scale != schema[c].Scale {
				return nil, fmt.Errorf("column %d is of kind %d, scale %d, not %v", c, v.Kind, v.Scale, schema[c])
			}
		}
		for _, i := range b.rows() {
			row := make([]any, len(b.Cols))
			for c := range row {
				row[c] = anyAt(&b.Cols[c], int(i))
			}
			out = append(out, row)
		}
	}
}

// sameRows compares an answer with the oracle's. Variances may differ in their last digits.
func sameRows(got [][]any, want []naiveRow) error {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			return fmt.Errorf("%d rows, want %d", len(got), len(want))
		}
		for c, w := range want[i].vals {
			g := got[i][c]
			if naiveKey(g) == naiveKey(w) {
				continue
			}
			a, ok1 := g.(float64)
			b, ok2 := w.(float64)
			if ok1 && ok2 && math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-6) {
				continue
			}
			return fmt.Errorf("row %d column %d: %v, want %v", i, c, g, w)
		}
	}
	return nil
}

func TestRandomPlansAnswerAsAPlainInterpreterDoesOnOneAndFourGoroutines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := genPlan(t)
		if err := Check(n); err != nil {
			t.Fatal(err)
		}
		want, fails := naiveRun(n)
		one, err := collect(n, Options{Parallel: 1})
		if fails != nil {
			var re *RangeError
			if err != nil && !errors.As(err, &re) {
				t.Fatalf("%v instead of %v", err, fails)
			}
			return // a filter may have spared the row that failed
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, show(n))
		}
		if err := sameRows(one, want); err != nil {
			t.Fatalf("%v\n%s", err, show(n))
		}
		four, err := collect(n, Options{Parallel: 4})
		if err != nil {
			t.Fatal(err)
		}
		if len(one) != len(four) {
			t.Fatalf("%d rows on one goroutine, %d on four", len(one), len(four))
		}
		for i := range one {
			for c := range one[i] {
				if naiveKey(one[i][c]) != naiveKey(four[i][c]) {
					t.Fatalf("row %d column %d: %v on one goroutine, %v on four\n%s", i, c, one[i][c], four[i][c], show(n))
				}
			}
		}
	})
}

// show writes a plan out.
func show(n Node) string {
	s := fmt.Sprintf("%T ", n)
	switch n := n.(type) {
	case *Scan:
		return s + fmt.Sprintf("filter %+v, %d blocks", n.Filter, len(n.Source.(*memSource).blocks))
	case *Filter:
		return s + fmt.Sprintf("%#v\n", n.Cond) + show(n.Child)
	case *Project:
		return s + fmt.Sprintf("%+v\n", n.Exprs) + show(n.Child)
	case *Aggregate:
		return s + fmt.Sprintf("by %+v\naggs %+v\n", n.By, n.Aggs) + show(n.Child)
	case *Sort:
		return s + fmt.Sprintf("%+v %d %d\n", n.Keys, n.Offset, n.Limit) + show(n.Child)
	case *Limit:
		return s + fmt.Sprintf("%d %d\n", n.Offset, n.Count) + show(n.Child)
	}
	return s
}
