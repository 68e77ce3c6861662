package columnar

import (
	"fmt"
	"math"

	"millrace/catalog/sqltable"
	"millrace/internal/sqlplan"
	"millrace/pushdown/exact"
	"millrace/pushdown/form"
	"millrace/pushdown/rowscan"
	"millrace/pushdown/why"
	"millrace/scan"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// relation converts the subtree of n. A relation's rows are those of n, in the same order, and its
// fields those of n's rows.
func (p *planner) relation(n sql.Node) (*relation, string) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return p.table(n)
	case *plan.TableAlias:
		return p.under(n.Child)
	case *plan.SubqueryAlias:
		if !n.OuterScopeVisibility && !n.IsLateral {
			defer func(outer int) { p.lateral = outer }(p.lateral)
			p.lateral = 0
		}
		return p.under(n.Child)
	case *sqlplan.KeptSchema:
		return p.relation(n.Child)
	case *plan.Filter:
		return p.filter(n, n.Expression, n.Child)
	case *plan.Having:
		return p.filter(n, n.Cond, n.Child)
	case *plan.Project:
		return p.project(n)
	case *plan.GroupBy:
		return p.group(n)
	case *plan.Distinct:
		return p.distinct(n.Child)
	case *plan.OrderedDistinct:
		return p.distinct(n.Child)
	case *plan.Sort:
		return p.sort(n.SortFields, n.Child)
	case *plan.TopN:
		return p.topN(n)
	case *plan.Limit:
		return p.limit(n)
	case *plan.Offset:
		return p.skip(n)
	case *plan.SetOp:
		return p.setOp(n)
	case *plan.JoinNode:
		return p.join(n)
	case *plan.Window:
		return p.window(n)
	}
	return nil, why.NotKind
}

func (p *planner) under(n sql.Node) (*relation, string) {
	r, reason := p.relation(n)
	if reason != "" {
		return nil, reason
	}
	return r.closed(), ""
}

// table reads a topic, or a companion whose rows are some of the topic's.
func (p *planner) table(n *plan.ResolvedTable) (*relation, string) {
	t, ok := sql.GetUnderlyingTable(n.Table).(*sqltable.Table)
	if !ok {
		return nil, why.NotTopic
	}
	if t.Planned() || t.Latest() || n.AsOf != nil {
		return nil, why.NotColumnar
	}
	source := p.source(p.ctx, t)
	if source == nil {
		return nil, why.NotColumnar
	}
	req := t.Request()
	schema := t.Schema()
	s := &exec.Scan{Table: t.Bound(), Source: source, Columns: req.Columns, Types: make([]exec.Type, len(req.Columns))}
	r := &relation{node: s, width: len(schema), cols: make([]relColumn, len(schema))}
	for i, c := range schema {
		f, ok := form.OfColumn(t.Bound(), req.Columns[i], c.Type)
		if !ok {
			return nil, fmt.Sprintf("column %s is of a type that is read row by row", c.Name)
		}
		s.Types[i] = f.T
		r.cols[i] = relColumn{at: i, form: f}
	}
	if req.Filter != nil {
		s.Prune = req.Filter
		f, ok := p.scanFilter(s, req.Filter)
		if !ok {
			return nil, why.NotColumnar
		}
		s.Filter = f
	}
	p.scans, p.tables = append(p.scans, s), append(p.tables, t)
	return r, ""
}

// scanFilter is a companion's filter over the columns of s, to which it adds those it needs.
func (p *planner) scanFilter(s *exec.Scan, e scan.Expr) (exec.Expr, bool) {
	switch e := e.(type) {
	case scan.Not:
		arg, ok := p.scanFilter(s, e.Arg)
		return exec.Not{Arg: arg}, ok
	case scan.IsNull:
		for i, c := range s.Columns {
			if c == e.Column {
				return exec.IsNull{Arg: exec.Col{Index: i, T: s.Types[i]}}, true
			}
		}
		if e.Column.Kind != scan.Error {
			return nil, false
		}
		s.Columns = append(s.Columns[:len(s.Columns):len(s.Columns)], e.Column)
		s.Types = append(s.Types[:len(s.Types):len(s.Types)], form.StringType)
		return exec.IsNull{Arg: exec.Col{Index: len(s.Columns) - 1, T: form.StringType}}, true
	}
	return nil, false
}

