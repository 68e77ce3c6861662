package scan

import (
	"fmt"

	"millrace/store/state"
)

// PartitionCount is what the bounds of a partition tell of the rows that match.
type PartitionCount struct {
	Partition            int32
	Rows                 int64 // > 0
	MinOffset, MaxOffset int64
}

// CountFromBounds counts the matching rows of each partition that has any, in
// ascending order, without reading a batch. ok is false when that is not
// possible: the filter looks at more than partition and offset, or a partition is
// not dense.
func CountFromBounds(req *Request) (counts []PartitionCount, ok bool, err error) {
	for _, c := range columnsOf(req.Filter, nil) {
		if c.Kind != Partition && c.Kind != Offset {
			return nil, false, nil
		}
	}
	topic := req.Table.Topic
	for p := range topic.Partitions {
		b, err := req.Source.Bounds(state.TopicPartition{Topic: topic.ID, Partition: p})
		if err != nil {
			return nil, false, fmt.Errorf("scan: %s-%d: %w", topic.Name, p, err)
		}
		if b.End <= b.LogStart {
			continue
		}
		set := intervals{{b.LogStart, b.End}}
		if req.Filter != nil {
			if set, ok = offsets(req.Filter, p, set); !ok {
				return nil, false, nil
			}
		}
		if len(set) == 0 {
			continue
		}
		if !b.Dense {
			return nil, false, nil
		}
		c := PartitionCount{Partition: p, MinOffset: set[0].from, MaxOffset: set[len(set)-1].to - 1}
		for _, iv := range set {
			c.Rows += iv.to - iv.from
		}
		counts = append(counts, c)
	}
	return counts, true, nil
}

// interval is [from, to), not empty; intervals are disjoint and ascending.
type (
	interval  struct{ from, to int64 }
	intervals []interval
)

// offsets is the part of all in which e is true for partition p. ok is false when
// e can be NULL, or looks at more than partition and offset.
func offsets(e Expr, p int32, all intervals) (intervals, bool) {
	switch e := e.(type) {
	case And:
		set := all
		for _, a := range e.Args {
			s, ok := offsets(a, p, all)
			if !ok {
				return nil, false
			}
			set = intersect(set, s)
		}
		return set, true
	case Or:
		// By De Morgan: what is left when every argument is taken away.
		rest := all
		for _, a := range e.Args {
			s, ok := offsets(a, p, all)
			if !ok {
				return nil, false
			}
			rest = subtract(rest, s)
		}
		return subtract(all, rest), true
	case Not:
		s, ok := offsets(e.Arg, p, all)
		return subtract(all, s), ok
	case Const:
		switch e.Value {
		case True:
			return all, true
		case False:
			return nil, true
		}
		return nil, false
	case IsNull:
		return nil, e.Column.Kind == Partition || e.Column.Kind == Offset
	case Compare:
		switch e.Column.Kind {
		case Partition:
			if compareInt(int64(p), e.Op, e.Value.Int) {
				return all, true
			}
			return nil, true
		case Offset:
			op := e.Op
			if op == NE {
				op = EQ
			}
			var out intervals
			for _, iv := range all {
				if lo, hi, ok := cut(iv.from, iv.to-1, op, e.Value.Int); ok {
					out = append(out, interval{lo, hi + 1})
				}
			}
			if e.Op == NE {
				return subtract(all, out), true
			}
			return out, true
		}
	case In:
		if e.Null {
			return nil, false
		}
		args := make([]Expr, len(e.Values))
		for i, v := range e.Values {
			args[i] = Compare{Column: e.Column, Op: EQ, Value: v}
		}
		return offsets(Or{args}, p, all)
	}
	return nil, false
}

func intersect(a, b intervals) intervals {
	var out intervals
	for i, j := 0, 0; i < len(a) && j < len(b); {
		from, to := max(a[i].from, b[j].from), min(a[i].to, b[j].to)
		if from < to {
			out = append(out, interval{from, to})
		}
		if a[i].to < b[j].to {
			i++
		} else {
			j++
		}
	}
	return out
}

func subtract(a, b intervals) intervals {
	var out intervals
	for _, iv := range a {
		for _, cut := range b {
			if cut.to <= iv.from {
				continue
			}
			if cut.from >= iv.to {
				break
			}
			if cut.from > iv.from {
				out = append(out, interval{iv.from, cut.from})
			}
			iv.from = cut.to
			if iv.from >= iv.to {
				break
			}
		}
		if iv.from < iv.to {
			out = append(out, iv)
		}
	}
	return out
}
