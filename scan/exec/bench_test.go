package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
)

// The queries of docs' comparison, over three million rows as the column cache would hold them.

const benchRows = 3_000_000

const (
	benchTime = iota
	benchAmount
	benchKind
	benchURL
	benchUser
	benchSession
	benchPrice
	benchCountry
)

var benchTypes = []Type{
	{Kind: vector.Int},
	{Kind: vector.Int},
	{Kind: vector.String},
	{Kind: vector.String},
	{Kind: vector.Int},
	{Kind: vector.String},
	{Kind: vector.Float},
	{Kind: vector.String},
}

type benchBlock struct {
	rows  int
	cols  []vector.Vector
	stats []Stats
	has   bool // the session that is looked for
}

func (b *benchBlock) Rows() int { return b.rows }

func (b *benchBlock) Stats(c scan.Column) (Stats, bool) {
	return b.stats[c.Index], b.stats[c.Index].HasMin
}

func (b *benchBlock) MayContain(c scan.Column, v Const) bool {
	return c.Index != benchSession || b.has
}

func (b *benchBlock) Open(_ context.Context, cols []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = &b.cols[c.Index]
	}
	return out, 0, b.rows, nil, nil
}

type benchSource struct{ blocks []Block }

func (s *benchSource) Blocks(context.Context, *catalog.Table, []scan.Column, scan.Expr) ([]Block, error) {
	return s.blocks, nil
}

func dictOf(n int, name func(int) string) *vector.Dict {
	d := &vector.Dict{Offsets: []uint32{0}}
	for i := range n {
		d.Bytes = append(d.Bytes, name(i)...)
		d.Offsets = append(d.Offsets, uint32(len(d.Bytes)))
	}
	return d
}

func sessionName(i int) string { return fmt.Sprintf("s%012x", uint64(i)*0x9e3779b97f4a7c15>>16) }

var benchTable = sync.OnceValue(func() *benchSource {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &benchSource{}
	const start = 1_700_000_000_000
	for from := 0; from < benchRows; from += MaxBlockRows {
		n := min(MaxBlockRows, benchRows-from)
		b := &benchBlock{rows: n, cols: make([]vector.Vector, len(benchTypes)), stats: make([]Stats, len(benchTypes))}
		for i, t := range benchTypes {
			b.cols[i] = vector.Vector{Kind: t.Kind, Len: n}
		}
		c := b.cols
		c[benchTime].Base = int64(start + from*20)
		c[benchKind].Dict = dictOf(8, func(i int) string { return fmt.Sprintf("kind-%d", i) })
		c[benchURL].Dict = dictOf(1000, func(i int) string { return fmt.Sprintf("https://example.com/%x/page/%d", i*7919, i) })
		c[benchCountry].Dict = dictOf(50, func(i int) string { return fmt.Sprintf("C%02d", i) })
		c[benchSession].Offsets = []uint32{0}
		for i := range n {
			c[benchTime].Int32 = append(c[benchTime].Int32, int32(i*20+rnd.IntN(40)))
			c[benchAmount].Int32 = append(c[benchAmount].Int32, rnd.Int32N(100_000))
			c[benchKind].Code8 = append(c[benchKind].Code8, uint8(rnd.IntN(8)))
			c[benchURL].Code16 = append(c[benchURL].Code16, uint16(rnd.IntN(1000)))
			c[benchUser].Int32 = append(c[benchUser].Int32, int32(uint32(rnd.IntN(294_000))*7_001))
			c[benchPrice].Float64 = append(c[benchPrice].Float64, float64(rnd.IntN(10000))/100)
			c[benchCountry].Code8 = append(c[benchCountry].Code8, uint8(rnd.IntN(50)))
			c[benchSession].Bytes = append(c[benchSession].Bytes, sessionName(rnd.IntN(1_000_000))...)
			c[benchSession].Offsets = append(c[benchSession].Offsets, uint32(len(c[benchSession].Bytes)))
		}
		b.stats[benchTime] = Stats{
			HasMin: true, HasMax: true, Min: intConst(c[benchTime].Base),
			Max: intConst(c[benchTime].Base + int64(n*20+20)),
		}
		b.has = from == 4*MaxBlockRows
		s.blocks = append(s.blocks, b)
	}
	return s
})

