package columns

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/segment/colfile"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Sums are what columns of numbers come to for each value of a column's tally. Of blocks that go to a file they are made together: columns
// with few values each are combined to one of at most cellsAtOnce values, rows are added up once for all combinations, and those of a value
// put together after.
const (
	// sumValues is how many values a tally has at most that numbers are summed up for. Columns of more are seldom grouped by, and
	// their sums are large.
	sumValues = 64
	// sumTallies and sumNumbers are how many columns of a block there are sums for the values of, and of: the first ones of the table. With all
	// of these a block takes some ten milliseconds more to be written, and a hundred kilobytes.
	sumTallies = 16
	sumNumbers = 24
	// cellsAtOnce are 32 KiB of sums, which stay close to the processor: with twice as many it takes a quarter longer.
	cellsAtOnce = 1024
	// sumRows are added up between two looks at who else wants the processor.
	sumRows = 32 << 10
)

// sumsKey is where sums are kept in the cache.
func sumsKey(by, of string) string { return "\x02" + strconv.Itoa(len(by)) + ":" + by + of }

// Sums implements exec.Tallier.
func (w *view) Sums(ctx context.Context, by, of scan.Column) (*exec.Sums, error) {
	key, ofKey := w.key(by), w.key(of)
	if key == "" || ofKey == "" || !w.whole() || w.b.private || !summable(TypeOf(w.t, of)) {
		return nil, nil
	}
	cache := w.s.set.cache
	kept := make([]*column, 1)
	if cache.pin(w.b, []string{sumsKey(key, ofKey)}, kept) {
		s := kept[0].sums
		cache.unpin(kept)
		return s, nil
	}
	made := &column{b: w.b, key: sumsKey(key, ofKey), bytes: tallyOverhead}
	var err error
	if made.sums, err = w.makeSums(ctx, by, of); err != nil {
		return nil, err
	}
	if s := made.sums; s != nil {
		made.bytes += 24*int64(len(s.Rows)) + s.Min.SizeBytes() + s.Max.SizeBytes()
	}
	cache.unpin([]*column{cache.put(made)})
	return made.sums, nil
}

// makeSums are those that the block's file has, or that its columns come to.
func (w *view) makeSums(ctx context.Context, by, of scan.Column) (*exec.Sums, error) {
	from, known := w.sumsInFile(by, of)
	if known && !from {
		return nil, nil
	}
	y, err := w.Tally(ctx, by)
	if y == nil || err != nil || len(y.Rows) > sumValues {
		return nil, err
	}
	if from {
		if s := w.sumsFromFile(w.key(by), w.key(of), y); s != nil {
			return s, nil
		}
	}
	vecs, first, end, release, err := w.Open(ctx, []scan.Column{by, of})
	if err != nil {
		return nil, err
	}
	defer release()
	if first != 0 || end != vecs[0].Len || !combinable(vecs[0]) {
		return nil, nil
	}
	m := &summing{}
	m.begin(end)
	if err := m.combine(0, vecs[0], y); err != nil {
		return nil, err
	}
	m.count()
	all, err := m.sums(vecs[1])
	if err != nil || all[0] == nil {
		return nil, err
	}
	return sumsOf(all[0], vecs[1].Kind, vecs[1].Scale), nil
}

func summable(t exec.Type) bool { return t.Kind == vector.Int || t.Kind == vector.Decimal128 }

// sumsInFile says whether the block's file has the sums; not known: there is no file, or it does not tell.
func (w *view) sumsInFile(by, of scan.Column) (has, known bool) {
	x := w.inFile()
	if x == nil {
		return false, false
	}
	defer x.f.release()
	i, j := x.f.r.Column(w.key(by)), x.f.r.Column(w.key(of))
	if i < 0 || j < 0 {
		return false, false
	}
	return x.f.r.HasSums(x.i, i, j)
}

// sumsFromFile are the sums that the block's file has; nil: it is damaged.
func (w *view) sumsFromFile(by, of string, y *exec.Tally) *exec.Sums {
	x := w.inFile()
	if x == nil {
		return nil
	}
	defer x.f.release()
	i, j := x.f.r.Column(by), x.f.r.Column(of)
	if i < 0 || j < 0 {
		return nil
	}
	s, err := x.f.r.Sums(x.i, i, j, tallyToFile(y))
	if err != nil {
		x.f.damaged(err)
	}
	if s == nil {
		return nil
	}
	return sumsOf(s, x.f.r.Columns[j].Kind, int32(x.f.r.Columns[j].Scale))
}

