package columnar

import (
	"slices"
	"strings"
	"sync"

	"millrace/catalog/sqltable"
	"millrace/pushdown/execplan"
	"millrace/pushdown/form"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// relation is a plan node of the engine as an operator of the vectorised engine: the same rows in the
// same order.
type relation struct {
	node exec.Node
	// cols are the engine's row, field by field; then, from width on, what the rows carry beside it.
	cols  []relColumn
	width int
}

// relColumn is a field of the engine's rows.
type relColumn struct {
	at   int // column of node
	form form.Form
	// text is the expression that was computed for it, as the engine spells it; "" none that
	// would be known above.
	text string
	// of is the subquery whose value it is; nil: none.
	of sql.Expression
	// reason is set where the field is not to be had; it may be there, but nothing may read it.
	reason string
}

// typed is an expression of the vectorised engine, and what its values mean.
type typed struct {
	expr exec.Expr
	form form.Form
}

// planner converts one plan. What it accepts means exactly the same in both engines; everything else
// has a reason why not.
type planner struct {
	ctx     *sql.Context
	source  func(ctx *sql.Context, t *sqltable.Table) exec.Source
	zone    *sqltable.Zone
	scans   []*exec.Scan
	tables  []*sqltable.Table // of scans
	notes   []Declined
	engine  *engineLock
	touched bool // some expression was computed by the engine
	lateral int  // see beside
}

// engineLock lets one goroutine at a time compute expressions of the engine, which share a session.
type engineLock struct {
	sync.Mutex
	zone *sqltable.Zone
}

// Declined is a part of a plan that stays with the engine.
type Declined struct {
	What   string // node or expression
	Reason string
}

func newPlanner(ctx *sql.Context, source func(*sql.Context, *sqltable.Table) exec.Source) (*planner, error) {
	zone, err := sqltable.SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	own, err := sqltable.SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	p := &planner{ctx: ctx, source: source, zone: zone, engine: &engineLock{zone: own}}
	return p, nil
}

// field is the column of the engine's field i.
func (r *relation) field(i int) (typed, string) {
	if i < 0 || i >= r.width {
		return typed{}, "a column of an outer query"
	}
	c := &r.cols[i]
	if c.reason != "" {
		return typed{}, c.reason
	}
	return c.typed(), ""
}

func (c *relColumn) typed() typed {
	return typed{exec.Col{Index: c.at, T: c.form.T}, c.form}
}

// computed finds a column that holds e already.
func (r *relation) computed(e sql.Expression) (typed, bool) {
	switch e.(type) {
	case *expression.GetField, *expression.Literal:
		return typed{}, false
	}
	text := ""
	for i := range r.cols {
		c := &r.cols[i]
		if c.of != nil && c.of == e {
			return c.typed(), true
		}
		if c.text == "" || c.reason != "" {
			continue
		}
		if text == "" {
			text = e.String()
		}
		if c.text == text && (c.form.SQL == nil || c.form.SQL.Equals(e.Type())) {
			return c.typed(), true
		}
	}
	return typed{}, false
}

// visible forms of the relation, or the reason why one of them is missing.
func (r *relation) complete() string {
	for i := range r.cols[:r.width] {
		if c := &r.cols[i]; c.reason != "" {
			return c.reason
		}
	}
	return ""
}

// closed is r as a derived table: its columns have other names above.
func (r *relation) closed() *relation {
	out := &relation{node: r.node, width: r.width, cols: make([]relColumn, r.width)}
	copy(out.cols, r.cols)
	for i := range out.cols {
		out.cols[i].text = ""
	}
	return out
}

// same is r with the same columns over another operator of the same schema.
func (r *relation) over(n exec.Node) *relation {
	return &relation{node: n, cols: r.cols, width: r.width}
}

// note remembers why something stays with the engine.
func (p *planner) note(what interface{ String() string }, reason string) {
	const most = 64
	if reason != "" && len(p.notes) < most {
		p.notes = append(p.notes, Declined{firstLine(what.String()), reason})
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// plain is r with its visible columns in their order and nothing else.
func (r *relation) plain() *relation {
	inOrder := len(r.node.Schema()) == r.width
	for i := range r.cols[:r.width] {
		inOrder = inOrder && r.cols[i].at == i
	}
	if inOrder {
		return r.closed()
	}
	n := &exec.Project{Child: r.node}
	out := r.closed()
	for i := range out.cols {
		n.Exprs = append(n.Exprs, out.cols[i].typed().expr)
		out.cols[i].at = i
	}
	out.node = n
	return out
}

// narrowed is r without columns that are not visible.
func (r *relation) narrowed() *relation {
	want := make([]bool, len(r.node.Schema()))
	for i := range r.cols[:r.width] {
		want[r.cols[i].at] = true
	}
	n, at := execplan.Narrow(r.node, want)
	out := &relation{node: n, width: r.width, cols: slices.Clone(r.cols[:r.width])}
	for i := range out.cols {
		out.cols[i].at = at[out.cols[i].at]
	}
	return out
}