func (p *planner) filter(n sql.Node, cond sql.Expression, child sql.Node) (*relation, string) {
	r, reason := p.relation(child)
	if reason != "" {
		return nil, reason
	}
	if x := exact.Filter(p.ctx, cond); x != nil {
		cond = x
	}
	// First what needs no other rows, which leaves fewer.
	var own, others []sql.Expression
	for _, c := range expression.SplitConjunction(cond) {
		if _, _, ok := memberOf(p.ctx, c); ok {
			others = append(others, c)
		} else {
			own = append(own, c)
		}
	}
	if len(own) > 0 {
		if r, reason = p.kept(n, expression.JoinAnd(own...), r); reason != "" {
			return nil, reason
		}
	}
	for _, e := range others {
		m, negated, _ := memberOf(p.ctx, e)
		if r, reason = p.matched(r, m, negated); reason != "" {
			p.note(e, reason)
			return nil, reason
		}
	}
	return r, ""
}

// kept are the rows of r for which cond, of filter n, is true.
func (p *planner) kept(n sql.Node, cond sql.Expression, r *relation) (*relation, string) {
	r, reason := p.withSubqueries(r, cond)
	if reason != "" {
		return nil, reason
	}
	c, reason := p.condition(cond, r)
	if reason != "" {
		p.note(cond, reason)
		return nil, reason
	}
	if s, ok := r.node.(*exec.Scan); ok {
		if f, ok := n.(*plan.Filter); ok {
			p.prune(s, f)
		}
	}
	return r.over(filtered(r.node, c)), ""
}

// filtered are the rows of n for which cond is true. A scan, which nobody else has, filters itself.
func filtered(n exec.Node, cond exec.Expr) exec.Node {
	if s, ok := n.(*exec.Scan); ok {
		s.Filter = and(s.Filter, cond)
		return s
	}
	return &exec.Filter{Child: n, Cond: cond}
}

// and is true where b is and a, if it is not nil.
func and(a, b exec.Expr) exec.Expr {
	if a == nil {
		return b
	}
	if and, ok := a.(exec.And); ok {
		return exec.And{Args: append(and.Args[:len(and.Args):len(and.Args)], b)}
	}
	return exec.And{Args: []exec.Expr{a, b}}
}

// prune tells the scan what follows from the filter for partitions, offsets and times.
func (p *planner) prune(s *exec.Scan, f *plan.Filter) {
	a := rowscan.Match(f)
	if a == nil {
		return
	}
	follows := a.Filters(p.ctx).Scan.Filter
	switch {
	case follows == nil:
	case s.Prune == nil:
		s.Prune = follows
	default:
		s.Prune = scan.And{Args: []scan.Expr{s.Prune, follows}}
	}
}

func (p *planner) project(n *plan.Project) (*relation, string) {
	child, reason := p.relation(n.Child)
	if reason != "" {
		return nil, reason
	}
	if child, reason = p.withSubqueries(child, n.Projections...); reason != "" {
		return nil, reason
	}
	out := &relation{width: len(n.Projections), cols: make([]relColumn, len(n.Projections))}
	node := &exec.Project{Child: child.node}
	for i, e := range n.Projections {
		e = sqlplan.Unalias(e)
		c := &out.cols[i]
		if f, ok := e.(*expression.GetField); ok && f.Index() >= 0 && f.Index() < child.width {
			// A field may be passed on even if nothing may read it.
			*c = child.cols[f.Index()]
			c.text = ""
			if c.reason == "" {
				c.at = p.output(node, c.typed().expr, child.cols[f.Index()].at)
				c.text = child.cols[f.Index()].text
			}
			continue
		}
		x, reason := p.expr(e, child)
		if reason != "" {
			p.note(e, reason)
			return nil, reason
		}
		*c = relColumn{at: len(node.Exprs), form: x.form, text: e.String()}
		node.Exprs = append(node.Exprs, x.expr)
	}
	// What was computed below is of use to a sort above, which spells it out again.
	for i := range child.cols {
		c := child.cols[i]
		if i >= child.width && c.text != "" && c.reason == "" {
			at := p.output(node, c.typed().expr, c.at)
			out.cols = append(out.cols, relColumn{at: at, form: c.form, text: c.text})
		}
	}
	out.node = node
	return out, ""
}

// output is where column `at` comes out of a projection, each once.
func (p *planner) output(n *exec.Project, e exec.Expr, at int) int {
	for i, x := range n.Exprs {
		if c, ok := x.(exec.Col); ok && c.Index == at {
			return i
		}
	}
	n.Exprs = append(n.Exprs, e)
	return len(n.Exprs) - 1
}

