package vector

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// cells are v's values, for comparisons.
func cells(v *Vector) []any {
	out := make([]any, v.Len)
	for i := range out {
		at := i
		if v.Const {
			at = 0
		}
		switch {
		case v.IsNull(i):
			if v.Kind == String {
				v.Text(i) // safe to read
			} else if v.Kind == Int {
				v.Int(i)
			}
		case v.Kind == Int:
			out[i] = v.Int(i)
		case v.Kind == Uint:
			out[i] = v.Uint64[at]
		case v.Kind == Float:
			out[i] = math.Float64bits(v.Float64[at])
		case v.Kind == Decimal128:
			out[i] = v.Dec128[at].ToString(v.Scale)
		case v.Kind == Decimal256:
			out[i] = v.Dec256[at].ToString(v.Scale)
		default:
			out[i] = string(v.Text(i))
		}
	}
	return out
}

// check fails unless v is whole and holds what it should.
func check(t rapid.TB, what string, v *Vector, want []any) {
	t.Helper()
	if v.Len != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, v.Len, len(want))
	}
	nulls := 0
	for _, w := range want {
		if w == nil {
			nulls++
		}
	}
	if v.Nulls >= 0 && v.Nulls != nulls || v.CountNulls() != nulls {
		t.Fatalf("%s: %d NULLs (%d counted), want %d", what, v.Nulls, v.CountNulls(), nulls)
	}
	if diff := cmp.Diff(want, cells(v), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

var allKinds = []Kind{Int, Uint, Float, Decimal128, Decimal256, String}

// drawColumn makes a vector of a kind and its values; some columns are narrow, constant or NULL.
func drawColumn(t *rapid.T, k Kind, label string) (Vector, []any) {
	n := rapid.IntRange(0, 300).Draw(t, label+" rows")
	nullEvery := rapid.SampledFrom([]int{0, 0, 1, 2, 7}).Draw(t, label+" nulls")
	span := rapid.SampledFrom([]int64{0, 1, 100, 255, 256, 40000, 65535, 1 << 31, 1 << 33, math.MaxInt64}).Draw(t, label+" span")
	from := rapid.SampledFrom([]int64{0, -100, 1 << 40, math.MinInt64, math.MaxInt64 - 300, -1 << 31}).Draw(t, label+" from")
	distinct := rapid.SampledFrom([]int{1, 3, 20, 300}).Draw(t, label+" distinct")
	want, values, valid := make([]any, n), make([]int64, n), make([]uint64, words(n))
	for i := range n {
		if nullEvery > 0 && i%nullEvery == 0 {
			continue
		}
		valid[i>>6] |= 1 << (i & 63)
		values[i] = from
		if span > 0 {
			most := span
			if from > 0 && most > math.MaxInt64-from {
				most = math.MaxInt64 - from
			}
			values[i] += rapid.Int64Range(0, most).Draw(t, "value")
		}
	}
	each := func(f func(i int, x int64)) {
		for i, x := range values {
			if valid[i>>6]>>(i&63)&1 != 0 {
				f(i, x)
			}
		}
	}
	const scale = 4
	switch k {
	case Int:
		each(func(i int, x int64) { want[i] = x })
		return OfInts(values, valid), want
	case Uint:
		out := make([]uint64, n)
		each(func(i int, x int64) { out[i] = uint64(x); want[i] = out[i] })
		return OfUints(out, valid), want
	case Float:
		out := make([]float64, n)
		each(func(i int, x int64) { out[i] = float64(x) / 3; want[i] = math.Float64bits(out[i]) })
		return OfFloats(out, valid), want
	case Decimal128:
		out := make([]decimal128.Num, n)
		each(func(i int, x int64) { out[i] = decimal128.FromI64(x); want[i] = out[i].ToString(scale) })
		return OfDec128(out, scale, valid), want
	case Decimal256:
		out := make([]decimal256.Num, n)
		each(func(i int, x int64) { out[i] = decimal256.FromI64(x); want[i] = out[i].ToString(scale) })
		return OfDec256(out, scale, valid), want
	}
	var texts Texts
	each(func(i int, x int64) {
		s := fmt.Sprintf("text-%d", uint64(x)%uint64(distinct))
		if x%5 == 0 {
			s = ""
		}
		texts.Put(i, []byte(s))
		want[i] = s
	})
	return texts.Take(n, valid), want
}

func TestVectorsAreCutJoinedAndPlacedWithoutChange(t *testing.T) {
	slabs := &Slabs{}
	defer slabs.Close()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(allKinds).Draw(t, "kind")
		var parts []*Vector
		var all []any
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			v, want := drawColumn(t, k, fmt.Sprint("part ", i))
			check(t, "whole", &v, want)
			from := rapid.IntRange(0, v.Len).Draw(t, "from")
			to := rapid.IntRange(from, v.Len).Draw(t, "to")
			s := v.Slice(from, to)
			check(t, "slice", &s, want[from:to])
			parts = append(parts, &s)
			all = append(all, want[from:to]...)
		}
		v, err := Concat(parts...)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "joined", &v, all)

		var alloc Allocator = slabs
		if rapid.Bool().Draw(t, "heap") {
			alloc = Heap{}
		}
		placed, mem := Place(&v, alloc)
		check(t, "placed", &placed, all)
		if size := placed.SizeBytes(); int64(len(mem)) > size+32*align || size < 0 {
			t.Fatalf("%d bytes are placed in %d", size, len(mem))
		}
		alloc.Free(mem)
	})
	if _, used := slabs.Bytes(); used != 0 {
		t.Errorf("%d bytes are still in use", used)
	}
}

