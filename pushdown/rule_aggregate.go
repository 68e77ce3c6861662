package pushdown

import (
	"fmt"
	"io"

	"millrace/catalog/sqltable"
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// SumAggregate is an exact SUM or AVG of the SQL server (the engine's own go through
// float64 and are never pushed).
type SumAggregate interface {
	sql.Aggregation
	// SumArgument is what is summed; ok is false for DISTINCT and as a window.
	SumArgument() (arg sql.Expression, ok bool)
	// FinishSum gives the aggregate's value for count > 0 summed values: sum is
	// a decimal.Decimal for exact types (at the argument's scale) and a float64
	// for DOUBLE and FLOAT. For count 0 it is not called; the value is NULL.
	FinishSum(sum any, count int64) (any, error)
}

// aggregateRule answers a GROUP BY, or an aggregate without one, by the scan.
//
//  1. Below the node lie only filters, an alias and a topic's table that was not
//     planned before, and every conjunct is evaluated by the scan.
//  2. Every grouping is a plain column whose equality is that of its bytes: integers,
//     booleans, text in utf8mb4_0900_bin. Times are not: wall times repeat.
//  3. Every selected expression is a grouping column, COUNT(*), or COUNT, MIN, MAX or
//     an exact SUM or AVG of a plain column, without DISTINCT or window; or
//     COUNT(DISTINCT) of a plain column that one could group by.
//  4. MIN and MAX: of numbers, text in utf8mb4_0900_bin, and times that need no zone,
//     or a zone whose offset never changes.
//
// With COUNT and MIN/MAX of _offset only, grouped by nothing or _partition and
// filtered by nothing but the two, the bounds of dense partitions answer and no
// batch is read.
func aggregateRule(ctx *sql.Context, n *plan.GroupBy) (*decision, error) {
	a := matchAccess(n.Child)
	if a == nil || a.table.Planned() || len(a.projects) > 0 { // 1
		return nil, nil
	}
	d := &decision{acc: a, what: "aggregate"}
	if err := a.pushFilters(ctx, d); err != nil {
		return nil, err
	}
	if len(d.left) > 0 { // 1
		return nil, nil
	}
	zone, err := sqltable.SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	g := &aggregate{zone: zone}
	for _, e := range n.GroupByExprs { // 2
		col, sqlCol, ok := a.column(unalias(e))
		if !ok || !groupable(a, col, sqlCol) {
			return nil, nil
		}
		g.by = append(g.by, col)
	}
	for _, e := range n.SelectedExprs { // 3, 4
		out, ok := g.output(a, unalias(e))
		if !ok {
			return nil, nil
		}
		g.outputs = append(g.outputs, out)
	}
	if g.fromBounds(d) {
		d.what = "counts from partition bounds"
	}
	d.agg = g
	return d, nil
}

func unalias(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

func groupable(a *access, col scan.Column, c *sql.Column) bool {
	return scan.CanGroup(a.table.Bound(), col) && !types.IsTime(c.Type) && comparableBytes(c.Type)
}

// comparableBytes: text must compare by its bytes; other types are no matter.
func comparableBytes(t sql.Type) bool {
	if _, enum := t.(sql.EnumType); enum {
		return false
	}
	if s, ok := t.(sql.StringType); ok {
		return s.Collation() == sql.Collation_utf8mb4_0900_bin
	}
	return true
}

// aggregate is a GROUP BY as the scan computes it.
type aggregate struct {
	by      []scan.Column
	aggs    []scan.Agg
	outputs []aggOutput
	zone    *sqltable.Zone
	bounds  []scan.PartitionCount // set with useBounds
	direct  bool                  // bounds answer
}

// aggOutput is one selected expression: a group key, or an aggregate.
type aggOutput struct {
	key   int // index in by; -1: an aggregate
	agg   int // index in aggs
	sum   SumAggregate
	kind  scan.AggKind
	col   scan.Column
	scale int32
	float bool
}

func (g *aggregate) output(a *access, e sql.Expression) (aggOutput, bool) {
	out := aggOutput{key: -1, agg: len(g.aggs)}
	var arg sql.Expression
	switch e := e.(type) {
	case *expression.GetField:
		col, _, ok := a.column(e)
		if !ok {
			return out, false
		}
		for i, b := range g.by {
			if b == col {
				out.key = i
				out.col = col
				return out, true
			}
		}
		return out, false
	case *aggregation.Count:
		if e.Window() != nil {
			return out, false
		}
		if l, ok := e.Child.(*expression.Literal); ok {
			if l.Value() == nil {
				return out, false
			}
			out.kind = scan.CountRows
			g.aggs = append(g.aggs, scan.Agg{Kind: scan.CountRows})
			return out, true
		}
		out.kind, arg = scan.CountValue, e.Child
	case *aggregation.CountDistinct:
		if e.Window() != nil || len(e.ChildExpressions) != 1 {
			return out, false
		}
		out.kind, arg = scan.CountDistinct, e.ChildExpressions[0]
	case *aggregation.Min:
		if e.Window() != nil {
			return out, false
		}
		out.kind, arg = scan.Min, e.Child
	case *aggregation.Max:
		if e.Window() != nil {
			return out, false
		}
		out.kind, arg = scan.Max, e.Child
	case SumAggregate:
		x, ok := e.SumArgument()
		if !ok {
			return out, false
		}
		out.kind, out.sum, arg = scan.Sum, e, x
	default:
		return out, false
	}
	col, c, ok := a.column(arg)
	if !ok {
		return out, false
	}
	agg := scan.Agg{Kind: out.kind, Column: col}
	if !scan.CanAggregate(a.table.Bound(), agg) {
		return out, false
	}
	out.col = col
	switch out.kind {
	case scan.CountDistinct:
		if !groupable(a, col, c) {
			return out, false
		}
	case scan.Min, scan.Max:
		if !comparableBytes(c.Type) || types.IsTimestampType(c.Type) && !g.zone.Fixed() {
			return out, false
		}
	case scan.Sum:
		// A year, a date or a time is a number only in SQL.
		if !types.IsNumber(c.Type) || types.IsYear(c.Type) {
			return out, false
		}
		if t, ok := c.Type.(sql.DecimalType); ok {
			out.scale = int32(t.Scale())
		}
		out.float = scan.DomainOf(a.table.Bound(), col) == scan.Floats
		if c.Type == types.Float32 {
			return out, false
		}
	}
	g.aggs = append(g.aggs, agg)
	return out, true
}

// fromBounds tries to answer without reading.
func (g *aggregate) fromBounds(d *decision) bool {
	if len(g.by) > 1 || len(g.by) == 1 && g.by[0].Kind != scan.Partition {
		return false
	}
	for _, o := range g.outputs {
		switch {
		case o.key >= 0, o.kind == scan.CountRows:
		case o.kind == scan.CountDistinct && o.col.Kind == scan.Offset && len(g.by) == 1:
			// Offsets are unique in a partition.
		case o.kind == scan.Sum, o.kind == scan.CountDistinct:
			return false
		case o.kind != scan.CountValue && o.col.Kind == scan.Offset:
		case o.kind == scan.CountValue && (o.col.Kind == scan.Offset || o.col.Kind == scan.Partition):
		default:
			return false
		}
	}
	req := d.acc.table.WithScan(d.scan).Request()
	counts, ok, err := scan.CountFromBounds(&req)
	if err != nil || !ok {
		return false // an error shows again when the scan reads
	}
	g.bounds, g.direct = counts, true
	return true
}

func (g *aggregate) iter(d *decision) sql.RowIter { return &aggregateIter{g: g, d: d} }

// aggregateIter computes all groups at the first row asked for.
type aggregateIter struct {
	g    *aggregate
	d    *decision
	rows []sql.Row
	done bool
	next int
}

// Next implements sql.RowIter.
func (it *aggregateIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.done {
		it.done = true
		var err error
		if it.g.direct {
			it.rows = it.g.boundsRows()
		} else {
			it.rows, err = it.g.scanRows(ctx, it.d)
		}
		if err != nil {
			return nil, err
		}
	}
	if it.next >= len(it.rows) {
		return nil, io.EOF
	}
	it.next++
	return it.rows[it.next-1], nil
}

// Close implements sql.RowIter.
func (it *aggregateIter) Close(*sql.Context) error {
	it.rows, it.done = nil, true
	return nil
}

func (g *aggregate) boundsRows() []sql.Row {
	counts := g.bounds
	if len(g.by) == 0 {
		// One group, also of no rows.
		total := scan.PartitionCount{}
		for i, c := range counts {
			if i == 0 {
				total.MinOffset, total.MaxOffset = c.MinOffset, c.MaxOffset
			}
			total.Rows += c.Rows
			total.MinOffset = min(total.MinOffset, c.MinOffset)
			total.MaxOffset = max(total.MaxOffset, c.MaxOffset)
		}
		counts = []scan.PartitionCount{total}
	}
	rows := make([]sql.Row, len(counts))
	for i, c := range counts {
		row := make(sql.Row, len(g.outputs))
		for j, o := range g.outputs {
			switch {
			case o.key >= 0:
				row[j] = c.Partition
			case o.kind == scan.CountRows || o.kind == scan.CountValue || o.kind == scan.CountDistinct:
				row[j] = c.Rows
			case c.Rows == 0:
				row[j] = nil
			case o.kind == scan.Min:
				row[j] = c.MinOffset
			default:
				row[j] = c.MaxOffset
			}
		}
		rows[i] = row
	}
	return rows
}

func (g *aggregate) scanRows(ctx *sql.Context, d *decision) ([]sql.Row, error) {
	table := d.acc.table.WithScan(d.scan)
	groups, err := scan.Aggregate(ctx, table.Request(), g.by, g.aggs)
	if err != nil {
		return nil, err
	}
	defer groups.Release()
	read := make([]func(i int) (any, error), len(g.outputs))
	for j, o := range g.outputs {
		if read[j], err = g.reader(table, groups, o); err != nil {
			return nil, err
		}
	}
	rows := make([]sql.Row, groups.Rows)
	for i := range rows {
		row := make(sql.Row, len(read))
		for j := range read {
			if row[j], err = read[j](i); err != nil {
				return nil, err
			}
		}
		rows[i] = row
	}
	return rows, nil
}

func (g *aggregate) reader(table *sqltable.Table, groups *scan.Groups, o aggOutput) (func(i int) (any, error), error) {
	if o.key >= 0 {
		cell, err := table.Cells(o.col, groups.Keys[o.key], g.zone)
		return func(i int) (any, error) { return cell(i), nil }, err
	}
	v := groups.Aggs[o.agg]
	switch o.kind {
	case scan.CountRows, scan.CountValue, scan.CountDistinct:
		return func(i int) (any, error) { return v.Count[i], nil }, nil
	case scan.Min, scan.Max:
		cell, err := table.Cells(o.col, v.Value, g.zone)
		return func(i int) (any, error) { return cell(i), nil }, err
	case scan.Sum:
		return func(i int) (any, error) {
			switch {
			case v.Count[i] == 0:
				return nil, nil
			case o.float:
				return o.sum.FinishSum(v.Sums[i].Float(), v.Count[i])
			}
			return o.sum.FinishSum(decimal.NewFromBigInt(v.Sums[i].Int(), -o.scale), v.Count[i])
		}, nil
	}
	return nil, fmt.Errorf("pushdown: unknown aggregate %d", o.kind)
}
