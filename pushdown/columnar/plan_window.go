package columnar

import (
	"millrace/internal/sqlplan"
	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/why"
	"millrace/pushdown/window"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// window converts window functions whose frames begin with the partition, and end with it or the current row: for each
// kind of sort an operator, which adds its functions' columns, then the selected columns.
func (p *planner) window(n *plan.Window) (*relation, string) {
	child, reason := p.relation(n.Child)
	if reason != "" {
		return nil, reason
	}
	out := &relation{width: len(n.SelectExprs), cols: make([]relColumn, len(n.SelectExprs))}
	exprs := make([]exec.Expr, len(n.SelectExprs))
	var sorts []*window.Sort
	var stages []*exec.Window
	places := make([][2]int, len(n.SelectExprs)) // of each function: its stage, and which there
	for i, e := range n.SelectExprs {
		e = sqlplan.Unalias(e)
		w, ok := e.(sql.WindowAdaptableExpression)
		if !ok {
			if f, ok := e.(*expression.GetField); ok && f.Index() >= 0 && f.Index() < child.width && child.cols[f.Index()].reason != "" {
				return nil, child.cols[f.Index()].reason
			}
			x, reason := p.expr(e, child)
			if reason != "" {
				p.note(e, reason)
				return nil, reason
			}
			exprs[i], out.cols[i] = x.expr, relColumn{at: i, form: x.form, text: e.String()}
			continue
		}
		def := w.Window()
		if def == nil {
			return nil, why.NotDependent
		}
		s := window.SortOf(def)
		at := -1
		for j := range sorts {
			if sorts[j].Same(s) {
				at = j
			}
		}
		if at < 0 {
			at = len(sorts)
			stage, reason := p.windowStage(s, def, child)
			if reason != "" {
				return nil, reason
			}
			sorts, stages = append(sorts, s), append(stages, stage)
		}
		f, form, reason := p.windowFunc(e, window.FrameOf(def), child)
		if reason != "" {
			p.note(e, reason)
			return nil, reason
		}
		places[i] = [2]int{at, len(stages[at].Funcs)}
		stages[at].Funcs = append(stages[at].Funcs, f)
		out.cols[i] = relColumn{at: i, form: form, text: e.String()}
	}
	node := child.node
	starts := make([]int, len(stages)) // of each stage's first column
	for i, s := range stages {
		s.Child = node
		starts[i] = len(node.Schema())
		node = s
	}
	for i := range exprs {
		if exprs[i] != nil {
			continue
		}
		at := places[i]
		f := stages[at[0]].Funcs[at[1]]
		exprs[i] = exec.Col{Index: starts[at[0]] + at[1], T: f.T}
		if t := out.cols[i].form.T; t != f.T {
			exprs[i] = exec.Convert{Arg: exprs[i], T: t, Text: out.cols[i].text} // a number of rows
		}
	}
	out.node = &exec.Project{Child: node, Exprs: exprs}
	return out, ""
}

// windowStage is the operator that sorts by s.
func (p *planner) windowStage(s *window.Sort, def *sql.WindowDefinition, child *relation) (*exec.Window, string) {
	out := &exec.Window{}
	for _, e := range s.Partition() {
		x, reason := p.expr(e, child)
		if reason == "" {
			x, reason = p.key(x)
		}
		if reason != "" {
			p.note(e, reason)
			return nil, reason
		}
		out.Partition = append(out.Partition, x.expr)
	}
	for _, f := range def.OrderBy {
		// The engine's own order of NULLs is not asked for in windows: they come first, and last descending.
		f.NullOrdering = sql.NullsFirst
		keys, reason := p.sortKeys(sql.SortFields{f}, child)
		if reason != "" {
			return nil, reason
		}
		out.Order = append(out.Order, keys...)
	}
	return out, ""
}

// windowFunc converts one function over the rows of child.
func (p *planner) windowFunc(e sql.Expression, f window.Frame, child *relation) (exec.WindowFunc, form.Form, string) {
	var none form.Form
	out := exec.WindowFunc{Rows: f.ByRows(), Whole: f.ToEnd()}
	c, own := e.(*window.Call)
	if !own {
		if !f.Growing() {
			return out, none, why.NotFrame
		}
		agg, form, reason := p.windowAggregate(e, child)
		out.Kind, out.Agg, out.T = exec.WindowAgg, agg, agg.T
		return out, form, reason
	}
	count := form.Form{Kind: form.Uint, SQL: c.Type(), T: form.UintType}
	out.T = form.IntType
	switch c.Name {
	case window.RowNumber:
		out.Kind = exec.RowNumber
		return out, count, ""
	case window.Rank:
		out.Kind = exec.Rank
		return out, count, ""
	case window.DenseRank:
		out.Kind = exec.DenseRank
		return out, count, ""
	case window.Lag, window.Lead:
		out.Kind, out.Offset = exec.Lag, 1
		if c.Name == window.Lead {
			out.Kind = exec.Lead
		}
		if len(c.Args) > 1 {
			n, err := c.Constant(p.ctx, 1, 0)
			if err != nil || n > 1<<31 {
				return out, none, why.NotExpression // with its own error
			}
			out.Offset = n
		}
	case window.FirstValue, window.LastValue:
		if !f.Growing() {
			return out, none, why.NotFrame
		}
		out.Kind = exec.FirstValue
		if c.Name == window.LastValue {
			out.Kind = exec.LastValue
		}
	default:
		return out, none, "a window function that only the engine computes"
	}
	x, reason := p.expr(c.Args[0], child)
	if reason != "" {
		return out, none, reason
	}
	out.Arg, out.T = x.expr, x.form.T
	result := x.form
	if len(c.Args) == 3 {
		d, reason := p.expr(c.Args[2], child)
		if reason != "" {
			return out, none, reason
		}
		null := d.form.Kind == form.Null
		if f, ok := commonForm(x.form, d.form, c.Type()); ok {
			out.Def = d.expr
			return out, f, ""
		}
		if !null && (!d.form.Alike(x.form) || !c.Args[2].Type().Equals(c.Args[0].Type()) || types.IsDecimal(c.Type())) || !c.Type().Equals(c.Args[0].Type()) {
			return out, none, why.NotFamilies
		}
		if !null {
			out.Def = d.expr
		}
	}
	return out, result, ""
}

// commonForm is the form of type t of integers, or of texts, which lie in vectors alike whatever their types.
func commonForm(a, b form.Form, t sql.Type) (form.Form, bool) {
	f, ok := form.Of(t)
	switch {
	case !ok || types.IsYear(a.SQL) || types.IsYear(b.SQL):
		return form.Form{}, false
	case a.Integer() && b.Integer() && f.Kind == form.Int, a.Kind == form.Text && b.Kind == form.Text && f.Kind == form.Text:
		return f, true
	}
	return form.Form{}, false
}

// windowAggregate converts an aggregate whose sum does not depend on how it is added up.
func (p *planner) windowAggregate(e sql.Expression, child *relation) (exec.Agg, form.Form, string) {
	switch e.(type) {
	case *aggregation.Count, *aggregation.Min, *aggregation.Max, meaning.Sum:
	default:
		return exec.Agg{}, form.Form{}, "an aggregate of windows that only the engine computes"
	}
	a, f, reason := p.aggregated(e, child)
	if reason == "" && (a.Distinct || f.Kind == form.Float && (a.Kind == exec.Sum || a.Kind == exec.Avg)) {
		reason = "a sum of doubles over a window"
	}
	return a, f, reason
}