func (p *planner) distinct(child sql.Node) (*relation, string) {
	r, reason := p.relation(child)
	if reason == "" {
		reason = r.complete()
	}
	if reason != "" {
		return nil, reason
	}
	return p.distinctRows(r)
}

// distinctRows keeps the first of equal rows.
func (p *planner) distinctRows(r *relation) (*relation, string) {
	out := &relation{width: r.width, cols: make([]relColumn, r.width)}
	n := &exec.Aggregate{Child: r.node}
	for i := range r.cols[:r.width] {
		x, reason := p.key(r.cols[i].typed())
		if reason != "" {
			return nil, reason
		}
		out.cols[i] = relColumn{at: i, form: x.form, text: r.cols[i].text}
		n.By = append(n.By, x.expr)
	}
	out.node = n
	return out, ""
}

// key is x as it may be grouped by: instants as wall times where both do not change alike.
func (p *planner) key(x typed) (typed, string) {
	if x.form.Kind == form.Instant {
		if !p.zone.Fixed() {
			return p.wall(x), ""
		}
		return x, ""
	}
	if !x.form.Keyable() {
		return typed{}, why.NotKey
	}
	return x, ""
}

func (p *planner) sort(fields sql.SortFields, child sql.Node) (*relation, string) {
	r, reason := p.relation(child)
	if reason != "" {
		return nil, reason
	}
	for _, f := range fields {
		if r, reason = p.withSubqueries(r, f.Column); reason != "" {
			return nil, reason
		}
	}
	keys, reason := p.sortKeys(fields, r)
	if reason != "" {
		return nil, reason
	}
	return r.over(&exec.Sort{Child: r.node, Keys: keys, Limit: -1}), ""
}

func (p *planner) sortKeys(fields sql.SortFields, r *relation) ([]exec.SortKey, string) {
	var keys []exec.SortKey
	for _, f := range fields {
		if f.NullOrdering != sql.NullsFirst {
			return nil, "NULLs are not first"
		}
		x, reason := p.expr(sqlplan.Unalias(f.Column), r)
		if reason != "" {
			p.note(f.Column, reason)
			return nil, reason
		}
		if x.form.Kind == form.Instant {
			if !p.zone.Fixed() {
				x = p.wall(x)
			}
		} else if !x.form.Sortable() {
			p.note(f.Column, why.NotOrder)
			return nil, why.NotOrder
		}
		keys = append(keys, exec.SortKey{Expr: x.expr, Desc: f.Order == sql.Descending})
	}
	return keys, ""
}

func (p *planner) topN(n *plan.TopN) (*relation, string) {
	if n.CalcFoundRows {
		return nil, why.FoundRows
	}
	limit, err := iters.GetInt64Value(p.ctx, n.Limit)
	if err != nil || limit < 0 {
		return nil, "not a number of rows"
	}
	r, reason := p.sort(n.Fields, n.Child)
	if reason != "" {
		return nil, reason
	}
	r.node.(*exec.Sort).Limit = limit
	return r, ""
}

func (p *planner) limit(n *plan.Limit) (*relation, string) {
	if n.CalcFoundRows {
		return nil, why.FoundRows
	}
	count, err := iters.GetInt64Value(p.ctx, n.Limit)
	if err != nil || count < 0 {
		return nil, "not a number of rows"
	}
	child, skip := n.Child, int64(0)
	if o, ok := child.(*plan.Offset); ok {
		if skip, err = iters.GetInt64Value(p.ctx, o.Offset); err != nil || skip < 0 || skip > math.MaxInt64-count {
			return nil, "not a number of rows"
		}
		child = o.Child
	}
	r, reason := p.relation(child)
	if reason != "" {
		return nil, reason
	}
	return r.over(&exec.Limit{Child: topRows(r.node, skip+count), Offset: skip, Count: count}), ""
}

// topRows lets a sort beneath projections keep no more than most rows.
func topRows(n exec.Node, most int64) exec.Node {
	switch n := n.(type) {
	case *exec.Project:
		out := *n
		out.Child = topRows(n.Child, most)
		return &out
	case *exec.Sort:
		out := *n
		if out.Limit < 0 || out.Limit > most {
			out.Limit = most
		}
		return &out
	}
	return n
}

func (p *planner) skip(n *plan.Offset) (*relation, string) {
	skip, err := iters.GetInt64Value(p.ctx, n.Offset)
	if err != nil || skip < 0 {
		return nil, "not a number of rows"
	}
	r, reason := p.relation(n.Child)
	if reason != "" {
		return nil, reason
	}
	return r.over(&exec.Limit{Child: r.node, Offset: skip, Count: -1}), ""
}
