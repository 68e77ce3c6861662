package columnar

import (
	"slices"
	"unicode/utf8"

	"millrace/internal/sqlplan"
	"millrace/internal/vector"
	"millrace/pushdown/compare"
	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// group converts GROUP BY, or aggregates of all rows.
//
//  1. The keys are expressions whose equality is that of their values in vectors; instants count as
//     wall times where both do not change alike.
//  2. Every selected expression is a key, an aggregate that is known here, or a column: the planner selects
//     those that keys are made of, to compute the keys above. It is the first row's (as in package rows).
//  3. Without keys there is an aggregate (the engine reads rows one by one if there is none).
func (p *planner) group(n *plan.GroupBy) (*relation, string) {
	if r := p.fromBounds(n); r != nil {
		return r, ""
	}
	child, reason := p.relation(n.Child)
	if reason != "" {
		return nil, reason
	}
	if child, reason = p.withSubqueries(child, slices.Concat(n.GroupByExprs, n.SelectedExprs)...); reason != "" {
		return nil, reason
	}
	agg := &exec.Aggregate{Child: child.node}
	var keys []relColumn
	for _, e := range n.GroupByExprs { // 1
		e = sqlplan.Unalias(e)
		x, reason := p.expr(e, child)
		if reason == "" {
			x, reason = p.key(x)
		}
		if reason != "" {
			p.note(e, reason)
			return nil, reason
		}
		keys = append(keys, relColumn{at: len(agg.By), form: x.form, text: e.String()})
		agg.By = append(agg.By, x.expr)
	}
	out := &relation{node: agg, width: len(n.SelectedExprs), cols: make([]relColumn, len(n.SelectedExprs))}
	aggregates := 0
	var cuts []int                      // columns of GROUP_CONCAT
	for i, e := range n.SelectedExprs { // 2
		e = sqlplan.Unalias(e)
		text := e.String()
		if k := keyOf(keys, text, e); k >= 0 {
			out.cols[i] = keys[k]
			continue
		}
		c := &out.cols[i]
		if a, ok := e.(sql.Aggregation); ok {
			x, f, reason := p.aggregate(a, child)
			if reason != "" {
				p.note(e, reason)
				return nil, reason
			}
			aggregates++
			*c = relColumn{at: len(agg.By) + len(agg.Aggs), form: f, text: text}
			if x.Kind == exec.GroupConcat {
				cuts = append(cuts, i)
			}
			agg.Aggs = append(agg.Aggs, x)
			continue
		}
		f, ok := e.(*expression.GetField)
		if !ok {
			p.note(e, why.NotDependent)
			return nil, why.NotDependent
		}
		x, reason := child.field(f.Index())
		if reason != "" {
			*c = relColumn{reason: reason}
			continue
		}
		if len(n.GroupByExprs) == 0 {
			// HAVING makes the planner select columns of a single group as well.
			*c = relColumn{reason: why.NotDependent}
			continue
		}
		*c = relColumn{at: len(agg.By) + len(agg.Aggs), form: x.form}
		agg.Aggs = append(agg.Aggs, exec.Agg{Kind: exec.AnyValue, Arg: x.expr, T: x.form.T})
	}
	if len(agg.By) == 0 && aggregates == 0 { // 3
		return nil, "nothing to aggregate"
	}
	// The keys are of use above even where they are not selected.
	out.cols = append(out.cols, keys...)
	if len(cuts) > 0 {
		return p.cut(out, cuts), ""
	}
	return out, ""
}

// cut ends the texts of columns that GROUP_CONCAT made a character longer than they may be, and warns of
// each, as the engine does.
func (p *planner) cut(r *relation, columns []int) *relation {
	schema := r.node.Schema()
	n := &exec.Project{Child: r.node, Exprs: make([]exec.Expr, len(schema))}
	for i, t := range schema {
		n.Exprs[i] = exec.Col{Index: i, T: t}
	}
	ctx, lock := p.ctx, p.engine
	for _, i := range columns {
		at := r.cols[i].at
		most := r.node.(*exec.Aggregate).Aggs[at-len(r.node.(*exec.Aggregate).By)].MaxLen - utf8.UTFMax
		n.Exprs[at] = exec.Map{Arg: n.Exprs[at], T: form.StringType, Text: "to group_concat_max_len", Apply: func(c exec.Const) (exec.Const, error) {
			if len(c.Bytes) <= most {
				return c, nil
			}
			end := most
			for end > 0 && !utf8.RuneStart(c.Bytes[end]) {
				end--
			}
			c.Bytes = c.Bytes[:end]
			lock.Lock()
			defer lock.Unlock()
			ctx.Warn(1260, "A row was cut by GROUP_CONCAT(): group_concat_max_len is %d", most)
			return c, nil
		}}
	}
	return r.over(n)
}

func keyOf(keys []relColumn, text string, e sql.Expression) int {
	if _, agg := e.(sql.Aggregation); agg {
		return -1
	}
	for i, k := range keys {
		if k.text == text && k.form.SQL.Equals(e.Type()) {
			return i
		}
	}
	return -1
}

// aggregate converts one aggregate function.
func (p *planner) aggregate(e sql.Aggregation, r *relation) (exec.Agg, form.Form, string) {
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return exec.Agg{}, form.Form{}, "a window"
	}
	return p.aggregated(e, r)
}

