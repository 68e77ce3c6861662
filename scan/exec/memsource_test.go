package exec

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// memSource is a Source over values in memory, cut into blocks. A nil value is NULL; else values
// are int64, uint64, float64, wideint.Int256 or string.
type memSource struct {
	types   []Type
	rows    [][]any
	blocks  []Block
	opened  atomic.Int64
	tallied atomic.Int64 // tallies that were asked for
}

// newMemSource cuts rows into blocks of up to size rows; rnd chooses how columns are stored.
func newMemSource(types []Type, rows [][]any, size int, rnd *rand.Rand) *memSource {
	s := &memSource{types: types, rows: rows}
	for from := 0; from < len(rows); from += size {
		part := rows[from:min(len(rows), from+size)]
		b := &memBlock{source: s, rows: len(part), to: len(part), partition: int64(from / size / 2)}
		// Rows that are cut off on both sides.
		if rnd != nil && rnd.IntN(3) == 0 {
			junk := part[rnd.IntN(len(part))]
			pad := rnd.IntN(70)
			part = append(slices.Repeat([][]any{junk}, pad), append(slices.Clone(part), junk)...)
			b.from, b.to, b.rows = pad, len(part)-1, len(part)
		}
		b.tallies = rnd != nil && rnd.IntN(2) == 0
		for c, t := range types {
			vals := make([]any, len(part))
			for i, r := range part {
				vals[i] = r[c]
			}
			b.cols = append(b.cols, vectorOf(t, vals, rnd))
			b.vals = append(b.vals, vals[b.from:b.to])
		}
		s.blocks = append(s.blocks, b)
	}
	return s
}

func (s *memSource) scan() *Scan {
	n := &Scan{Table: &catalog.Table{}, Source: s, Types: s.types}
	for i := range s.types {
		n.Columns = append(n.Columns, scan.Column{Kind: scan.Expanded, Index: i})
	}
	return n
}

func (s *memSource) Blocks(context.Context, *catalog.Table, []scan.Column, scan.Expr) ([]Block, error) {
	return s.blocks, nil
}

type memBlock struct {
	source    *memSource
	rows      int
	from, to  int
	partition int64
	cols      []vector.Vector
	vals      [][]any
	noStats   bool
	tallies   bool
}

func (b *memBlock) Rows() int { return b.rows }

func (b *memBlock) Stats(c scan.Column) (Stats, bool) {
	if c.Kind == scan.Partition {
		p := Const{T: Type{Kind: vector.Int}, Int: b.partition}
		return Stats{HasMin: true, HasMax: true, Min: p, Max: p}, true
	}
	if b.noStats {
		return Stats{}, false
	}
	t := b.source.types[c.Index]
	s := Stats{Exact: b.from == 0 && b.to == b.rows}
	var lo, hi any
	var sum wideint.Int256
	for _, v := range b.vals[c.Index] {
		if v == nil {
			s.Nulls++
			continue
		}
		if lo == nil || compareAny(v, lo) < 0 {
			lo = v
		}
		if hi == nil || compareAny(v, hi) > 0 {
			hi = v
		}
		switch v := v.(type) {
		case int64:
			sum.Add(wideint.From64(v))
		case wideint.Int256:
			sum.Add(v)
		}
	}
	if lo != nil {
		s.HasMin, s.HasMax = true, true
		s.Min, s.Max = constAny(t, lo), constAny(t, hi)
	}
	if s.Exact && (t.Kind == vector.Int || t.Kind == vector.Decimal128) {
		s.HasSum = true
		s.Sum = Const{T: Type{Kind: vector.Decimal256, Scale: t.Scale}, Dec: sum.Num()}
	}
	return s, true
}

// Tally implements Tallier.
func (b *memBlock) Tally(ctx context.Context, c scan.Column) (*Tally, error) {
	if !b.tallies || b.from != 0 || b.to != b.rows {
		return nil, ctx.Err()
	}
	b.source.tallied.Add(1)
	y := &Tally{}
	var vals []any
	for i, x := range b.vals[c.Index] {
		k := slices.IndexFunc(vals, func(v any) bool {
			return v == nil && x == nil || v != nil && x != nil && compareAny(v, x) == 0
		})
		if k < 0 {
			k = len(vals)
			vals, y.Rows, y.Firsts = append(vals, x), append(y.Rows, 0), append(y.Firsts, int32(i))
		}
		y.Rows[k]++
	}
	if len(vals) > 300 {
		return nil, nil
	}
	y.Values = vectorOf(b.source.types[c.Index], vals, nil)
	return y, nil
}

