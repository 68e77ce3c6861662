package columns

import (
	"fmt"
	"math"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// maxText is the most text that a column of a block has: a vector's offsets have 32 bits. Only blocks of compressed batches
// can have more.
const maxText = math.MaxUint32

// tooMuchText says that a block has more.
func tooMuchText(b *block) error {
	return fmt.Errorf("%w: more than 4 GiB of text in a column of %v", scan.ErrMemory, b)
}

// textBytes is how much text an array has.
func textBytes(a arrow.Array) int64 {
	switch a := a.(type) {
	case *array.String:
		return int64(len(a.ValueBytes()))
	case *array.Binary:
		return int64(len(a.ValueBytes()))
	}
	return 0
}

// gatherer joins pieces of a column into one vector.
type gatherer struct {
	t     exec.Type
	rows  int
	n     int
	valid []uint64

	ints   []int64
	uints  []uint64
	floats []float64
	dec128 []decimal128.Num
	dec256 []decimal256.Num
	texts  vector.Texts
}

func newGatherer(t exec.Type, rows int) *gatherer {
	g := &gatherer{t: t, rows: rows, valid: make([]uint64, (rows+63)/64)}
	switch t.Kind {
	case vector.Int:
		g.ints = make([]int64, rows)
	case vector.Uint:
		g.uints = make([]uint64, rows)
	case vector.Float:
		g.floats = make([]float64, rows)
	case vector.Decimal128:
		g.dec128 = make([]decimal128.Num, rows)
	case vector.Decimal256:
		g.dec256 = make([]decimal256.Num, rows)
	case vector.String:
		g.texts.Reserve(rows)
	}
	return g
}

func (g *gatherer) set(i int) { g.valid[i>>6] |= 1 << (i & 63) }

// take returns what was gathered.
func (g *gatherer) take() *vector.Vector {
	if g.n != g.rows {
		panic(fmt.Sprintf("columns: %d rows of %d", g.n, g.rows))
	}
	var v vector.Vector
	switch g.t.Kind {
	case vector.Int:
		v = vector.OfInts(g.ints, g.valid)
	case vector.Uint:
		v = vector.OfUints(g.uints, g.valid)
	case vector.Float:
		v = vector.OfFloats(g.floats, g.valid)
	case vector.Decimal128:
		v = vector.OfDec128(g.dec128, g.t.Scale, g.valid)
	case vector.Decimal256:
		v = vector.OfDec256(g.dec256, g.t.Scale, g.valid)
	case vector.String:
		v = g.texts.Take(g.rows, g.valid)
	}
	return &v
}

// add appends an array.
func (g *gatherer) add(a arrow.Array) {
	n := a.Len()
	at := g.n
	g.n += n
	for i := range n {
		if a.IsValid(i) {
			g.set(at + i)
		}
	}
	switch a := a.(type) {
	case *array.Boolean:
		for i := range n {
			if a.Value(i) {
				g.ints[at+i] = 1
			}
		}
	case *array.Int32:
		for i, x := range a.Int32Values() {
			g.ints[at+i] = int64(x)
		}
	case *array.Int64:
		copy(g.ints[at:], a.Int64Values())
	case *array.Date32:
		for i, x := range a.Date32Values() {
			g.ints[at+i] = int64(x)
		}
	case *array.Timestamp:
		for i, x := range a.TimestampValues() {
			g.ints[at+i] = int64(x)
		}
	case *array.Duration:
		for i, x := range a.DurationValues() {
			g.ints[at+i] = int64(x)
		}
	case *array.Uint64:
		copy(g.uints[at:], a.Uint64Values())
	case *array.Float64:
		copy(g.floats[at:], a.Float64Values())
	case *array.Decimal128:
		copy(g.dec128[at:], a.Values())
	case *array.Decimal256:
		copy(g.dec256[at:], a.Values())
	case *array.String:
		data, offs := a.ValueBytes(), a.ValueOffsets()
		g.addTexts(a, data, offs, at)
	case *array.Binary:
		data, offs := a.ValueBytes(), a.ValueOffsets()
		g.addTexts(a, data, offs, at)
	default:
		panic(fmt.Sprintf("columns: no vector of %s", a.DataType()))
	}
}

func (g *gatherer) addTexts(a arrow.Array, data []byte, offs []int32, at int) {
	if len(offs) == 0 {
		return
	}
	base := offs[0]
	for i := range a.Len() {
		if a.IsValid(i) {
			g.texts.Put(at+i, data[offs[i]-base:offs[i+1]-base])
		}
	}
}

// fromArrow makes one vector of a column's record batches.
func fromArrow(t exec.Type, chunks []arrow.Array, rows int) *vector.Vector {
	g := newGatherer(t, rows)
	for _, a := range chunks {
		g.add(a)
	}
	return g.take()
}
