package pushdown

import (
	"log/slog"

	"millrace/catalog/sqltable"

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
	// Full returns the error with which a statement ends that may keep no more rows in
	// memory, else nil. It is asked for every row of windows and hash joins; default: never
	// full.
	Full func() error
}

// Builder builds iterators for plans. Safe for concurrent use.
type Builder struct {
	enabled func(ctx *sql.Context) bool
	log     *slog.Logger
	full    func() error
	base    sql.NodeExecBuilder // the engine's, asking override first
}

var _ sql.NodeExecBuilder = (*Builder)(nil)

// NewBuilder returns a builder for the engine's Analyzer.ExecBuilder.
func NewBuilder(o Options) *Builder {
	b := &Builder{enabled: o.Enabled, log: o.Logger, full: o.Full}
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
	case *plan.Window, *plan.HashLookup:
		if b.full != nil {
			watchKept(n)
		}
		return nil, nil
	case keptNode:
		iter, err := b.base.Build(ctx, n.Node, row)
		if err != nil {
			return nil, err
		}
		return &keptIter{iter, b.full}, nil
	default:
		return nil, nil
	}
	if f, ok := n.(*plan.Filter); ok {
		if e := exactFilter(ctx, f.Expression); e != nil {
			return b.base.Build(ctx, plan.NewFilter(e, f.Child), row)
		}
	}
	if !b.enabled(ctx) {
		return nil, nil
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
		return nil, nil
	}
	for _, l := range d.left {
		b.log.DebugContext(ctx, "filter stays with the engine", "table", d.acc.table.Name(), "filter", l.expr.String(), "reason", l.reason)
	}
	if d.agg != nil {
		return d.agg.iter(d), nil
	}
	if d.node == nil {
		return nil, nil
	}
	return b.base.Build(ctx, d.node, row)
}

// decision is what a rule made of a node.
type decision struct {
	acc  *access
	scan sqltable.Scan
	left []leftover // conjuncts that the engine evaluates
	// pushed are the conjuncts that the scan evaluates.
	pushed []sql.Expression
	node   sql.Node // what to build instead; nil with agg, or when nothing was pushed
	agg    *aggregate
	what   string // limit, newest rows and so on, for EXPLAIN
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
	case *plan.GroupBy:
		if !outer {
			return aggregateRule(ctx, n)
		}
	}
	return nil, nil
}
