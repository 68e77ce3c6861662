package pushdown

import (
	"context"
	"log/slog"

	"millrace/catalog/sqltable"
	"millrace/pushdown/exact"
	"millrace/pushdown/rows"
	"millrace/pushdown/rowscan"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
)

// Options of a builder.
type Options struct {
	// Enabled says whether the statement's session allows pushdown; default
	// sqltable.PushdownEnabled.
	Enabled func(ctx *sql.Context) bool
	// Logger gets a debug line for what was not pushed; default: none.
	Logger *slog.Logger
	// Source gives what the vectorised engine reads of a table, nil where it is read row by row;
	// default: the columns of the table's statement.
	Source func(ctx *sql.Context, t *sqltable.Table) exec.Source
	// Exec are the vectorised engine's options for one query; nil: the zero value.
	Exec func(ctx *sql.Context) exec.Options
	// FewRows is how many rows, ruled in by offsets among many more, are read row by row rather than
	// as columns of their blocks; 0: DefaultFewRows, below 0: none.
	FewRows int64
	// Full returns the error with which a statement ends that may keep no more rows in
	// memory, else nil. It is asked for every row of windows, hash joins and Kept, and ends waiting for memory with
	// its context; default: never full.
	Full func(context.Context) error
}

// Builder builds iterators for plans. Safe for concurrent use.
type Builder struct {
	enabled func(ctx *sql.Context) bool
	log     *slog.Logger
	full    func(context.Context) error
	source  func(ctx *sql.Context, t *sqltable.Table) exec.Source
	exec    func(ctx *sql.Context) exec.Options
	few     int64
	base    sql.NodeExecBuilder // the engine's, asking override first
}

var _ sql.NodeExecBuilder = (*Builder)(nil)

// NewBuilder returns a builder for the engine's Analyzer.ExecBuilder.
func NewBuilder(o Options) *Builder {
	b := &Builder{enabled: o.Enabled, log: o.Logger, full: o.Full, source: o.Source, exec: o.Exec, few: o.FewRows}
	if b.source == nil {
		b.source = func(_ *sql.Context, t *sqltable.Table) exec.Source { return t.Statement().Columns() }
	}
	if b.exec == nil {
		b.exec = func(*sql.Context) exec.Options { return exec.Options{} }
	}
	if b.few == 0 {
		b.few = DefaultFewRows
	}
	if b.enabled == nil {
		b.enabled = sqltable.PushdownEnabled
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.base = rowexec.NewOverrideBuilder(override{b})
	return b
}

// Build implements sql.NodeExecBuilder.
func (b *Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	return b.base.Build(ctx, n, row)
}

// override is asked for every node before the engine builds it; a nil iterator means
// «not mine».
type override struct{ *Builder }

// Build implements sql.NodeExecBuilder: what reads next to nothing comes first, then columns, then what spares the engine
// rows, then what it would get wrong.
func (b override) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if f, ok := n.(*plan.Filter); ok {
		if e := exact.Filter(ctx, f.Expression); e != nil {
			return b.base.Build(ctx, plan.NewFilter(e, f.Child), row)
		}
	}
	if convertible(n) && b.enabled(ctx) { // in this order: some nodes are built for each row of another
		if it, err := b.pushed(ctx, n, row); it != nil || err != nil {
			return it, err
		}
	}
	return rows.Builder{Base: b.base, Full: b.full}.Build(ctx, n, row)
}

// pushed builds n as columns, or with what scans can do for it; nil: neither.
func (b override) pushed(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if len(row) == 0 {
		p, _, err := b.columnar(ctx, n)
		if err != nil {
			return nil, err
		}
		if p != nil {
			return b.rows(ctx, p)
		}
	}
	if l, ok := n.(*plan.Limit); ok {
		top, err := rowscan.SortedLimit(l)
		if err != nil {
			return nil, err
		}
		if top != nil {
			return b.base.Build(ctx, top, row)
		}
	}
	d, err := rowscan.Decide(ctx, n, len(row) > 0)
	if d == nil || err != nil {
		return nil, err
	}
	for _, l := range d.Left {
		b.log.DebugContext(ctx, "filter stays with the engine", "table", d.Access.Table.Name(), "filter", l.Expr.String(), "reason", l.Reason)
	}
	if d.Node == nil {
		return nil, nil
	}
	return b.base.Build(ctx, d.Node, row)
}