func TestIntegersTakeTheNarrowestSlots(t *testing.T) {
	for _, c := range []struct {
		least, most int64
		width       int
		base        int64
	}{
		{0, 1, 1, 0},
		{-128, 127, 1, 0},
		{0, 128, 1, 128},
		{1000, 1127, 1, 1000},
		{1000, 1255, 1, 1128},
		{1000, 1256, 2, 0},
		{math.MaxInt64 - 1, math.MaxInt64, 1, math.MaxInt64 - 1},
		{math.MaxInt64 - 255, math.MaxInt64, 1, math.MaxInt64 - 127},
		{math.MinInt64, math.MinInt64 + 255, 1, math.MinInt64 + 128},
		{math.MinInt64, math.MinInt64 + 256, 2, math.MinInt64},
		{-32768, 32767, 2, 0},
		{1 << 40, 1<<40 + 65535, 2, 1<<40 + 32768},
		{1 << 40, 1<<40 + 1<<32 - 1, 4, 1<<40 + 1<<31},
		{1 << 40, 1<<40 + 1<<32, 8, 0},
		{math.MinInt64, math.MaxInt64, 8, 0},
	} {
		v := OfInts([]int64{c.least, c.most, c.least}, nil)
		width := map[bool]int{v.Int8 != nil: 1}[true] + 2*len(v.Int16)/3 + 4*len(v.Int32)/3 + 8*len(v.Int64)/3
		if width != c.width || v.Base != c.base {
			t.Errorf("[%d, %d]: %d bytes from %d, want %d from %d", c.least, c.most, width, v.Base, c.width, c.base)
		}
		check(t, "values", &v, []any{c.least, c.most, c.least})
	}
}

func TestADictionaryIsMadeWhereItPays(t *testing.T) {
	for _, c := range []struct {
		name           string
		rows, distinct int
		width          int // of codes; 0: none
	}{
		{"few strings", 10_000, 200, 1},
		{"256 strings", 10_000, 256, 1},
		{"257 strings", 10_000, 257, 2},
		{"5,000 strings", 20_000, 5000, 2},
		{"nearly all differ", 7000, 100_000, 0},
		{"all differ", 100_000, math.MaxInt, 0},
		{"60,000 strings", 1 << 18, 60_000, 2},
		{"more than codes reach", 1 << 20, 100_000, 0},
		{"a handful", 5, 5, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Texts
			var want []any
			random := rand.New(rand.NewPCG(1, 2))
			for round := range 2 {
				want = want[:0]
				for i := range c.rows {
					s := fmt.Sprint("string ", random.IntN(c.distinct))
					b.Put(i, []byte(s))
					want = append(want, s)
				}
				v := b.Take(c.rows, nil)
				width := 0
				switch {
				case v.Code8 != nil:
					width = 1
				case v.Code16 != nil:
					width = 2
				}
				if width != c.width && round == 0 {
					t.Errorf("codes of %d bytes, want %d", width, c.width)
				}
				for i := range want {
					if got := string(v.Text(i)); got != want[i] {
						t.Fatalf("row %d is %q, want %q", i, got, want[i])
					}
				}
			}
		})
	}
}

func TestAColumnOfOneValueIsConst(t *testing.T) {
	var texts Texts
	for i := range 3 {
		texts.Put(i, []byte("EUR"))
	}
	eur := texts.Take(3, nil)
	ints := OfInts([]int64{7, 7, 7}, nil)
	floats := OfFloats([]float64{1.5, 1.5}, nil)
	nulls := OfUints(make([]uint64, 3), []uint64{0})
	for i, v := range []Vector{eur, ints, floats, nulls} {
		if !v.Const {
			t.Errorf("column %d is not", i)
		}
	}
	check(t, "text", &eur, []any{"EUR", "EUR", "EUR"})
	check(t, "nulls", &nulls, []any{nil, nil, nil})
	some := OfInts([]int64{7, 7, 0}, []uint64{3})
	if some.Const {
		t.Error("a NULL among them is one value")
	}
	zeros := OfFloats([]float64{0, math.Copysign(0, -1)}, nil)
	if zeros.Const {
		t.Error("zero and minus zero are one value")
	}
}

