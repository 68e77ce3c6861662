package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"millrace/catalog"

	"github.com/apache/arrow-go/v18/arrow"
)

// AggKind is an aggregate function.
type AggKind uint8

const (
	CountRows     AggKind = iota + 1 // COUNT(*); no column
	CountValue                       // values that are not NULL
	CountDistinct                    // different values that are not NULL, of columns that CanGroup
	Sum                              // exact over Ints, Uints and Decimals, in scan order over Floats
	Min
	Max
)

// Agg is one aggregate of a request.
type Agg struct {
	Kind   AggKind
	Column Column
}

// Groups is the answer of an aggregate: one row per group, in the order in which the
// scan met them.
type Groups struct {
	Rows int
	Keys []arrow.Array // one per group column
	Aggs []AggVector   // one per aggregate
}

// AggVector holds one aggregate of all groups. Count is always set: the rows counted,
// or, of the other kinds, how many values went in (0: the answer is NULL).
type AggVector struct {
	Count []int64
	Sums  []SumValue  // of Sum
	Value arrow.Array // of Min and Max, of the column's type
}

// Release gives the vectors back.
func (g *Groups) Release() {
	for _, k := range g.Keys {
		k.Release()
	}
	for _, a := range g.Aggs {
		if a.Value != nil {
			a.Value.Release()
		}
	}
}

// CanGroup says whether Aggregate can group by column c: equality of its values is
// equality of their bytes.
func CanGroup(t *catalog.Table, c Column) bool {
	switch DomainOf(t, c) {
	case Ints, Uints, Strings:
		return true
	}
	return false
}

// CanAggregate says whether Aggregate can compute a.
func CanAggregate(t *catalog.Table, a Agg) bool {
	switch a.Kind {
	case CountRows:
		return true
	case CountValue:
		_, err := a.Column.Type(t)
		return err == nil
	case CountDistinct:
		return CanGroup(t, a.Column)
	case Sum:
		switch DomainOf(t, a.Column) {
		case Ints, Uints, Floats, Decimals:
			return true
		}
	case Min, Max:
		return DomainOf(t, a.Column) != NoDomain
	}
	return false
}

// groupBytes is what a group costs beside its keys, about: its map entry and slots.
const groupBytes = 128

// Aggregate computes aggs over the rows of req, by groups of the by columns; without
// any there is exactly one group. req.Columns and the limits are not used.
// ErrMemory when the groups outgrow the budget.
func Aggregate(ctx context.Context, req Request, by []Column, aggs []Agg) (*Groups, error) {
	var cols []Column
	place := func(c Column) int {
		at := slices.Index(cols, c)
		if at < 0 {
			at = len(cols)
			cols = append(cols, c)
		}
		return at
	}
	g := newGrouper(req.Table, by)
	for _, c := range by {
		if !CanGroup(req.Table, c) {
			return nil, fmt.Errorf("%w: cannot group by %s", ErrNoColumn, c.Name(req.Table))
		}
		g.place = append(g.place, place(c))
	}
	states := make([]*aggState, len(aggs))
	for i, a := range aggs {
		if !CanAggregate(req.Table, a) {
			return nil, fmt.Errorf("%w: cannot aggregate %s", ErrNoColumn, a.Column.Name(req.Table))
		}
		s := &aggState{kind: a.Kind, place: -1}
		if a.Kind != CountRows {
			s.place = place(a.Column)
		}
		if a.Kind == Min || a.Kind == Max {
			typ, err := a.Column.Type(req.Table)
			if err != nil {
				return nil, err
			}
			s.extremes = newValues(typ)
		}
		states[i] = s
	}
	req.Columns, req.Limit, req.PartitionLimit = cols, 0, 0
	budget := req.MemoryBytes
	if budget == 0 {
		budget = DefaultMemoryBytes
	}
	r, err := Open(req)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.target = MaxBatchRows // everything will be read
	for {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		ids := g.groups(batch)
		for _, s := range states {
			s.grow(g.n)
			var col arrow.Array
			if s.place >= 0 {
				col = batch.Column(s.place)
			}
			s.update(col, ids)
		}
		batch.Release()
		used := int64(g.n)*int64(groupBytes+24*len(states)) + g.bytes
		for _, s := range states {
			if s.extremes != nil {
				used += s.extremes.bytes
			}
			used += s.distinct.bytes
		}
		if used > budget {
			return nil, fmt.Errorf("%w: %d groups", ErrMemory, g.n)
		}
	}
	out := &Groups{Rows: g.n, Keys: g.keys()}
	for _, s := range states {
		s.grow(g.n)
		out.Aggs = append(out.Aggs, s.result())
	}
	return out, nil
}

// aggState is one aggregate over all groups.
type aggState struct {
	kind     AggKind
	place    int
	count    []int64
	sums     []SumValue
	extremes *values
	distinct distinct
}

func (s *aggState) grow(n int) {
	for len(s.count) < n {
		s.count = append(s.count, 0)
		if s.kind == Sum {
			s.sums = append(s.sums, SumValue{})
		}
		if s.extremes != nil {
			s.extremes.add()
		}
	}
}

// update takes in a vector; ids are its rows' groups, nil when all are group 0.
func (s *aggState) update(col arrow.Array, ids *groupIDs) {
	if s.kind == CountRows {
		if ids.of == nil {
			s.count[0] += int64(ids.n)
			return
		}
		for _, g := range ids.of {
			s.count[g]++
		}
		return
	}
	if ids.of == nil && s.kind == CountValue {
		s.count[0] += int64(col.Len() - col.NullN())
		return
	}
	v := vectorOf(col)
	for i := range v.n {
		if v.nulls != nil && v.nulls.IsNull(i) {
			continue
		}
		g := int32(0)
		if ids.of != nil {
			g = ids.of[i]
		}
		if s.kind == CountDistinct && !s.distinct.add(v, i, g) {
			continue
		}
		s.count[g]++
		switch s.kind {
		case Sum:
			s.sums[g].add(v, i)
		case Min:
			s.extremes.keep(v, i, int(g), s.count[g] == 1, -1)
		case Max:
			s.extremes.keep(v, i, int(g), s.count[g] == 1, 1)
		}
	}
}

func (s *aggState) result() AggVector {
	out := AggVector{Count: s.count, Sums: s.sums}
	if s.extremes != nil {
		out.Value = s.extremes.array(func(i int) bool { return s.count[i] == 0 })
	}
	return out
}
