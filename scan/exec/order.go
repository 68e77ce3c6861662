package exec

import (
	"bytes"
	"cmp"

	"millrace/internal/vector"
)

// compareRows orders row i of a against row j of b, of one type: NULL is lowest.
func compareRows(a *vector.Vector, i int, b *vector.Vector, j int) int {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		return b2i(bn) - b2i(an)
	}
	switch a.Kind {
	case vector.Int:
		return cmp.Compare(a.Int(i), b.Int(j))
	case vector.Uint:
		return cmp.Compare(a.Uint64[at(a, i)], b.Uint64[at(b, j)])
	case vector.Float:
		x, y := a.Float64[at(a, i)], b.Float64[at(b, j)]
		return b2i(x > y) - b2i(x < y)
	case vector.String:
		return bytes.Compare(a.Text(i), b.Text(j))
	}
	return decOf(a, i).Cmp(decOf(b, j))
}
