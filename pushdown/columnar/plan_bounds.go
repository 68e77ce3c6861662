package columnar

import (
	"millrace/internal/sqlplan"
	"millrace/internal/vector"
	"millrace/pushdown/form"
	"millrace/pushdown/rowscan"
	"millrace/scan"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// fromBounds answers COUNT, MIN and MAX of offsets from the bounds of dense partitions, without reading.
//
//  1. Below the node lie only filters, an alias and a topic's table that was not planned before, and
//     every conjunct is evaluated by the scan.
//  2. It groups by nothing, or by _partition.
//  3. Every selected expression is the key, COUNT(*), COUNT of _offset or _partition, MIN or MAX of
//     _offset, or, grouped by _partition, COUNT(DISTINCT _offset).
//  4. Nothing but offsets and partitions is filtered, and what is left of each partition is dense.
//
// nil: not so.
func (p *planner) fromBounds(n *plan.GroupBy) *relation {
	a := rowscan.Match(n.Child)
	if a == nil || a.Table.Planned() || len(a.Projects) > 0 || len(n.GroupByExprs) > 1 { // 1, 2
		return nil
	}
	d := a.Filters(p.ctx)
	if len(d.Left) > 0 { // 1
		return nil
	}
	grouped := len(n.GroupByExprs) == 1
	if grouped { // 2
		col, _, ok := a.Column(sqlplan.Unalias(n.GroupByExprs[0]))
		if !ok || col.Kind != scan.Partition {
			return nil
		}
	}
	count := form.Form{Kind: form.Int, SQL: types.Int64, T: form.IntType}
	type output struct {
		of   func(c scan.PartitionCount) int64
		null bool // of no rows
	}
	rows := func(c scan.PartitionCount) int64 { return c.Rows }
	var outputs []output
	out := &relation{width: len(n.SelectedExprs)}
	for i, e := range n.SelectedExprs { // 3
		e = sqlplan.Unalias(e)
		o, f := output{of: rows}, count
		offset := func(e sql.Expression, also scan.ColumnKind) bool {
			col, c, ok := a.Column(e)
			if ok {
				f.SQL = c.Type
			}
			return ok && (col.Kind == scan.Offset || col.Kind == also)
		}
		switch e := e.(type) {
		case *expression.GetField:
			col, c, ok := a.Column(e)
			if !ok || !grouped || col.Kind != scan.Partition {
				return nil
			}
			f.SQL = c.Type
			o.of = func(c scan.PartitionCount) int64 { return int64(c.Partition) }
		case *aggregation.Count:
			if lit, ok := e.Child.(*expression.Literal); ok && lit.Value() != nil {
				break
			}
			if !offset(e.Child, scan.Partition) {
				return nil
			}
			f = count
		case *aggregation.CountDistinct:
			if !grouped || len(e.ChildExpressions) != 1 || !offset(e.ChildExpressions[0], scan.Offset) {
				return nil
			}
			f = count
		case *aggregation.Min:
			if !offset(e.Child, scan.Offset) {
				return nil
			}
			o = output{func(c scan.PartitionCount) int64 { return c.MinOffset }, true}
		case *aggregation.Max:
			if !offset(e.Child, scan.Offset) {
				return nil
			}
			o = output{func(c scan.PartitionCount) int64 { return c.MaxOffset }, true}
		default:
			return nil
		}
		if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
			return nil
		}
		outputs = append(outputs, o)
		out.cols = append(out.cols, relColumn{at: i, form: f, text: e.String()})
	}
	req := a.Table.WithScan(d.Scan).Request()
	counts, ok, err := scan.CountFromBounds(&req) // 4
	if err != nil || !ok {
		return nil // an error shows again when the scan reads
	}
	if !grouped {
		counts = []scan.PartitionCount{total(counts)}
	}
	values := &exec.Values{Rows: len(counts)}
	for _, o := range outputs {
		v := vector.Vector{Kind: vector.Int, Len: len(counts), Int64: make([]int64, len(counts))}
		for i, c := range counts {
			v.Int64[i] = o.of(c)
			if o.null && c.Rows == 0 {
				v.Valid, v.Nulls = []uint64{0}, 1 // the one group of no rows
			}
		}
		values.Types, values.Cols = append(values.Types, form.IntType), append(values.Cols, v)
	}
	out.node = values
	return out
}

// total is one group of all partitions, also of none.
func total(counts []scan.PartitionCount) scan.PartitionCount {
	t := scan.PartitionCount{}
	for i, c := range counts {
		if i == 0 {
			t.MinOffset, t.MaxOffset = c.MinOffset, c.MaxOffset
		}
		t.Rows += c.Rows
		t.MinOffset = min(t.MinOffset, c.MinOffset)
		t.MaxOffset = max(t.MaxOffset, c.MaxOffset)
	}
	return t
}
