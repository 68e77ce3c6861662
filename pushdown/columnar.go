package pushdown

import (
	"errors"
	"io"

	"millrace/catalog/sqltable"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// DefaultFewRows is Options.FewRows: as many rows take the row path less time than a block of columns
// that is not in memory yet takes to expand.
const DefaultFewRows = 2048

// columnar is a subtree of a plan that the vectorised engine carries out.
type columnar struct {
	b    *Builder
	rel  *relation
	zone *sqltable.Zone
}

// columnar converts the subtree of n; nil where it stays with the engine, with the parts that were in
// the way.
func (b *Builder) columnar(ctx *sql.Context, n sql.Node) (*columnar, []Declined, error) {
	if !readsTopic(n) {
		return nil, nil, nil
	}
	if short, err := b.shortcut(ctx, n); short || err != nil {
		return nil, nil, err
	}
	p, err := b.planner(ctx)
	if err != nil {
		return nil, nil, err
	}
	rel, reason := p.relation(n)
	if reason == "" {
		reason = rel.complete()
	}
	if reason == "" {
		rel = rel.narrowed()
		if few, err := b.readsFew(p); err != nil {
			return nil, nil, err
		} else if few {
			reason = "few rows, which are read directly"
		} else if err := exec.Check(rel.node); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		if len(p.notes) == 0 {
			p.note(n.(interface{ String() string }), reason)
		}
		return nil, p.notes, nil
	}
	return &columnar{b: b, rel: rel, zone: p.zone}, nil, nil
}

// readsTopic says whether there is anything for the vectorised engine beneath n.
func readsTopic(n sql.Node) bool {
	found := false
	transform.Inspect(n, func(n sql.Node) bool {
		if r, ok := n.(*plan.ResolvedTable); ok {
			if t, ok := sql.GetUnderlyingTable(r.Table).(*sqltable.Table); ok && !t.Planned() {
				found = true
			}
		}
		return !found
	})
	return found
}

// readsFew says whether offsets leave only a few rows of many.
func (b *Builder) readsFew(p *planner) (bool, error) {
	if b.few <= 0 || len(p.scans) != 1 {
		return false, nil
	}
	s, snap := p.scans[0], p.tables[0].Statement().Snapshot()
	of := func(partition int32) (state.Bounds, error) {
		return snap.Bounds(state.TopicPartition{Topic: s.Table.Topic.ID, Partition: partition})
	}
	var rows, all int64
	for _, r := range scan.Ranges(&scan.Request{Table: s.Table, Filter: s.Prune}) {
		x, err := of(r.Partition)
		if err != nil {
			return false, err
		}
		rows += max(0, min(x.End, r.ToOffset)-max(x.LogStart, r.FromOffset))
	}
	if rows > b.few {
		return false, nil
	}
	for p := range s.Table.Topic.Partitions {
		x, err := of(p)
		if err != nil {
			return false, err
		}
		all += x.End - x.LogStart
	}
	return rows*4 < all, nil
}

// shortcut says whether a rule of the row path answers n, or what is right beneath its projections and
// limits, from next to nothing.
func (b *Builder) shortcut(ctx *sql.Context, n sql.Node) (bool, error) {
	for {
		var child sql.Node
		switch x := n.(type) {
		case *plan.Project:
			child = x.Child
		case *plan.Offset:
			child = x.Child
		case *plan.Limit:
			if top, err := sortedLimit(x); err != nil {
				return false, err
			} else if top != nil {
				x = top.(*plan.Limit)
			}
			if d, err := decide(ctx, x, false); err != nil || d != nil && d.short(b.few) {
				return err == nil, err
			}
			child = x.Child
		case *plan.TopN:
			d, err := decide(ctx, x, false)
			return err == nil && d != nil && d.short(b.few), err
		default:
			return false, nil
		}
		n = child
	}
}

// short says that a rule reads next to nothing, or ends so soon that columns do not pay.
func (d *decision) short(few int64) bool {
	if d.node == nil || few <= 0 {
		return false
	}
	limit := max(d.scan.Limit, d.scan.PartitionLimit)
	return limit > 0 && limit <= few && early(d.scan.Filter)
}

// early says that only what is known of a record before its value is read decides about it.
func early(e scan.Expr) bool {
	switch e := e.(type) {
	case nil, scan.Const:
		return true
	case scan.And:
		return allEarly(e.Args)
	case scan.Or:
		return allEarly(e.Args)
	case scan.Not:
		return early(e.Arg)
	case scan.Compare:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	case scan.In:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	case scan.IsNull:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	}
	return false
}

func allEarly(all []scan.Expr) bool {
	for _, e := range all {
		if !early(e) {
			return false
		}
	}
	return true
}

// rows starts the plan, for the engine's nodes above.
func (c *columnar) rows(ctx *sql.Context) (sql.RowIter, error) {
	it, err := c.start(ctx, false)
	if err != nil {
		return nil, err
	}
	return &columnRows{iter: it, rel: c.rel, zone: c.zone}, nil
}

// columnRows turns batches into rows of the engine.
type columnRows struct {
	iter  exec.Iter
	rel   *relation
	zone  *sqltable.Zone
	batch *exec.Batch
	read  []func(i int) any
	next  int
	slab  []any
}

// slabRows is how many rows share an allocation.
const slabRows = 128

// Next implements sql.RowIter.
func (it *columnRows) Next(ctx *sql.Context) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // a join above may do much for each row
	}
	for it.batch == nil || it.next >= it.batch.Rows() {
		if it.iter == nil {
			return nil, io.EOF
		}
		b, err := it.iter.Next(ctx)
		if err != nil {
			it.batch, it.read = nil, nil
			return nil, asMySQL(err)
		}
		it.batch, it.next = b, 0
		it.read = it.read[:0]
		for _, c := range it.rel.cols[:it.rel.width] {
			it.read = append(it.read, c.form.cell(&b.Cols[c.at], it.zone))
		}
	}
	w := len(it.read)
	if len(it.slab) < w {
		it.slab = make([]any, w*min(slabRows, it.batch.Rows()-it.next))
	}
	row := sql.Row(it.slab[:w:w])
	it.slab = it.slab[w:]
	i := it.next
	if it.batch.Sel != nil {
		i = int(it.batch.Sel[i])
	}
	for c, read := range it.read {
		row[c] = read(i)
	}
	it.next++
	return row, nil
}

// Close implements sql.RowIter.
func (it *columnRows) Close(*sql.Context) error {
	if it.iter != nil {
		it.iter.Close()
		it.iter, it.batch = nil, nil
	}
	return nil
}

// asMySQL keeps the end of rows apart from errors.
func asMySQL(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return err
}
