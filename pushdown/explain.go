package pushdown

import (
	"fmt"
	"math"
	"strings"
	"time"

	"millrace/catalog/sqltable"
	"millrace/pushdown/columnar"
	"millrace/pushdown/execplan"
	"millrace/pushdown/rowscan"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Access says how a plan reads one reference to a topic.
type Access struct {
	Table   string
	Alias   string // "" none
	Columns []string
	// What the scan does beside reading: limit, newest rows, aggregate; "" nothing.
	What   string
	Limit  int64    // rows after which it ends; 0: none
	Pushed []string // filters that the scan evaluates
	Left   []string // filters that the engine evaluates, each with the reason
	Note   string   // why there is no pushdown at all
	// Operators are those of a part of the plan that is carried out in columns, from the top, indented;
	// what follows are its tables.
	Operators []string
	InColumns bool // the table is one of those
	// Declined are the parts for which the part of the plan at hand stays with the engine.
	Declined            []columnar.Declined
	Blocks, BlocksTotal int  // of columns, before their statistics and Bloom filters are asked
	Keys                bool // the newest row of each key: the keys of all batches are read first

	Partitions      []int32 // read
	PartitionsTotal int32
	FromOffset      int64 // least of all partitions read
	ToOffset        int64 // exclusive; math.MaxInt64: none
	MinTimestamp    int64 // ms; math.MinInt64: none
	MaxTimestamp    int64
	Batches         int64 // that cannot be ruled out
	BatchesTotal    int64
	BatchesMore     bool // there are more than were counted
}

// explainBatches bounds how many batches EXPLAIN counts per table.
const explainBatches = 200_000

// Accesses lists, in plan order, how plan would read topics.
func (b *Builder) Accesses(ctx *sql.Context, n sql.Node) ([]Access, error) {
	e := explainer{b: b, ctx: ctx, enabled: b.enabled(ctx), seen: map[columnar.Declined]bool{}}
	if err := e.node(n); err != nil {
		return nil, err
	}
	return e.out, nil
}

// Explain is Accesses as text, one line a fact; "" when the plan reads no topic.
func (b *Builder) Explain(ctx *sql.Context, n sql.Node) (string, error) {
	all, err := b.Accesses(ctx, n)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for _, a := range all {
		a.write(&sb)
	}
	return sb.String(), nil
}

type explainer struct {
	b       *Builder
	ctx     *sql.Context
	enabled bool
	out     []Access
	outer   bool
	seen    map[columnar.Declined]bool
}

func (e *explainer) node(n sql.Node) error {
	if e.enabled && !e.outer && convertible(n) {
		c, declined, err := e.b.columnar(e.ctx, n)
		if err != nil {
			return err
		}
		if c != nil {
			return e.columns(c)
		}
		e.declined(declined)
	}
	if l, ok := n.(*plan.Limit); ok && e.enabled {
		top, err := rowscan.SortedLimit(l)
		if err != nil {
			return err
		}
		if top != nil {
			n = top
		}
	}
	if e.enabled {
		d, err := rowscan.Decide(e.ctx, n, e.outer)
		if err != nil {
			return err
		}
		if d != nil && (d.Node != nil || len(d.Left) > 0) {
			if err := e.add(d); err != nil {
				return err
			}
			return e.subqueries(n, d.Access)
		}
	}
	switch n := n.(type) {
	case *plan.TableAlias, *plan.ResolvedTable:
		if a := rowscan.Match(n); a != nil {
			return e.add(&rowscan.Decision{Access: a})
		}
	case *plan.TableCountLookup:
		e.out = append(e.out, Access{Table: n.Table().Name(), What: "row count from partition bounds"})
	}
	if err := e.expressions(n); err != nil {
		return err
	}
	for _, c := range n.Children() {
		if err := e.node(c); err != nil {
			return err
		}
	}
	return nil
}

// convertible says whether the builder tries n as columns.
func convertible(n sql.Node) bool {
	switch n.(type) {
	case *plan.Filter, *plan.Limit, *plan.TopN, *plan.GroupBy, *plan.Project, *plan.Having, *plan.Sort, *plan.Offset,
		*plan.Distinct, *plan.OrderedDistinct, *plan.TableAlias, *plan.SubqueryAlias, *plan.ResolvedTable, *plan.SetOp, *plan.JoinNode, *plan.Window:
		return true
	}
	return false
}

// declined notes why something stays with the engine, each reason once.
func (e *explainer) declined(all []columnar.Declined) {
	var fresh []columnar.Declined
	for _, d := range all {
		if !e.seen[d] {
			e.seen[d] = true
			fresh = append(fresh, d)
		}
	}
	if len(fresh) > 0 {
		e.out = append(e.out, Access{Declined: fresh})
	}
}

// columns adds a part that is carried out in columns, and its tables.
func (e *explainer) columns(p *columnar.Plan) error {
	var lines []string
	var scans []*exec.Scan
	var add func(n exec.Node, depth int)
	add = func(n exec.Node, depth int) {
		what, _ := execplan.Operator(n)
		lines = append(lines, strings.Repeat("  ", depth)+what)
		if s, ok := n.(*exec.Scan); ok {
			scans = append(scans, s)
		}
		for _, in := range execplan.Inputs(n) {
			add(in, depth+1)
		}
	}
	add(p.Node, 0)
	e.out = append(e.out, Access{Operators: lines})
	for _, s := range scans {
		a := Access{
			Table: s.Table.Topic.Name, InColumns: true, PartitionsTotal: s.Table.Topic.Partitions,
			FromOffset: math.MaxInt64, ToOffset: math.MinInt64, MinTimestamp: math.MaxInt64, MaxTimestamp: math.MinInt64,
		}
		for _, col := range s.Columns {
			a.Columns = append(a.Columns, col.Name(s.Table))
		}
		if s.Filter != nil {
			a.Pushed = []string{execplan.Spell(s.Filter, a.Columns)}
		}
		for _, r := range scan.Ranges(&scan.Request{Table: s.Table, Filter: s.Prune}) {
			a.Partitions = append(a.Partitions, r.Partition)
			a.FromOffset, a.ToOffset = min(a.FromOffset, r.FromOffset), max(a.ToOffset, r.ToOffset)
			a.MinTimestamp, a.MaxTimestamp = min(a.MinTimestamp, r.MinTimestamp), max(a.MaxTimestamp, r.MaxTimestamp)
		}
		blocks, err := s.Source.Blocks(e.ctx, s.Table, s.Columns, s.Prune)
		if err != nil {
			return err
		}
		all, err := s.Source.Blocks(e.ctx, s.Table, s.Columns, nil)
		if err != nil {
			return err
		}
		a.Blocks, a.BlocksTotal = len(blocks), max(len(all), len(blocks))
		e.out = append(e.out, a)
	}
	return nil
}

// subqueries looks into the expressions of a chain that a rule took over.
func (e *explainer) subqueries(top sql.Node, a *rowscan.Access) error {
	if err := e.expressions(top); err != nil {
		return err
	}
	for _, n := range a.Chain {
		if n != top {
			if err := e.expressions(n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *explainer) expressions(n sql.Node) error {
	x, ok := n.(sql.Expressioner)
	if !ok {
		return nil
	}
	var err error
	for _, expr := range x.Expressions() {
		transform.InspectExpr(expr, func(expr sql.Expression) bool {
			if s, ok := expr.(*plan.Subquery); ok && err == nil {
				outer := e.outer
				e.outer = true
				err = e.node(s.Query)
				e.outer = outer
			}
			return err != nil
		})
	}
	return err
}

func (e *explainer) add(d *rowscan.Decision) error {
	t := d.Access.Table
	a := Access{
		Table: t.Name(), Alias: d.Access.Alias, What: d.What, Limit: max(d.Scan.Limit, d.Scan.PartitionLimit),
		PartitionsTotal: t.Bound().Topic.Partitions,
		FromOffset:      math.MaxInt64, ToOffset: math.MinInt64,
		MinTimestamp: math.MaxInt64, MaxTimestamp: math.MinInt64,
	}
	for _, c := range d.Access.Schema {
		a.Columns = append(a.Columns, c.Name)
	}
	for _, p := range d.Pushed {
		a.Pushed = append(a.Pushed, p.String())
	}
	for _, l := range d.Left {
		a.Left = append(a.Left, l.Expr.String()+": "+l.Reason)
	}
	if !e.enabled {
		a.Note = sqltable.PushdownVariable + " is off"
	}
	req := t.WithScan(d.Scan).Request()
	if stored := scan.Stored(req.Source); stored != req.Source {
		a.Keys = true
		req.Source = stored
	}
	for _, r := range scan.Ranges(&req) {
		a.Partitions = append(a.Partitions, r.Partition)
		a.FromOffset, a.ToOffset = min(a.FromOffset, r.FromOffset), max(a.ToOffset, r.ToOffset)
		a.MinTimestamp, a.MaxTimestamp = min(a.MinTimestamp, r.MinTimestamp), max(a.MaxTimestamp, r.MaxTimestamp)
		if a.Keys {
			r = scan.Range{Partition: r.Partition, ToOffset: math.MaxInt64, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64}
		}
		n, more, err := countBatches(e.ctx, &req, r, explainBatches-a.Batches)
		if err != nil {
			return err
		}
		a.Batches += n
		a.BatchesMore = a.BatchesMore || more
	}
	for p := range a.PartitionsTotal {
		all := scan.Range{Partition: p, ToOffset: math.MaxInt64, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64}
		n, more, err := countBatches(e.ctx, &req, all, explainBatches-a.BatchesTotal)
		if err != nil {
			return err
		}
		a.BatchesTotal += n
		a.BatchesMore = a.BatchesMore || more
	}
	e.out = append(e.out, a)
	return nil
}

func countBatches(ctx *sql.Context, req *scan.Request, r scan.Range, most int64) (n int64, more bool, err error) {
	it, err := req.Source.Batches(ctx, state.TopicPartition{Topic: req.Table.Topic.ID, Partition: r.Partition}, r.Batches())
	if err != nil {
		return 0, false, err
	}
	defer it.Close()
	for it.Next() {
		if n >= most {
			return n, true, nil
		}
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return n, false, ctx.Err()
		}
	}
	return n, false, it.Err()
}

func (a *Access) write(sb *strings.Builder) {
	for _, d := range a.Declined {
		fmt.Fprintf(sb, "Not in columns: %s: %s\n", d.What, d.Reason)
	}
	if len(a.Operators) > 0 {
		sb.WriteString("In columns:\n")
		for _, l := range a.Operators {
			fmt.Fprintf(sb, "  %s\n", l)
		}
	}
	if a.Table == "" {
		return
	}
	fmt.Fprintf(sb, "Scan %s", a.Table)
	if a.Alias != "" {
		fmt.Fprintf(sb, " as %s", a.Alias)
	}
	if a.What != "" {
		fmt.Fprintf(sb, " (%s)", a.What)
	}
	sb.WriteByte('\n')
	if a.PartitionsTotal == 0 {
		return
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(sb, "  %s: %s\n", name, fmt.Sprintf(format, args...))
	}
	if a.Note != "" {
		line("pushdown", "%s", a.Note)
	}
	if a.Keys {
		line("rows", "the newest of each key: all batches of the partitions are read for their keys, then those with newest records for their rows")
	}
	line("columns", "%s", strings.Join(a.Columns, ", "))
	line("partitions", "%s of %d", partitionList(a.Partitions, a.PartitionsTotal), a.PartitionsTotal)
	if len(a.Partitions) > 0 {
		if a.FromOffset > 0 || a.ToOffset < math.MaxInt64 {
			to := "end"
			if a.ToOffset < math.MaxInt64 {
				to = fmt.Sprint(a.ToOffset)
			}
			line("offsets", "[%d, %s)", a.FromOffset, to)
		}
		if a.MinTimestamp > math.MinInt64 || a.MaxTimestamp < math.MaxInt64 {
			line("timestamps", "[%s, %s]", instant(a.MinTimestamp), instant(a.MaxTimestamp))
		}
	}
	if a.InColumns {
		line("blocks", "%d of %d (%d pruned by partition, offset and time)", a.Blocks, a.BlocksTotal, a.BlocksTotal-a.Blocks)
		for _, p := range a.Pushed {
			line("pushed", "%s", p)
		}
		return
	}
	more := ""
	if a.BatchesMore {
		more = ", counting stopped"
	}
	line("batches", "%d of %d (%d pruned%s)", a.Batches, a.BatchesTotal, a.BatchesTotal-a.Batches, more)
	for _, p := range a.Pushed {
		line("pushed", "%s", p)
	}
	for _, l := range a.Left {
		line("not pushed", "%s", l)
	}
	if a.Limit > 0 {
		line("limit", "%d", a.Limit)
	}
}

func partitionList(read []int32, total int32) string {
	switch {
	case len(read) == 0:
		return "none"
	case len(read) == int(total):
		return "all"
	}
	const most = 32
	var sb strings.Builder
	for i, p := range read {
		if i == most {
			sb.WriteString(", …")
			break
		}
		if i > 0 {
			sb.WriteString(", ")
		}
		fmt.Fprint(&sb, p)
	}
	return sb.String()
}

func instant(ms int64) string {
	if ms == math.MinInt64 || ms == math.MaxInt64 {
		return "-"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
