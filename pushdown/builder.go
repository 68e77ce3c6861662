package pushdown

import (
	"context"
	"log/slog"

	"millrace/catalog/sqltable"
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

// Build implements sql.NodeExecBuilder.
func (b override) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.Filter, *plan.Limit, *plan.TopN, *plan.GroupBy:
	case *plan.HashLookup:
		return b.hashLookup(ctx, n, row)
	case *KeptSchema:
		return b.base.Build(ctx, n.Child, row)
	case *Kept:
		return b.kept(ctx, n, row)
	case *plan.Window:
		if len(row) == 0 && b.enabled(ctx) {
			if c, _, err := b.columnar(ctx, n); err != nil {
				return nil, err
			} else if c != nil {
				return c.rows(ctx)
			}
		}
		return b.window(ctx, n, row)
	default:
		if convertible(n) && len(row) == 0 && b.enabled(ctx) {
			c, _, err := b.columnar(ctx, n)
			if err != nil {
				return nil, err
			}
			if c != nil {
				return c.rows(ctx)
			}
		}
		switch n := n.(type) {
		case *plan.Distinct:
			return b.distinct(ctx, n.Child, row)
		case *plan.OrderedDistinct:
			return b.distinct(ctx, n.Child, row)
		case *plan.Sort:
			return b.corrected(ctx, n, row)
		case *plan.SetOp:
			return b.setOp(ctx, n, row)
		}
		if madeInMemory(n) {
			return cancellable(ctx, n, row)
		}
		return nil, nil
	}
	if f, ok := n.(*plan.Filter); ok {
		if e := exactFilter(ctx, f.Expression); e != nil {
			return b.base.Build(ctx, plan.NewFilter(e, f.Child), row)
		}
	}
	if !b.enabled(ctx) {
		return b.corrected(ctx, n, row)
	}
	if len(row) == 0 {
		// What reads next to nothing comes first, then columns, then what spares the engine rows.
		c, _, err := b.columnar(ctx, n)
		if err != nil {
			return nil, err
		}
		if c != nil {
			return c.rows(ctx)
		}
	}
	if l, ok := n.(*plan.Limit); ok {
		top, err := sortedLimit(l)
		if err != nil {
			return nil, err
		}
		if top != nil {
			return b.base.Build(ctx, top, row)
		}
	}
	d, err := decide(ctx, n, len(row) > 0)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return b.corrected(ctx, n, row)
	}
	for _, l := range d.left {
		b.log.DebugContext(ctx, "filter stays with the engine", "table", d.acc.table.Name(), "filter", l.expr.String(), "reason", l.reason)
	}
	if d.node == nil {
		return nil, nil
	}
	return b.base.Build(ctx, d.node, row)
}

// corrected builds a GROUP BY or a sort as the engine's is not; nil where that is right, and for other nodes.
func (b override) corrected(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.GroupBy:
		changed := false
		if list := expandedExtremes(n.SelectedExprs); list != nil {
			n, changed = plan.NewGroupBy(list, n.GroupByExprs, n.Child), true
		}
		if _, asks := n.Child.(*Kept); !asks && keepsValues(n.SelectedExprs) {
			n, changed = plan.NewGroupBy(n.SelectedExprs, n.GroupByExprs, Keep(n.Child)), true
		}
		switch {
		case len(n.GroupByExprs) > 0:
			return b.groupRows(ctx, n, row)
		case changed: // all rows are one group
			return b.base.Build(ctx, n, row)
		}
	case *plan.Sort:
		if fields := expandedSort(n.SortFields); fields != nil {
			return b.base.Build(ctx, plan.NewSort(fields, n.Child), row)
		}
	case *plan.TopN:
		if fields := expandedSort(n.Fields); fields != nil {
			top := *n
			top.Fields = fields
			return b.base.Build(ctx, &top, row)
		}
	}
	return nil, nil
}

// decision is what a rule made of a node.
type decision struct {
	acc  *access
	scan sqltable.Scan
	left []leftover // conjuncts that the engine evaluates
	// pushed are the conjuncts that the scan evaluates.
	pushed []sql.Expression
	node   sql.Node // what to build instead; nil when nothing was pushed
	what   string   // limit, newest rows and so on, for EXPLAIN
}

type leftover struct {
	expr   sql.Expression
	reason string
}

// decide asks the rules; nil: no rule knows the node. outer says that the node is
// built beneath a row of an outer scope.
func decide(ctx *sql.Context, n sql.Node, outer bool) (*decision, error) {
	switch n := n.(type) {
	case *plan.Filter:
		return filterRule(ctx, n)
	case *plan.Limit:
		if !outer {
			return limitRule(ctx, n)
		}
	case *plan.TopN:
		if !outer {
			return topNRule(ctx, n)
		}
	}
	return nil, nil
}
