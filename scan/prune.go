package scan

import (
	"math"

	"millrace/store"
	"millrace/store/state"
)

// Range is what a filter leaves of one partition: no row outside it can match. It
// is an over-estimate; the filter is still evaluated.
type Range struct {
	Partition                  int32
	FromOffset, ToOffset       int64        // [From, To)
	MinTimestamp, MaxTimestamp state.Millis // [Min, Max], closed; the int64 limits: no bound
}

// Batches is the range as the store takes it.
func (r Range) Batches() store.BatchRange {
	return store.BatchRange{
		FromOffset: r.FromOffset, ToOffset: r.ToOffset,
		MinTimestamp: r.MinTimestamp, MaxTimestamp: r.MaxTimestamp,
	}
}

// Ranges lists the partitions, in ascending order, that can hold matching rows,
// with what must be read of each. Timestamps are not sorted in a partition, so a
// filter on _timestamp never narrows offsets.
func Ranges(req *Request) []Range {
	var out []Range
	for p := int32(0); p < req.Table.Topic.Partitions; p++ {
		r := Range{
			Partition: p, ToOffset: math.MaxInt64,
			MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
		}
		if narrow(req.Filter, true, &r) {
			out = append(out, r)
		}
	}
	return out
}

// narrow cuts r down to where e can be want (true or false), and says whether
// anything is left. Leaves that it does not understand leave r as it is.
func narrow(e Expr, want bool, r *Range) bool {
	switch e := e.(type) {
	case And:
		if want {
			return narrowAll(e.Args, want, r)
		}
		return narrowAny(e.Args, want, r)
	case Or:
		if want {
			return narrowAny(e.Args, want, r)
		}
		return narrowAll(e.Args, want, r)
	case Not:
		return narrow(e.Arg, !want, r)
	case Const:
		return e.Value == tri(want)
	case IsNull:
		if e.Column.Kind == Partition || e.Column.Kind == Offset {
			return !want
		}
	case Compare:
		op := e.Op
		if !want {
			op = op.negate()
		}
		switch e.Column.Kind {
		case Partition:
			return compareInt(int64(r.Partition), op, e.Value.Int)
		case Offset:
			// A closed interval first: the offsets lie far from the limits.
			lo, hi, ok := cut(r.FromOffset, r.ToOffset-1, op, e.Value.Int)
			r.FromOffset, r.ToOffset = lo, hi+1
			return ok
		case Timestamp:
			lo, hi, ok := cut(r.MinTimestamp, r.MaxTimestamp, op, e.Value.Int)
			r.MinTimestamp, r.MaxTimestamp = lo, hi
			return ok
		}
	case In:
		if !want {
			if e.Column.Kind == Partition {
				for _, v := range e.Values {
					if v.Int == int64(r.Partition) {
						return false
					}
				}
				return !e.Null
			}
			return true
		}
		args := make([]Expr, len(e.Values))
		for i, v := range e.Values {
			args[i] = Compare{Column: e.Column, Op: EQ, Value: v}
		}
		return narrowAny(args, true, r)
	}
	return true
}

func narrowAll(args []Expr, want bool, r *Range) bool {
	for _, a := range args {
		if !narrow(a, want, r) {
			return false
		}
	}
	return true
}

// narrowAny takes the hull of what each argument leaves.
func narrowAny(args []Expr, want bool, r *Range) bool {
	found := false
	var hull Range
	for _, a := range args {
		one := *r
		if !narrow(a, want, &one) {
			continue
		}
		if !found {
			found, hull = true, one
			continue
		}
		hull.FromOffset = min(hull.FromOffset, one.FromOffset)
		hull.ToOffset = max(hull.ToOffset, one.ToOffset)
		hull.MinTimestamp = min(hull.MinTimestamp, one.MinTimestamp)
		hull.MaxTimestamp = max(hull.MaxTimestamp, one.MaxTimestamp)
	}
	if found {
		*r = hull
	}
	return found
}

// cut narrows the closed interval [lo, hi] to the x with x op c.
func cut(lo, hi int64, op Op, c int64) (int64, int64, bool) {
	switch op {
	case EQ:
		lo, hi = max(lo, c), min(hi, c)
	case LT:
		if c == math.MinInt64 {
			return lo, hi, false
		}
		hi = min(hi, c-1)
	case LE:
		hi = min(hi, c)
	case GT:
		if c == math.MaxInt64 {
			return lo, hi, false
		}
		lo = max(lo, c+1)
	case GE:
		lo = max(lo, c)
	case NE:
		if lo == c && hi == c {
			return lo, hi, false
		}
	}
	return lo, hi, lo <= hi
}

func compareInt(x int64, op Op, c int64) bool {
	switch op {
	case EQ:
		return x == c
	case NE:
		return x != c
	case LT:
		return x < c
	case LE:
		return x <= c
	case GT:
		return x > c
	}
	return x >= c
}
