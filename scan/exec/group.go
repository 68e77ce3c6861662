package exec

import (
	"millrace/internal/vector"
)

// keyTable numbers the different values of one column in order of first sight; NULL is one of them.
type keyTable interface {
	// ids sets out[k] to the number of v's row k.
	ids(v *vector.Vector, out []uint32)
	// len is how many there are.
	len() int
	// values are the values in the order of their numbers, valid until the next ids.
	values() vector.Vector
	// bytes is about what the table holds.
	bytes() int64
	// fits is scan.ErrMemory when there is more text than a vector has. values must not be called then.
	fits() error
}

// newKeyTable makes a table for values of type t. rows is how many are to be expected at
// most, 0: unknown.
func newKeyTable(t Type, rows int) keyTable {
	switch t.Kind {
	case vector.Int, vector.Uint, vector.Float:
		return newIntTable(t, rows)
	}
	return newTextTable(t)
}

// grouper numbers groups of rows by several keys. Each key column is numbered by itself; then
// numbers are paired: the first two columns' numbers get a number as a pair, this one with the
// third's, and so on. So only integers are hashed, whatever the keys are.
type grouper struct {
	tables []keyTable
	pairs  []*pairTable // one less than tables
	a, b   []uint32
}

func newGrouper(types []Type, rows int) *grouper {
	g := &grouper{}
	for i, t := range types {
		g.tables = append(g.tables, newKeyTable(t, rows))
		if i > 0 {
			g.pairs = append(g.pairs, newPairTable())
		}
	}
	return g
}

// ids numbers the rows of keys, n rows. Valid until the next call.
func (g *grouper) ids(keys []*vector.Vector, n int) []uint32 {
	a := grown(&g.a, n)
	g.tables[0].ids(keys[0], a)
	for i, p := range g.pairs {
		b := grown(&g.b, n)
		g.tables[i+1].ids(keys[i+1], b)
		p.ids(a, b)
	}
	return a
}

func (g *grouper) len() int {
	if len(g.pairs) > 0 {
		return g.pairs[len(g.pairs)-1].len()
	}
	return g.tables[0].len()
}

func (g *grouper) bytes() int64 {
	n := int64(0)
	for _, t := range g.tables {
		n += t.bytes()
	}
	for _, p := range g.pairs {
		n += p.bytes()
	}
	return n
}

func (g *grouper) fits() error {
	for _, t := range g.tables {
		if err := t.fits(); err != nil {
			return err
		}
	}
	return nil
}

// keys are the key columns of all groups, in the order of their numbers.
func (g *grouper) keys() []vector.Vector {
	out := make([]vector.Vector, len(g.tables))
	n := g.len()
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	for i := len(g.tables) - 1; i >= 0; i-- {
		v := g.tables[i].values()
		if i == 0 && len(g.pairs) == 0 {
			out[i] = v
			break
		}
		own := make([]int32, n)
		if i > 0 {
			p := g.pairs[i-1]
			for k, r := range rows {
				own[k] = int32(uint32(p.keys[r]))
				rows[k] = int32(p.keys[r] >> 32)
			}
		} else {
			copy(own, rows)
		}
		var c column
		out[i] = *c.gather(&v, own)
	}
	return out
}