// aggregated converts an aggregate function, whatever rows it looks at.
func (p *planner) aggregated(e sql.Expression, r *relation) (exec.Agg, form.Form, string) {
	count := form.Form{Kind: form.Int, SQL: types.Int64, T: form.IntType}
	switch e := e.(type) {
	case *aggregation.Count:
		arg, distinct := undistinct(e.Child)
		if lit, ok := arg.(*expression.Literal); ok && !distinct {
			if lit.Value() == nil {
				return exec.Agg{}, form.Form{}, why.NotExpression
			}
			return exec.Agg{Kind: exec.CountRows, T: form.IntType}, count, ""
		}
		x, reason := p.expr(arg, r)
		if reason == "" && distinct {
			x, reason = p.key(x)
		}
		return exec.Agg{Kind: exec.Count, Arg: x.expr, Distinct: distinct, T: form.IntType}, count, reason
	case *aggregation.CountDistinct:
		args := make([]exec.Expr, len(e.ChildExpressions))
		for i, c := range e.ChildExpressions {
			x, reason := p.expr(c, r)
			if reason == "" {
				x, reason = p.key(x)
			}
			if reason != "" {
				return exec.Agg{}, form.Form{}, reason
			}
			args[i] = x.expr
		}
		arg := args[0]
		if len(args) > 1 {
			arg = exec.Func{Fn: exec.Tuple, Args: args, T: form.StringType}
		}
		return exec.Agg{Kind: exec.Count, Arg: arg, Distinct: true, T: form.IntType}, count, ""
	case *aggregation.Min:
		return p.extreme(exec.Min, e.Child, e.Type(), r)
	case *aggregation.Max:
		return p.extreme(exec.Max, e.Child, e.Type(), r)
	case meaning.Sum:
		return p.sum(e, r)
	case meaning.Variance:
		return p.variance(e, r)
	case meaning.GroupConcat:
		return p.groupConcat(e, r)
	case *aggregation.BitAnd:
		return p.bits(exec.BitAnd, e.Child, e.Type(), r)
	case *aggregation.BitOr:
		return p.bits(exec.BitOr, e.Child, e.Type(), r)
	case *aggregation.BitXor:
		return p.bits(exec.BitXor, e.Child, e.Type(), r)
	}
	return exec.Agg{}, form.Form{}, "an aggregate that only the engine computes"
}

func undistinct(e sql.Expression) (sql.Expression, bool) {
	if d, ok := e.(*expression.DistinctExpression); ok {
		return d.Child, true
	}
	return e, false
}

// extreme is MIN or MAX of what has the order of its values in vectors.
func (p *planner) extreme(kind exec.AggKind, arg sql.Expression, t sql.Type, r *relation) (exec.Agg, form.Form, string) {
	arg, _ = undistinct(arg) // no difference
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form.Form{}, reason
	}
	if x.form.Kind == form.Instant {
		if !p.zone.Fixed() {
			x = p.wall(x)
		}
	} else if !x.form.Sortable() {
		return exec.Agg{}, form.Form{}, why.NotOrder
	}
	f := x.form
	f.SQL = t
	return exec.Agg{Kind: kind, Arg: x.expr, T: f.T}, f, ""
}

