package columnar

import (
	"millrace/catalog/sqltable"
	"millrace/pushdown/form"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Options of a conversion.
type Options struct {
	// Source gives what the vectorised engine reads of a table, nil where it is read row by row.
	Source func(ctx *sql.Context, t *sqltable.Table) exec.Source
	// FewRows is how many rows, ruled in by offsets among many more, are better read row by row than as columns of their
	// blocks; 0 or below: none.
	FewRows int64
}

// Plan is a plan of the SQL engine as one of the vectorised engine: the same rows in the same order.
type Plan struct {
	Node    exec.Node
	Columns []Column       // the fields of the rows
	Zone    *sqltable.Zone // the session's
}

// Column is a field of a plan's rows.
type Column struct {
	At   int // column of the batches
	Form form.Form
}

// Convert converts n, which ReadsTopic; nil where it stays with the engine, with the parts that were in the way.
func Convert(ctx *sql.Context, n sql.Node, o Options) (*Plan, []Declined, error) {
	p, err := newPlanner(ctx, o.Source)
	if err != nil {
		return nil, nil, err
	}
	rel, reason := p.relation(n)
	if reason == "" {
		reason = rel.complete()
	}
	if reason == "" {
		rel = rel.narrowed()
		if few, err := p.readsFew(o.FewRows); err != nil {
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
	out := &Plan{Node: rel.node, Zone: p.zone, Columns: make([]Column, rel.width)}
	for i, c := range rel.cols[:rel.width] {
		out.Columns[i] = Column{c.at, c.form}
	}
	return out, nil, nil
}

// ReadsTopic says whether there is anything for the vectorised engine beneath n.
func ReadsTopic(n sql.Node) bool {
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
func (p *planner) readsFew(most int64) (bool, error) {
	if most <= 0 || len(p.scans) != 1 {
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
	if rows > most {
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
