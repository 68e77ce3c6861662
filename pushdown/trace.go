package pushdown

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"millrace/pushdown/columnar"
	"millrace/pushdown/execplan"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
)

// Trace is what became of the plans of one statement. Safe for concurrent use.
type Trace struct {
	mu       sync.Mutex
	topics   bool
	whole    bool
	parts    []*tracePart
	declined []columnar.Declined
}

// tracePart is a part of a plan that was carried out in columns.
type tracePart struct {
	plan    *columnar.Plan
	explain exec.Explain
}

type traceKey struct{}

// WithTrace returns a context whose statement is traced in t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

func traceFrom(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Outcome says what carried a statement out: "columns", "mixed" (parts of it in columns), "rows", or ""
// for one that reads no topic.
func (t *Trace) Outcome() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.topics:
		return ""
	case t.whole:
		return "columns"
	case len(t.parts) > 0:
		return "mixed"
	}
	return "rows"
}

// Reason is the first reason why something stayed with the engine, with what it was; "" none.
func (t *Trace) Reason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.declined) == 0 {
		return ""
	}
	return t.declined[0].What + ": " + t.declined[0].Reason
}

// RowsScanned in columns. Complete once the statement is.
func (t *Trace) RowsScanned() (rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.parts {
		for _, o := range p.explain.Operators {
			rows += o.RowsScanned
		}
	}
	return rows
}

// Explain tells what each operator did, a line each; "" when nothing was carried out in columns. To be called once the
// statement is complete.
func (t *Trace) Explain() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sb strings.Builder
	for _, p := range t.parts {
		sb.WriteString("Carried out in columns:\n")
		next := 0
		p.write(&sb, p.plan.Node, 1, &next)
	}
	return sb.String()
}

func (p *tracePart) write(sb *strings.Builder, n exec.Node, depth int, next *int) {
	what, _ := execplan.Operator(n)
	fmt.Fprintf(sb, "%s%s", strings.Repeat("  ", depth), what)
	if *next < len(p.explain.Operators) {
		o := p.explain.Operators[*next]
		fmt.Fprintf(sb, " (%d rows, %s", o.Rows, time.Duration(o.Nanos).Round(time.Microsecond))
		if _, ok := n.(*exec.Scan); ok {
			fmt.Fprintf(sb, ", %d of %d blocks pruned", o.Pruned, o.Blocks)
			if o.Answered > 0 {
				fmt.Fprintf(sb, ", %d answered by synopses", o.Answered)
			}
			fmt.Fprintf(sb, ", %d rows scanned, %d bytes", o.RowsScanned, o.BytesOpened)
		}
		if o.Spilled > 0 {
			fmt.Fprintf(sb, ", %d bytes spilled", o.Spilled)
		}
		sb.WriteString(")")
	}
	sb.WriteByte('\n')
	*next++
	for _, in := range execplan.Inputs(n) {
		p.write(sb, in, depth+1, next)
	}
}

// start runs plan; whole: it is all of the statement.
func (b *Builder) start(ctx *sql.Context, plan *columnar.Plan, whole bool) (exec.Iter, error) {
	o := b.exec(ctx)
	if t := traceFrom(ctx); t != nil {
		p := &tracePart{plan: plan}
		o.Explain = &p.explain
		t.mu.Lock()
		const most = 64 // a plan may be built over and over
		if len(t.parts) < most {
			t.parts = append(t.parts, p)
		}
		t.whole = t.whole || whole
		t.mu.Unlock()
	}
	return exec.Run(ctx, plan.Node, o)
}

// stays notes that a plan over topics is not carried out in columns as a whole.
func (b *Builder) stays(ctx *sql.Context, declined []columnar.Declined) {
	if t := traceFrom(ctx); t != nil {
		t.mu.Lock()
		t.declined = append(t.declined, declined...)
		t.mu.Unlock()
	}
	for _, d := range declined {
		b.log.DebugContext(ctx, "not in columns", "what", d.What, "reason", d.Reason)
	}
}
