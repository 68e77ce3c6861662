package scan

import (
	"encoding/binary"
	"strings"

	"millrace/catalog"

	"github.com/apache/arrow-go/v18/arrow"
)

// groupIDs are the groups of a batch's rows; of is nil when there is only group 0.
type groupIDs struct {
	n  int
	of []int32
}

// grouper numbers groups in order of first sight. One Ints or Strings column has a map
// of its own; several are encoded into one key.
type grouper struct {
	place []int
	first []*values // the keys, one per column
	nulls [][]bool
	n     int
	bytes int64

	ints     map[int64]int32
	strings  map[string]int32
	nullAt   int32 // group of NULL of a single column; -1: none yet
	ids      groupIDs
	buf      []byte
	encoding bool
}

func newGrouper(t *catalog.Table, by []Column) *grouper {
	g := &grouper{nullAt: -1}
	for _, c := range by {
		if typ, err := c.Type(t); err == nil {
			g.first = append(g.first, newValues(typ))
		}
	}
	g.nulls = make([][]bool, len(by))
	switch {
	case len(by) == 0:
		g.n = 1
	case len(by) == 1 && DomainOf(t, by[0]) == Ints:
		g.ints = make(map[int64]int32)
	case len(by) == 1 && DomainOf(t, by[0]) == Strings:
		g.strings = make(map[string]int32)
	default:
		g.strings = make(map[string]int32)
		g.encoding = true
	}
	return g
}

// groups numbers the rows of a batch; valid until the next call.
func (g *grouper) groups(batch arrow.RecordBatch) *groupIDs {
	g.ids.n = int(batch.NumRows())
	if len(g.place) == 0 {
		return &g.ids
	}
	g.ids.of = grow(g.ids.of, g.ids.n)
	cols := make([]*vector, len(g.place))
	for i, at := range g.place {
		cols[i] = vectorOf(batch.Column(at))
	}
	switch {
	case g.encoding:
		g.encoded(cols)
	case g.ints != nil:
		g.single(cols[0], func(i int) int32 {
			x := cols[0].ints[i]
			id, ok := g.ints[x]
			if !ok {
				id = g.open(cols, i)
				g.ints[x] = id
			}
			return id
		})
	default:
		g.single(cols[0], func(i int) int32 {
			x := cols[0].strings.Value(i)
			id, ok := g.strings[x]
			if !ok {
				id = g.open(cols, i)
				g.strings[strings.Clone(x)] = id
				g.bytes += 2 * int64(len(x))
			}
			return id
		})
	}
	return &g.ids
}

func (g *grouper) single(col *vector, find func(i int) int32) {
	for i := range g.ids.of {
		if col.nulls != nil && col.nulls.IsNull(i) {
			if g.nullAt < 0 {
				g.nullAt = g.open([]*vector{col}, i)
			}
			g.ids.of[i] = g.nullAt
			continue
		}
		g.ids.of[i] = find(i)
	}
}

func (g *grouper) encoded(cols []*vector) {
	for i := range g.ids.of {
		key := g.buf[:0]
		for _, c := range cols {
			if c.nulls != nil && c.nulls.IsNull(i) {
				key = append(key, 0)
				continue
			}
			key = append(key, 1)
			switch {
			case c.ints != nil:
				key = binary.LittleEndian.AppendUint64(key, uint64(c.ints[i]))
			case c.uints != nil:
				key = binary.LittleEndian.AppendUint64(key, c.uints[i])
			case c.strings != nil:
				s := c.strings.Value(i)
				key = binary.AppendUvarint(key, uint64(len(s)))
				key = append(key, s...)
			}
		}
		g.buf = key
		id, ok := g.strings[string(key)]
		if !ok {
			id = g.open(cols, i)
			g.strings[string(key)] = id
			g.bytes += 2 * int64(len(key))
		}
		g.ids.of[i] = id
	}
}

// open makes a group of row i's key.
func (g *grouper) open(cols []*vector, i int) int32 {
	for c, col := range cols {
		g.first[c].add()
		null := col.nulls != nil && col.nulls.IsNull(i)
		g.nulls[c] = append(g.nulls[c], null)
		if !null {
			g.first[c].keep(col, i, g.n, true, 0)
		}
	}
	g.n++
	return int32(g.n - 1)
}

func (g *grouper) keys() []arrow.Array {
	out := make([]arrow.Array, len(g.first))
	for c, v := range g.first {
		out[c] = v.array(func(i int) bool { return g.nulls[c][i] })
	}
	return out
}