// benchScan reads some columns; at says where a column is among them.
func benchScan(cols ...int) (*Scan, func(col int) Expr) {
	n := &Scan{Table: &catalog.Table{}, Source: benchTable()}
	place := map[int]int{}
	for i, c := range cols {
		place[c] = i
		n.Columns = append(n.Columns, scan.Column{Kind: scan.Expanded, Index: c})
		n.Types = append(n.Types, benchTypes[c])
	}
	return n, func(c int) Expr { return Col{place[c], benchTypes[c]} }
}

func bigint(t vector.Kind) Type { return Type{Kind: t} }

var (
	tInt   = bigint(vector.Int)
	tText  = bigint(vector.String)
	tFloat = bigint(vector.Float)
	tSum   = Type{Kind: vector.Decimal256}
	tAvg   = Type{Kind: vector.Decimal256, Scale: 4}
	rows   = Agg{Kind: CountRows, T: tInt}
)

func textConst(s string) Const { return Const{T: tText, Bytes: []byte(s)} }

func sumOf(e Expr) Agg { return Agg{Kind: Sum, Arg: e, T: tSum} }

func benchPlans() []struct {
	name string
	plan Node
} {
	var out []struct {
		name string
		plan Node
	}
	add := func(name string, n Node) {
		out = append(out, struct {
			name string
			plan Node
		}{name, n})
	}
	{
		s, c := benchScan(benchAmount)
		add("sum_min_max_avg", &Aggregate{Child: s, Aggs: []Agg{
			sumOf(c(benchAmount)),
			{Kind: Min, Arg: c(benchAmount), T: tInt},
			{Kind: Max, Arg: c(benchAmount), T: tInt},
			{Kind: Avg, Arg: c(benchAmount), T: tAvg},
		}})
	}
	between := func(e Expr, lo, hi int64) Expr {
		return And{[]Expr{Compare{GE, e, intConst(lo)}, Compare{LE, e, intConst(hi)}}}
	}
	{
		s, c := benchScan(benchAmount)
		s.Filter = between(c(benchAmount), 20_000, 60_000)
		add("int_range_sum", &Aggregate{Child: s, Aggs: []Agg{rows, sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchKind)
		s.Filter = Compare{EQ, c(benchKind), textConst("kind-3")}
		add("text_equal_count", &Aggregate{Child: s, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchURL)
		s.Filter = Like{Arg: c(benchURL), Pattern: []byte("%7a%")}
		add("like_count", &Aggregate{Child: s, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchKind)
		add("group_8_texts_count", &Aggregate{Child: s, By: []Expr{c(benchKind)}, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchKind, benchAmount)
		add("group_8_texts_sum_avg", &Aggregate{Child: s, By: []Expr{c(benchKind)}, Aggs: []Agg{
			rows, sumOf(c(benchAmount)), {Kind: Avg, Arg: c(benchAmount), T: tAvg},
		}})
	}
	{
		s, c := benchScan(benchSession)
		add("group_1M_texts", &Aggregate{Child: s, By: []Expr{c(benchSession)}, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchUser)
		add("group_294k_ints", &Aggregate{Child: s, By: []Expr{c(benchUser)}, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchUser, benchAmount)
		add("group_294k_ints_sum", &Aggregate{Child: s, By: []Expr{c(benchUser)}, Aggs: []Agg{rows, sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchTime)
		add("minute_windows", &Aggregate{Child: s, By: []Expr{
			Func{Fn: FloorTo, Args: []Expr{c(benchTime), intConst(60_000), intConst(0)}, T: tInt},
		}, Aggs: []Agg{rows}})
	}
	{
		s, c := benchScan(benchTime, benchAmount)
		add("hour_of_day_sum", &Aggregate{Child: s, By: []Expr{
			Func{Fn: Hour, Args: []Expr{c(benchTime), intConst(1000), intConst(0)}, T: tInt},
		}, Aggs: []Agg{rows, sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchAmount, benchKind, benchCountry)
		s.Filter = Compare{GE, c(benchAmount), intConst(50_000)}
		add("filter_group_2_keys", &Aggregate{Child: s, By: []Expr{c(benchKind), c(benchCountry)}, Aggs: []Agg{rows, sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchTime, benchSession)
		add("top_10", &Sort{Child: s, Keys: []SortKey{{Expr: c(benchTime), Desc: true}}, Limit: 10})
	}
	{
		s, c := benchScan(benchSession, benchAmount)
		s.Filter = Compare{EQ, c(benchSession), textConst(sessionName(77))}
		add("point_lookup", s)
	}
	{
		s, c := benchScan(benchSession, benchAmount)
		s.Filter = Like{Arg: c(benchSession), Pattern: []byte("%abcde%")}
		add("like_on_1M_texts", s)
	}
	{
		s, c := benchScan(benchUser)
		add("distinct_294k_ints", &Aggregate{Child: s, Aggs: []Agg{{Kind: Count, Distinct: true, Arg: c(benchUser), T: tInt}}})
	}
	{
		s, c := benchScan(benchSession)
		add("distinct_1M_texts", &Aggregate{Child: s, Aggs: []Agg{{Kind: Count, Distinct: true, Arg: c(benchSession), T: tInt}}})
	}
	{
		s, c := benchScan(benchKind, benchUser)
		add("distinct_users_per_kind", &Aggregate{Child: s, By: []Expr{c(benchKind)}, Aggs: []Agg{{Kind: Count, Distinct: true, Arg: c(benchUser), T: tInt}}})
	}
	{
		s, c := benchScan(benchKind, benchPrice)
		add("group_8_texts_avg_float", &Aggregate{Child: s, By: []Expr{c(benchKind)}, Aggs: []Agg{{Kind: Avg, Arg: c(benchPrice), T: tFloat}}})
	}
	{
		s, c := benchScan(benchTime, benchAmount)
		s.Filter = between(c(benchTime), 1_700_000_000_000, 1_700_000_000_000+20*200_000)
		add("time_range_pruned_sum", &Aggregate{Child: s, Aggs: []Agg{sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchAmount, benchUser, benchCountry)
		s.Filter = And{[]Expr{
			In{Arg: c(benchCountry), List: []Const{textConst("C01"), textConst("C17"), textConst("C33")}},
			Or{[]Expr{Compare{LT, c(benchAmount), intConst(1000)}, Compare{GT, c(benchAmount), intConst(90_000)}}},
		}}
		add("in_and_or_count", &Aggregate{Child: s, Aggs: []Agg{rows, sumOf(c(benchUser))}})
	}
	{
		s, c := benchScan(benchAmount, benchKind, benchCountry)
		s.Filter = And{[]Expr{Compare{LT, c(benchAmount), intConst(70_000)}, Compare{EQ, c(benchCountry), textConst("C17")}}}
		add("rare_text_and_range", &Aggregate{Child: s, By: []Expr{c(benchKind)}, Aggs: []Agg{rows, sumOf(c(benchAmount))}})
	}
	{
		s, c := benchScan(benchPrice, benchTime, benchSession, benchURL)
		add("top_10_of_floats", &Sort{Child: s, Keys: []SortKey{{Expr: c(benchPrice), Desc: true}, {Expr: c(benchTime)}}, Limit: 10})
	}
	{
		s, c := benchScan(benchTime, benchAmount)
		add("minute_windows_avg", &Aggregate{Child: s, By: []Expr{
			Arith{Op: IntDiv, L: c(benchTime), R: intConst(60_000), T: tInt},
		}, Aggs: []Agg{rows, {Kind: Avg, Arg: c(benchAmount), T: tAvg}}})
	}
	{
		s, c := benchScan(benchAmount, benchUser)
		add("arithmetic_sum", &Aggregate{Child: s, Aggs: []Agg{sumOf(Arith{
			Op: Mul, L: c(benchAmount), R: Arith{Op: Add, L: c(benchUser), R: intConst(1), T: tInt}, T: tInt,
		})}})
	}
	{
		s, c := benchScan(benchKind, benchAmount)
		add("case_sum", &Aggregate{Child: s, Aggs: []Agg{sumOf(Case{
			When: []When{{Compare{EQ, c(benchKind), textConst("kind-1")}, c(benchAmount)}}, Else: intConst(0), T: tInt,
		})}})
	}
	return out
}

func drain(n Node, opts Options) (int, error) {
	ctx := context.Background()
	it, err := Run(ctx, n, opts)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	total := 0
	for {
		b, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
		total += b.Rows()
	}
}

// cpuTime is what the process used so far, the collector's work included: steadier than the clock on a
// busy machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkQueries(b *testing.B) {
	for _, q := range benchPlans() {
		b.Run(q.name, func(b *testing.B) {
			if _, err := drain(q.plan, Options{Parallel: 1}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			cpu := cpuTime()
			b.ResetTimer()
			for range b.N {
				if _, err := drain(q.plan, Options{Parallel: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/query")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/query")
		})
	}
}
