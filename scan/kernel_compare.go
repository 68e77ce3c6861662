package scan

import (
	"cmp"
	"strings"
)

// compareKernel is column op constant. What lies under a null is compared as
// well and masked afterwards, which keeps the loops free of branches.
func compareKernel(v *vector, op Op, c Literal, out []Tri) {
	switch {
	case v.ints != nil:
		compareOrdered(v.ints, op, c.Int, out)
	case v.uints != nil:
		compareOrdered(v.uints, op, c.Uint, out)
	case v.floats != nil:
		compareOrdered(v.floats, op, c.Float, out)
	case v.decimals != nil:
		for i := range out {
			out[i] = decide(op, v.decimals.decimal(i).Cmp(c.Decimal))
		}
	case v.strings != nil:
		compareStrings(v.strings, op, c.String, out)
	default:
		fill(out, Null) // an empty vector, or one that is null throughout
	}
	maskNulls(v, out)
}

func decide(op Op, order int) Tri {
	switch op {
	case EQ:
		return tri(order == 0)
	case NE:
		return tri(order != 0)
	case LT:
		return tri(order < 0)
	case LE:
		return tri(order <= 0)
	case GT:
		return tri(order > 0)
	}
	return tri(order >= 0)
}

func compareOrdered[T cmp.Ordered](vals []T, op Op, c T, out []Tri) {
	vals = vals[:len(out)]
	switch op {
	case EQ:
		for i, x := range vals {
			out[i] = tri(x == c)
		}
	case NE:
		for i, x := range vals {
			out[i] = tri(x != c)
		}
	case LT:
		for i, x := range vals {
			out[i] = tri(x < c)
		}
	case LE:
		for i, x := range vals {
			out[i] = tri(x <= c)
		}
	case GT:
		for i, x := range vals {
			out[i] = tri(x > c)
		}
	case GE:
		for i, x := range vals {
			out[i] = tri(x >= c)
		}
	}
}

// compareStrings compares bytes, which for valid UTF-8 is the order of code points:
// that of the _bin collations without padding.
func compareStrings(vals interface{ Value(int) string }, op Op, c string, out []Tri) {
	switch op {
	case EQ:
		for i := range out {
			out[i] = tri(vals.Value(i) == c)
		}
	case NE:
		for i := range out {
			out[i] = tri(vals.Value(i) != c)
		}
	default:
		for i := range out {
			out[i] = decide(op, strings.Compare(vals.Value(i), c))
		}
	}
}
