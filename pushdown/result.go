package pushdown

import (
	"context"

	"millrace/catalog/sqltable"
	"millrace/pushdown/columnar"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
)

// Result is the answer of a statement in batches of columns: for a writer that makes no rows of them.
type Result struct {
	Columns []columnar.Column
	Zone    *sqltable.Zone
	iter    exec.Iter
}

// Result starts plan n if all of it is carried out in columns; nil if not, and then Build is what
// carries it out. Result is for the root of a statement's plan.
func (b *Builder) Result(ctx *sql.Context, n sql.Node) (*Result, error) {
	if !b.enabled(ctx) {
		return nil, nil
	}
	if t := traceFrom(ctx); t != nil && columnar.ReadsTopic(n) {
		t.mu.Lock()
		t.topics = true
		t.mu.Unlock()
	}
	p, declined, err := b.columnar(ctx, n)
	if err != nil || p == nil {
		b.stays(ctx, declined)
		return nil, err
	}
	it, err := b.start(ctx, p, true)
	if err != nil {
		return nil, err
	}
	return &Result{Columns: p.Columns, Zone: p.Zone, iter: it}, nil
}

// Next is exec.Iter's.
func (r *Result) Next(ctx context.Context) (*exec.Batch, error) { return r.iter.Next(ctx) }

// Close ends the work. It may be called again.
func (r *Result) Close() {
	if r.iter != nil {
		r.iter.Close()
		r.iter = nil
	}
}