// Sums implements Tallier: of tallies of few values.
func (b *memBlock) Sums(ctx context.Context, by, of scan.Column) (*Sums, error) {
	y, err := b.Tally(ctx, by)
	t := b.source.types[of.Index]
	if y == nil || err != nil || len(y.Rows) > 64 || t.Kind != vector.Int && t.Kind != vector.Decimal128 {
		return nil, err
	}
	s := &Sums{Rows: make([]int64, len(y.Rows)), Sum: make([]decimal128.Num, len(y.Rows))}
	least, most := make([]any, len(y.Rows)), make([]any, len(y.Rows))
	for k := range y.Rows {
		var sum wideint.Int256
		key := anyAt(&y.Values, k)
		for i, x := range b.vals[of.Index] {
			if by := b.vals[by.Index][i]; x == nil || (key == nil) != (by == nil) || key != nil && compareAny(key, by) != 0 {
				continue
			}
			if s.Rows[k]++; s.Rows[k] == 1 || compareAny(x, least[k]) < 0 {
				least[k] = x
			}
			if s.Rows[k] == 1 || compareAny(x, most[k]) > 0 {
				most[k] = x
			}
			switch x := x.(type) {
			case int64:
				sum.Add(wideint.From64(x))
			case wideint.Int256:
				sum.Add(x)
			}
		}
		if low := sum.Num128(); sum != (wideint.Int128{Lo: low.LowBits(), Hi: low.HighBits()}).Wide() {
			return nil, nil
		}
		s.Sum[k] = sum.Num128()
	}
	s.Min, s.Max = vectorOf(t, least, nil), vectorOf(t, most, nil)
	return s, nil
}

// WillNeedSums implements Tallier.
func (b *memBlock) WillNeedSums(scan.Column, []scan.Column) bool { return false }

func (b *memBlock) MayContain(c scan.Column, v Const) bool {
	for _, x := range b.vals[c.Index] {
		if x != nil && compareAny(x, anyOfConst(v)) == 0 {
			return true
		}
	}
	return false
}

func (b *memBlock) Open(ctx context.Context, cols []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	b.source.opened.Add(int64(len(cols)))
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = &b.cols[c.Index]
	}
	return out, b.from, b.to, func() {}, ctx.Err()
}

func anyOfConst(c Const) any {
	if c.Null {
		return nil
	}
	switch c.T.Kind {
	case vector.Int:
		return c.Int
	case vector.Uint:
		return c.Uint
	case vector.Float:
		return c.Float
	case vector.String:
		return string(c.Bytes)
	}
	return wideint.From256(c.Dec)
}

func constAny(t Type, v any) Const {
	c := Const{T: t}
	switch v := v.(type) {
	case nil:
		c.Null = true
	case int64:
		c.Int = v
	case uint64:
		c.Uint = v
	case float64:
		c.Float = v
	case string:
		c.Bytes = []byte(v)
	case wideint.Int256:
		c.Dec = v.Num()
	}
	return c
}

// anyAt is row i of v.
func anyAt(v *vector.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Kind {
	case vector.Int:
		return v.Int(i)
	case vector.Uint:
		return v.Uint64[at(v, i)]
	case vector.Float:
		return v.Float64[at(v, i)]
	case vector.String:
		return string(v.Text(i))
	}
	return decOf(v, i)
}