func (p *planner) sum(e meaning.Sum, r *relation) (exec.Agg, form.Form, string) {
	arg, avg, ok := e.SumArgument()
	if !ok {
		return exec.Agg{}, form.Form{}, why.NotExpression
	}
	arg, distinct := undistinct(arg)
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form.Form{}, reason
	}
	f, ok := form.Of(e.Type())
	if !ok {
		return exec.Agg{}, form.Form{}, why.NotType
	}
	kind := exec.Sum
	if avg {
		kind = exec.Avg
	}
	switch f.Kind {
	case form.Decimal:
		switch x.form.Kind {
		case form.Bool, form.Int, form.Uint, form.Decimal:
		default:
			return exec.Agg{}, form.Form{}, why.NotFamilies
		}
		f.T = exec.Type{Kind: vector.Decimal256, Scale: f.T.Scale}
		if !avg && f.T.Scale != x.form.T.Scale {
			return exec.Agg{}, form.Form{}, why.NotType
		}
	case form.Float:
		if x.form.Kind != form.Float {
			return exec.Agg{}, form.Form{}, why.NotFamilies
		}
	default:
		return exec.Agg{}, form.Form{}, why.NotFamilies
	}
	return exec.Agg{Kind: kind, Arg: x.expr, Distinct: distinct, T: f.T}, f, ""
}

func (p *planner) variance(e meaning.Variance, r *relation) (exec.Agg, form.Form, string) {
	arg, sample, root, ok := e.VarianceArgument()
	if !ok {
		return exec.Agg{}, form.Form{}, "a window"
	}
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form.Form{}, reason
	}
	f, ok := toFloat(x)
	if !ok {
		return exec.Agg{}, form.Form{}, why.NotFamilies
	}
	kind := map[[2]bool]exec.AggKind{
		{false, false}: exec.VarPop, {true, false}: exec.VarSamp, {false, true}: exec.StdPop, {true, true}: exec.StdSamp,
	}[[2]bool{sample, root}]
	return exec.Agg{Kind: kind, Arg: f, T: form.FloatType}, form.Form{Kind: form.Float, SQL: types.Float64, T: form.FloatType}, ""
}

func (p *planner) bits(kind exec.AggKind, arg sql.Expression, t sql.Type, r *relation) (exec.Agg, form.Form, string) {
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form.Form{}, reason
	}
	f, ok := form.Of(t)
	if !ok || f.Kind != form.Uint || x.form.Kind != form.Uint && !x.form.Integer() || types.IsYear(x.form.SQL) {
		return exec.Agg{}, form.Form{}, why.NotFamilies
	}
	return exec.Agg{Kind: kind, Arg: x.expr, T: form.UintType}, f, ""
}

func (p *planner) groupConcat(e meaning.GroupConcat, r *relation) (exec.Agg, form.Form, string) {
	c, ok := e.Concat(p.ctx)
	if !ok {
		return exec.Agg{}, form.Form{}, "a form of GROUP_CONCAT that only the engine computes"
	}
	x, reason := p.expr(c.Text, r)
	if reason != "" {
		return exec.Agg{}, form.Form{}, reason
	}
	if x.form.Kind == form.Int && !types.IsYear(x.form.SQL) {
		x = typed{exec.Convert{Arg: x.expr, T: form.StringType, Text: c.Text.String()}, form.Form{Kind: form.Text, SQL: types.LongText, T: form.StringType}}
	}
	if x.form.Kind != form.Text || c.Distinct && !compare.ByBytes(x.form.SQL) {
		return exec.Agg{}, form.Form{}, why.NotFamilies
	}
	out := exec.Agg{Kind: exec.GroupConcat, Arg: x.expr, Distinct: c.Distinct, T: form.StringType, Separator: []byte(c.Separator), MaxLen: c.MaxBytes + utf8.UTFMax}
	for i, o := range c.Order {
		if c.Distinct && o.String() != c.Text.String() {
			return exec.Agg{}, form.Form{}, "GROUP_CONCAT(DISTINCT) in another order than its own"
		}
		k, reason := p.expr(o, r)
		if reason == "" && k.form.Kind != form.Instant && !k.form.Sortable() {
			reason = why.NotOrder
		}
		if reason != "" {
			return exec.Agg{}, form.Form{}, reason
		}
		if k.form.Kind == form.Instant && !p.zone.Fixed() {
			k = p.wall(k)
		}
		out.Order = append(out.Order, exec.SortKey{Expr: k.expr, Desc: c.Descends[i]})
	}
	f, ok := form.Of(e.Type())
	if !ok || f.Kind != form.Text {
		return exec.Agg{}, form.Form{}, why.NotType
	}
	return out, f, ""
}