// WillNeedSums implements exec.Tallier.
func (w *view) WillNeedSums(by scan.Column, of []scan.Column) bool {
	key := w.key(by)
	if key == "" || !w.whole() || w.b.private {
		return false
	}
	cache := w.s.set.cache
	here := cache.hasColumn(w.b, tallyKey(key))
	var missing []scan.Column
	for _, c := range of {
		if !cache.hasColumn(w.b, sumsKey(key, w.key(c))) {
			missing = append(missing, c)
		}
	}
	if here && len(missing) == 0 {
		return true
	}
	x := w.inFile()
	if x == nil {
		return false
	}
	defer x.f.release()
	i := x.f.r.Column(key)
	if i < 0 {
		return false
	}
	if has, _ := x.f.r.HasTally(x.i, i); !here && !has {
		return false
	}
	for _, c := range missing {
		if has, _ := w.sumsInFile(by, c); !has {
			return false
		}
	}
	if !here {
		x.f.r.WillNeedTally(x.i, i)
	}
	if len(missing) > 0 {
		x.f.r.WillNeedSums(x.i, i)
	}
	return true
}

// sumsOf makes those that queries use.
func sumsOf(s *colfile.Sums, k vector.Kind, scale int32) *exec.Sums {
	return &exec.Sums{Rows: s.Rows, Sum: s.Sum, Min: numbersOf(s.Min, s.Rows, k, scale), Max: numbersOf(s.Max, s.Rows, k, scale)}
}

// numbersOf is a vector of integers or decimals, NULL where there are no rows.
func numbersOf(ints, rows []int64, k vector.Kind, scale int32) vector.Vector {
	valid := make([]uint64, (len(ints)+63)/64)
	for i, n := range rows {
		if n > 0 {
			valid[i>>6] |= 1 << (i & 63)
		}
	}
	if k == vector.Int {
		return vector.OfInts(ints, valid)
	}
	out := make([]decimal128.Num, len(ints))
	for i, x := range ints {
		out[i] = decimal128.FromI64(x)
	}
	return vector.OfDec128(out, scale, valid)
}

// block makes the sums that go to a file with the columns cols of a block: by column that there is a tally of, and by column that is summed up.
func (m *summing) block(ctx context.Context, pace func(context.Context) error, cols []scan.Column, vecs []*vector.Vector, tallies []*exec.Tally) ([][]*colfile.Sums, error) {
	out := make([][]*colfile.Sums, len(cols))
	var by, single, of []int
	for i, v := range vecs {
		switch y := tallies[i]; {
		case y == nil || len(y.Rows) > sumValues:
		case len(y.Rows) == 1:
			single = append(single, i)
		default:
			by = append(by, i)
		}
		if (v.Kind == vector.Int || v.Kind == vector.Decimal128) && cols[i].Kind != scan.Partition && cols[i].Kind != scan.Offset && len(of) < sumNumbers {
			of = append(of, i)
		}
	}
	by = append(by, single...)
	by = by[:min(len(by), sumTallies)]
	m.pace = func() error { return pace(ctx) }
	defer func() { m.pace = nil }()
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(len(tallies[b].Rows), len(tallies[a].Rows)) })
	for len(by) > 0 {
		m.begin(vecs[0].Len)
		var rest []int
		for _, i := range by {
			if m.many*len(tallies[i].Rows) > cellsAtOnce {
				rest = append(rest, i)
				continue
			}
			if err := m.combine(i, vecs[i], tallies[i]); err != nil {
				return nil, err
			}
			out[i] = make([]*colfile.Sums, len(cols))
		}
		by = rest
		m.count()
		for _, j := range of {
			sums, err := m.sums(vecs[j])
			if err != nil {
				return nil, err
			}
			for k, d := range m.digits {
				out[d.column][j] = sums[k]
			}
		}
	}
	return out, nil
}

// summing makes sums of one block. Its memory is used again.
type summing struct {
	pace   func() error // called often, unless nil
	codes  []uint16     // by row: which combination of values
	digits []digit
	many   int      // combinations there are
	steps  []uint16 // by slot of a column: what it adds to the combination
	ints   []int64
	cells  [cellsAtOnce]sumCell
	rows   [cellsAtOnce]int64 // by combination, without those that have no number
	all    [cellsAtOnce]int64 // by combination
}

// digit is one of the tallies that are combined: of combination c it is value c / weight % len(tally.Rows).
type digit struct {
	column int // of the file
	tally  *exec.Tally
	weight int
}

// sumCell is what the numbers of one combination come to: low + high << 32.
type sumCell struct{ low, high, least, most int64 }

// begin forgets what was combined before.
func (m *summing) begin(rows int) {
	if cap(m.codes) < rows {
		m.codes = make([]uint16, rows)
	}
	m.codes = m.codes[:rows]
	clear(m.codes)
	m.digits, m.many = m.digits[:0], 1
}