func TestTextsPutAfterGapsKeepTheirRows(t *testing.T) {
	for _, plain := range []bool{false, true} {
		var b Texts
		if plain {
			b.skip = 1
		}
		valid := []uint64{1<<3 | 1<<10 | 1<<11}
		b.Put(3, []byte("a"))
		b.Put(10, []byte("b"))
		b.Put(11, []byte("a"))
		v := b.Take(20, valid)
		want := make([]any, 20)
		want[3], want[10], want[11] = "a", "b", "a"
		check(t, fmt.Sprintf("plain=%t", plain), &v, want)
	}
}

func TestLentTextsAreThoseThatWereTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Texts
		for range rapid.IntRange(1, 6).Draw(t, "vectors") {
			rows := rapid.SampledFrom([]int{0, 1, 60, 100, 200, 700, 9000}).Draw(t, "rows")
			distinct := rapid.SampledFrom([]int{1, 10, 300, 100_000}).Draw(t, "strings")
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
			want := make([]any, rows)
			valid := make([]uint64, (rows+63)/64)
			b.Reserve(rows)
			for i := range want {
				if random.IntN(5) == 0 {
					continue
				}
				s := fmt.Sprint("string ", random.IntN(distinct))
				b.Put(i, []byte(s))
				want[i] = s
				valid[i>>6] |= 1 << (i & 63)
			}
			if rapid.Bool().Draw(t, "take") {
				v := b.Take(rows, valid)
				check(t, "taken", &v, want)
				continue
			}
			v := b.Lend(rows, valid)
			check(t, "lent", &v, want)
			b.Reset()
		}
	})
}

func TestOtherTypesAreRefused(t *testing.T) {
	v := OfInts([]int64{1}, nil)
	d := OfDec128([]decimal128.Num{decimal128.FromI64(1)}, 2, nil)
	if _, err := Concat(&v, &d); !errors.Is(err, ErrType) {
		t.Errorf("kinds are mixed: %v", err)
	}
}

func TestSlabsGiveMemoryThatNobodyElseHas(t *testing.T) {
	s := &Slabs{}
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		type piece struct {
			mem  []byte
			mark byte
		}
		var held []piece
		mark := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := rapid.OneOf(rapid.IntRange(1, 40_000), rapid.IntRange(1, 20<<20), rapid.Just(slabBytes), rapid.Just(slabBytes+1)).Draw(t, "bytes")
				mem := s.Alloc(n)
				if len(mem) != n || cap(mem) != n {
					t.Fatalf("%d bytes of %d, want %d", len(mem), cap(mem), n)
				}
				mark++
				mem[0], mem[n/2], mem[n-1] = mark, mark, mark
				held = append(held, piece{mem, mark})
			},
			"free": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				s.Free(held[i].mem)
				held = append(held[:i], held[i+1:]...)
			},
			"": func(t *rapid.T) {
				for _, p := range held {
					if n := len(p.mem); p.mem[0] != p.mark || p.mem[n/2] != p.mark || p.mem[n-1] != p.mark {
						t.Fatal("memory was given twice")
					}
				}
			},
		})
		for _, p := range held {
			s.Free(p.mem)
		}
	})
	if mapped, used := s.Bytes(); used != 0 || mapped > slabBytes {
		t.Errorf("%d bytes are in use, %d mapped", used, mapped)
	}
}

func FuzzTextsComeBackWhateverTheyAre(f *testing.F) {
	f.Add([]byte("a\x00bb\x00a\x00\x00"), uint64(5))
	f.Add([]byte("0123456789abcdef\x000123456789abcdeg\x000123456789abcdef"), uint64(0xff))
	f.Fuzz(func(t *testing.T, b []byte, mask uint64) {
		offsets := []uint32{0}
		for i, c := range b {
			if c == 0 {
				offsets = append(offsets, uint32(i+1))
			}
		}
		n := len(offsets) - 1
		valid := make([]uint64, words(n))
		want := make([]any, n)
		for i := range n {
			if mask>>(i&63)&1 != 0 {
				valid[i>>6] |= 1 << (i & 63)
				want[i] = string(b[offsets[i]:offsets[i+1]])
			}
		}
		var texts Texts
		for i, w := range want {
			if w != nil {
				texts.Put(i, b[offsets[i]:offsets[i+1]])
			}
		}
		v := texts.Take(n, valid)
		check(t, "texts", &v, want)
	})
}

func BenchmarkTexts(b *testing.B) {
	for _, distinct := range []int{8, 5000, 1 << 20} {
		b.Run(fmt.Sprint(distinct), func(b *testing.B) {
			texts := make([][]byte, 1<<17)
			for i := range texts {
				texts[i] = fmt.Appendf(nil, "/products/%d", i*7919%len(texts)%distinct)
			}
			var t Texts
			b.ReportAllocs()
			for b.Loop() {
				t.Reserve(len(texts))
				for i, s := range texts {
					t.Put(i, s)
				}
				t.Take(len(texts), nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(texts)), "ns/row")
		})
	}
}
