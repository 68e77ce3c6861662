package vector

// Ascending says whether v is of integers none of which is NULL or less than the one before it: times mostly are. Where they are not
// that shows after few of them.
func (v *Vector) Ascending() bool {
	if v.Kind != Int || v.HasNulls() || v.Const {
		return false
	}
	switch {
	case v.Int8 != nil:
		return ascending(v.Int8)
	case v.Int16 != nil:
		return ascending(v.Int16)
	case v.Int32 != nil:
		return ascending(v.Int32)
	}
	return ascending(v.Int64)
}

func ascending[T int8 | int16 | int32 | int64](vals []T) bool {
	for i := 1; i < len(vals); i++ {
		if vals[i] < vals[i-1] {
			return false
		}
	}
	return true
}