// chunks calls f with the bounds of some rows after the other.
func (m *summing) chunks(f func(from, to int)) error {
	for from := 0; from < len(m.codes); from += sumRows {
		f(from, min(len(m.codes), from+sumRows))
		if m.pace != nil {
			if err := m.pace(); err != nil {
				return err
			}
		}
	}
	return nil
}

// combinable says whether a column has a form that tallies are made of. That of one that was read from a file need not have it.
func combinable(v *vector.Vector) bool {
	return v.Const || v.Code8 != nil || v.Code16 != nil || v.Code32 != nil || v.Int8 != nil || v.Int16 != nil
}

// combine adds column v, which is combinable and has tally y, to those that numbers are summed up by.
func (m *summing) combine(column int, v *vector.Vector, y *exec.Tally) error {
	step := func(k int) uint16 { return uint16(m.many * k) }
	defer func() {
		m.digits = append(m.digits, digit{column, y, m.many})
		m.many *= len(y.Rows)
	}()
	if v.Const {
		return nil
	}
	slots, bias := 1<<16, 1<<15 // of integers
	switch {
	case v.Dict != nil:
		slots, bias = v.Dict.Len(), 0
	case v.Int8 != nil:
		slots, bias = 1<<8, 1<<7
	}
	if cap(m.steps) < slots {
		m.steps = make([]uint16, slots)
	}
	steps, null := m.steps[:slots], uint16(0)
	if v.Dict != nil {
		places := make(map[string]int, len(y.Rows))
		for k := range y.Rows {
			if !y.Values.IsNull(k) {
				places[string(y.Values.Text(k))] = k
			}
		}
		for c := range slots {
			steps[c] = step(places[string(v.Dict.Value(c))])
		}
	}
	for k := range y.Rows {
		switch {
		case y.Values.IsNull(k):
			null = step(k)
		case v.Dict == nil:
			steps[int(y.Values.Int(k)-v.Base)+bias] = step(k)
		}
	}
	return m.chunks(func(from, to int) {
		switch {
		case v.Code8 != nil:
			addSteps(m.codes, v, v.Code8, from, to, steps, bias, null)
		case v.Code16 != nil:
			addSteps(m.codes, v, v.Code16, from, to, steps, bias, null)
		case v.Code32 != nil:
			addSteps(m.codes, v, v.Code32, from, to, steps, bias, null)
		case v.Int8 != nil:
			addSteps(m.codes, v, v.Int8, from, to, steps, bias, null)
		case v.Int16 != nil:
			addSteps(m.codes, v, v.Int16, from, to, steps, bias, null)
		}
	})
}

// count counts the rows of each combination.
func (m *summing) count() {
	clear(m.all[:m.many])
	for _, g := range m.codes {
		m.all[g%cellsAtOnce]++
	}
}

// addSteps adds to the combinations of rows [from, to) what their slots stand for, null where v is NULL.
func addSteps[T int8 | int16 | uint8 | uint16 | uint32](codes []uint16, v *vector.Vector, slots []T, from, to int, steps []uint16, bias int, null uint16) {
	codes, slots = codes[from:to], slots[from:to]
	if v.Valid == nil {
		for i, x := range slots {
			codes[i] += steps[int(x)+bias]
		}
		return
	}
	for i, x := range slots {
		step := steps[int(x)+bias]
		if at := v.First + from + i; v.Valid[at>>6]>>(at&63)&1 == 0 {
			step = null
		}
		codes[i] += step
	}
}

// sums of v for each value of each of what is combined, by that; nil where v has none.
func (m *summing) sums(v *vector.Vector) ([]*colfile.Sums, error) {
	out := make([]*colfile.Sums, len(m.digits))
	if v.Const {
		x, ok := int64(0), v.IsNull(0)
		if !ok {
			x, ok = constNumber(v)
		}
		for i := range m.digits {
			if ok {
				out[i] = constSums(m.digits[i].tally, x, v.IsNull(0))
			}
		}
		return out, nil
	}
	if v.Valid == nil && v.Dec128 == nil && v.Int64 == nil {
		m.rows = m.all
	} else {
		clear(m.rows[:m.many])
	}
	for i := range m.cells[:m.many] {
		m.cells[i] = sumCell{least: math.MaxInt64, most: math.MinInt64}
	}
	fits := true
	err := m.chunks(func(from, to int) {
		switch {
		case v.Int8 != nil:
			addNarrow(m, v, v.Int8, from, to)
		case v.Int16 != nil:
			addNarrow(m, v, v.Int16, from, to)
		case v.Int32 != nil:
			addNarrow(m, v, v.Int32, from, to)
		case v.Int64 != nil:
			m.addWide(v, v.Int64[from:to], from)
		case v.Dec128 != nil:
			fits = fits && m.unscaled(v, from, to)
			if fits {
				m.addWide(v, m.ints, from)
			}
		default:
			fits = false
		}
	})
	if err != nil || !fits {
		return out, err
	}
	for i := range out {
		out[i] = m.gather(m.digits[i], v.Base)
	}
	return out, nil
}

