package scan

import "github.com/apache/arrow-go/v18/arrow/decimal256"

// inKernel is column IN (values), null saying that the list also held a NULL.
func inKernel(v *vector, values []Literal, null bool, out []Tri) {
	miss := False
	if null {
		miss = Null
	}
	switch {
	case v.ints != nil:
		inSet(v.ints, values, func(c Literal) int64 { return c.Int }, miss, out)
	case v.uints != nil:
		inSet(v.uints, values, func(c Literal) uint64 { return c.Uint }, miss, out)
	case v.floats != nil:
		inSet(v.floats, values, func(c Literal) float64 { return c.Float }, miss, out)
	case v.decimals != nil:
		set := make(map[decimal256.Num]struct{}, len(values))
		for _, c := range values {
			set[c.Decimal] = struct{}{}
		}
		for i := range out {
			_, ok := set[v.decimals.decimal(i)]
			out[i] = hit(ok, miss)
		}
	case v.strings != nil:
		set := make(map[string]struct{}, len(values))
		for _, c := range values {
			set[c.String] = struct{}{}
		}
		for i := range out {
			_, ok := set[v.strings.Value(i)]
			out[i] = hit(ok, miss)
		}
	default:
		fill(out, Null)
	}
	maskNulls(v, out)
}

func hit(ok bool, miss Tri) Tri {
	if ok {
		return True
	}
	return miss
}

// inSet takes a list of a few values straight on and makes a set of a longer one.
func inSet[T comparable](vals []T, values []Literal, of func(Literal) T, miss Tri, out []Tri) {
	const few = 8
	vals = vals[:len(out)]
	if len(values) <= few {
		fill(out, miss)
		for _, c := range values {
			c := of(c)
			for i, x := range vals {
				if x == c {
					out[i] = True
				}
			}
		}
		return
	}
	set := make(map[T]struct{}, len(values))
	for _, c := range values {
		set[of(c)] = struct{}{}
	}
	for i, x := range vals {
		_, ok := set[x]
		out[i] = hit(ok, miss)
	}
}