// vectorOf stores values in some form that their type allows.
func vectorOf(t Type, vals []any, rnd *rand.Rand) vector.Vector {
	roll := func(n int) int {
		if rnd == nil {
			return 0
		}
		return rnd.IntN(n)
	}
	v := vector.Vector{Kind: t.Kind, Scale: t.Scale, Len: len(vals)}
	if roll(4) == 0 && !slices.ContainsFunc(vals, func(x any) bool { return x != vals[0] }) {
		c, err := constVector(constAny(t, vals[0]))
		if err != nil {
			panic(err)
		}
		c.Len = len(vals)
		if vals[0] == nil {
			c.Nulls = len(vals)
		}
		return c
	}
	v.First = roll(2) * roll(130)
	valid := make([]uint64, words(v.First+len(vals)))
	for i, x := range vals {
		setValid(valid, v.First+i, x != nil)
		if x == nil {
			v.Nulls++
		}
	}
	if v.Nulls > 0 || roll(3) == 0 {
		v.Valid = valid
		if roll(2) == 0 {
			v.Nulls = -1
		}
	}
	switch t.Kind {
	case vector.Int:
		lo, hi := int64(0), int64(0)
		first := true
		for _, x := range vals {
			if x, ok := x.(int64); ok {
				if first {
					lo, hi, first = x, x, false
				}
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		span := uint64(hi) - uint64(lo)
		width := 0
		switch {
		case span < 1<<8:
			width = roll(4)
		case span < 1<<16:
			width = roll(3)
		case span < 1<<32:
			width = roll(2)
		}
		bias := []int64{0, 1 << 31, 1 << 15, 1 << 7}[width]
		if width > 0 {
			if v.Base = lo + bias; v.Base < lo {
				width, v.Base = 0, 0
			}
		}
		if width > 0 && v.Base > 1<<62 {
			width, v.Base = 0, 0
		}
		for _, x := range vals {
			k, ok := x.(int64)
			if !ok {
				k = []int64{lo, hi}[roll(2)]
			}
			switch width {
			case 0:
				v.Int64 = append(v.Int64, k)
			case 1:
				v.Int32 = append(v.Int32, int32(k-v.Base))
			case 2:
				v.Int16 = append(v.Int16, int16(k-v.Base))
			case 3:
				v.Int8 = append(v.Int8, int8(k-v.Base))
			}
		}
	case vector.Uint:
		for _, x := range vals {
			k, _ := x.(uint64)
			v.Uint64 = append(v.Uint64, k)
		}
	case vector.Float:
		for _, x := range vals {
			k, _ := x.(float64)
			v.Float64 = append(v.Float64, k)
		}
	case vector.Decimal128:
		for _, x := range vals {
			k, _ := x.(wideint.Int256)
			v.Dec128 = append(v.Dec128, k.Num128())
		}
	case vector.Decimal256:
		for _, x := range vals {
			k, _ := x.(wideint.Int256)
			v.Dec256 = append(v.Dec256, k.Num())
		}
	case vector.String:
		if rnd != nil && roll(3) > 0 || rnd == nil {
			dictionary(&v, vals, roll(3))
			break
		}
		v.Offsets = []uint32{0}
		for _, x := range vals {
			k, _ := x.(string)
			v.Bytes = append(v.Bytes, k...)
			v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
		}
	}
	return v
}

func dictionary(v *vector.Vector, vals []any, width int) {
	codes := map[string]int{}
	d := &vector.Dict{Offsets: []uint32{0}}
	var list []int
	for _, x := range vals {
		k, ok := x.(string)
		if !ok && len(codes) > 0 {
			list = append(list, 0)
			continue
		}
		c, ok := codes[k]
		if !ok {
			c = len(codes)
			codes[k] = c
			d.Bytes = append(d.Bytes, k...)
			d.Offsets = append(d.Offsets, uint32(len(d.Bytes)))
		}
		list = append(list, c)
	}
	if len(codes) > 256 {
		width = max(width, 1)
	}
	if len(codes) > 65536 {
		width = 2
	}
	v.Dict = d
	for _, c := range list {
		switch width {
		case 0:
			v.Code8 = append(v.Code8, uint8(c))
		case 1:
			v.Code16 = append(v.Code16, uint16(c))
		default:
			v.Code32 = append(v.Code32, uint32(c))
		}
	}
}

// compareAny orders two values of one type, neither NULL.
func compareAny(a, b any) int {
	switch a := a.(type) {
	case int64:
		b := b.(int64)
		return b2i(a > b) - b2i(a < b)
	case uint64:
		b := b.(uint64)
		return b2i(a > b) - b2i(a < b)
	case float64:
		b := b.(float64)
		return b2i(a > b) - b2i(a < b)
	case string:
		return bytes.Compare([]byte(a), []byte(b.(string)))
	}
	return a.(wideint.Int256).Cmp(b.(wideint.Int256))
}