// addNarrow adds rows [from, to) of v up.
func addNarrow[T int8 | int16 | int32](m *summing, v *vector.Vector, slots []T, from, to int) {
	slots, codes := slots[from:to], m.codes[from:to]
	if v.Valid == nil {
		codes = codes[:len(slots)]
		for i, x := range slots {
			c, x := &m.cells[codes[i]%cellsAtOnce], int64(x)
			c.low += x
			if x < c.least {
				c.least = x
			}
			if x > c.most {
				c.most = x
			}
		}
		return
	}
	for i, x := range slots {
		if at := v.First + from + i; v.Valid[at>>6]>>(at&63)&1 == 0 {
			continue
		}
		g := codes[i] % cellsAtOnce
		m.rows[g]++
		c, x := &m.cells[g], int64(x)
		c.low += x
		if x < c.least {
			c.least = x
		}
		if x > c.most {
			c.most = x
		}
	}
}

// addWide adds rows of v up, from that one on; a million of their halves fit an integer.
func (m *summing) addWide(v *vector.Vector, ints []int64, from int) {
	codes := m.codes[from:][:len(ints)]
	for i, x := range ints {
		if v.Valid != nil {
			if at := v.First + from + i; v.Valid[at>>6]>>(at&63)&1 == 0 {
				continue
			}
		}
		g := codes[i] % cellsAtOnce
		m.rows[g]++
		c := &m.cells[g]
		c.low += x & math.MaxUint32
		c.high += x >> 32
		if x < c.least {
			c.least = x
		}
		if x > c.most {
			c.most = x
		}
	}
}

// unscaled puts rows [from, to) of a decimal column into m.ints; false when one does not fit.
func (m *summing) unscaled(v *vector.Vector, from, to int) bool {
	m.ints = m.ints[:0]
	for i, x := range v.Dec128[from:to] {
		k := int64(x.LowBits())
		if x.HighBits() != k>>63 && !v.IsNull(from+i) {
			return false
		}
		m.ints = append(m.ints, k)
	}
	return true
}

// gather puts together what the combinations with each value of d come to, of numbers that are base less than they are.
func (m *summing) gather(d digit, base int64) *colfile.Sums {
	n := len(d.tally.Rows)
	out := &colfile.Sums{Rows: make([]int64, n), Sum: make([]decimal128.Num, n), Min: make([]int64, n), Max: make([]int64, n)}
	for g, c := range m.cells[:m.many] {
		rows := m.rows[g]
		if rows == 0 {
			continue
		}
		i := g / d.weight % n
		if out.Rows[i] == 0 {
			out.Min[i], out.Max[i] = base+c.least, base+c.most
		}
		out.Min[i], out.Max[i] = min(out.Min[i], base+c.least), max(out.Max[i], base+c.most)
		out.Rows[i] += rows
		out.Sum[i] = out.Sum[i].Add(decimal128.FromI64(c.low)).Add(decimal128.FromI64(c.high).Mul(decimal128.FromI64(1 << 32)))
	}
	for i, rows := range out.Rows {
		out.Sum[i] = out.Sum[i].Add(decimal128.FromI64(base).Mul(decimal128.FromI64(rows)))
	}
	return out
}

// constNumber is the number that every row of v is; false when it does not fit.
func constNumber(v *vector.Vector) (int64, bool) {
	if v.Kind == vector.Int {
		return v.Int(0), true
	}
	x := v.Dec128[0]
	k := int64(x.LowBits())
	return k, x.HighBits() == k>>63
}

// constSums are those of a column of which every row is x, or NULL.
func constSums(y *exec.Tally, x int64, null bool) *colfile.Sums {
	n := len(y.Rows)
	out := &colfile.Sums{Rows: make([]int64, n), Sum: make([]decimal128.Num, n), Min: make([]int64, n), Max: make([]int64, n)}
	if null {
		return out
	}
	for i, rows := range y.Rows {
		out.Rows[i], out.Min[i], out.Max[i] = rows, x, x
		out.Sum[i] = decimal128.FromI64(x).Mul(decimal128.FromI64(rows))
	}
	return out
}
