package pushdown

import (
	"slices"
	"unicode/utf8"

	"millrace/internal/vector"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// SumAggregate is an exact SUM or AVG of the SQL server (the engine's own go through
// float64 and are never pushed): exactly the sum of exact numbers, in floating point else; AVG is that
// divided by the count, for exact numbers rounded half away from zero to the digits of its type.
type SumAggregate interface {
	sql.Aggregation
	// SumArgument is what is summed (a *expression.DistinctExpression for DISTINCT), and
	// whether it is AVG; ok is false where it has a form that is not told.
	SumArgument() (arg sql.Expression, avg, ok bool)
}

// VarianceAggregate is a variance or standard deviation of the SQL server.
type VarianceAggregate interface {
	sql.Aggregation
	// VarianceArgument is the argument, whether it is of a sample and whether the root is
	// taken; ok is false as a window.
	VarianceArgument() (arg sql.Expression, sample, root, ok bool)
}

// ConcatAggregate is GROUP_CONCAT of the SQL server.
type ConcatAggregate interface {
	sql.Aggregation
	// Concat is what is put together; false where it has a form that is not told.
	Concat(ctx *sql.Context) (Concat, bool)
}

// Concat is a GROUP_CONCAT: of a text, each different one once with Distinct.
type Concat struct {
	Text      sql.Expression
	Distinct  bool
	Order     []sql.Expression
	Descends  []bool
	Separator string
	MaxBytes  int
}

// group converts GROUP BY, or aggregates of all rows.
//
//  1. The keys are expressions whose equality is that of their values in vectors; instants count as
//     wall times where both do not change alike.
//  2. Every selected expression is a key, an aggregate that is known here, or a column: the planner selects
//     those that keys are made of, to compute the keys above. It is the first row's (as in group_rows.go).
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
		e = unalias(e)
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
		e = unalias(e)
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
			p.note(e, notDependent)
			return nil, notDependent
		}
		x, reason := child.field(f.Index())
		if reason != "" {
			*c = relColumn{reason: reason}
			continue
		}
		if len(n.GroupByExprs) == 0 {
			// HAVING makes the planner select columns of a single group as well.
			*c = relColumn{reason: notDependent}
			continue
		}
		*c = relColumn{at: len(agg.By) + len(agg.Aggs), form: x.form}
		agg.Aggs = append(agg.Aggs, exec.Agg{Kind: exec.AnyValue, Arg: x.expr, T: x.form.t})
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
		n.Exprs[at] = exec.Map{Arg: n.Exprs[at], T: stringType, Text: "to group_concat_max_len", Apply: func(c exec.Const) (exec.Const, error) {
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
		if k.text == text && k.form.sql.Equals(e.Type()) {
			return i
		}
	}
	return -1
}

// aggregate converts one aggregate function.
func (p *planner) aggregate(e sql.Aggregation, r *relation) (exec.Agg, form, string) {
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return exec.Agg{}, form{}, "a window"
	}
	return p.aggregated(e, r)
}

// aggregated converts an aggregate function, whatever rows it looks at.
func (p *planner) aggregated(e sql.Expression, r *relation) (exec.Agg, form, string) {
	count := form{kind: kindInt, sql: types.Int64, t: intType}
	switch e := e.(type) {
	case *aggregation.Count:
		arg, distinct := undistinct(e.Child)
		if lit, ok := arg.(*expression.Literal); ok && !distinct {
			if lit.Value() == nil {
				return exec.Agg{}, form{}, notExpression
			}
			return exec.Agg{Kind: exec.CountRows, T: intType}, count, ""
		}
		x, reason := p.expr(arg, r)
		if reason == "" && distinct {
			x, reason = p.key(x)
		}
		return exec.Agg{Kind: exec.Count, Arg: x.expr, Distinct: distinct, T: intType}, count, reason
	case *aggregation.CountDistinct:
		args := make([]exec.Expr, len(e.ChildExpressions))
		for i, c := range e.ChildExpressions {
			x, reason := p.expr(c, r)
			if reason == "" {
				x, reason = p.key(x)
			}
			if reason != "" {
				return exec.Agg{}, form{}, reason
			}
			args[i] = x.expr
		}
		arg := args[0]
		if len(args) > 1 {
			arg = exec.Func{Fn: exec.Tuple, Args: args, T: stringType}
		}
		return exec.Agg{Kind: exec.Count, Arg: arg, Distinct: true, T: intType}, count, ""
	case *aggregation.Min:
		return p.extreme(exec.Min, e.Child, e.Type(), r)
	case *aggregation.Max:
		return p.extreme(exec.Max, e.Child, e.Type(), r)
	case SumAggregate:
		return p.sum(e, r)
	case VarianceAggregate:
		return p.variance(e, r)
	case ConcatAggregate:
		return p.groupConcat(e, r)
	case *aggregation.BitAnd:
		return p.bits(exec.BitAnd, e.Child, e.Type(), r)
	case *aggregation.BitOr:
		return p.bits(exec.BitOr, e.Child, e.Type(), r)
	case *aggregation.BitXor:
		return p.bits(exec.BitXor, e.Child, e.Type(), r)
	}
	return exec.Agg{}, form{}, "an aggregate that only the engine computes"
}

func undistinct(e sql.Expression) (sql.Expression, bool) {
	if d, ok := e.(*expression.DistinctExpression); ok {
		return d.Child, true
	}
	return e, false
}

// extreme is MIN or MAX of what has the order of its values in vectors.
func (p *planner) extreme(kind exec.AggKind, arg sql.Expression, t sql.Type, r *relation) (exec.Agg, form, string) {
	arg, _ = undistinct(arg) // no difference
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form{}, reason
	}
	if x.form.kind == kindInstant {
		if !p.zone.Fixed() {
			x = p.wall(x)
		}
	} else if !x.form.sortable() {
		return exec.Agg{}, form{}, notOrder
	}
	f := x.form
	f.sql = t
	return exec.Agg{Kind: kind, Arg: x.expr, T: f.t}, f, ""
}

func (p *planner) sum(e SumAggregate, r *relation) (exec.Agg, form, string) {
	arg, avg, ok := e.SumArgument()
	if !ok {
		return exec.Agg{}, form{}, notExpression
	}
	arg, distinct := undistinct(arg)
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form{}, reason
	}
	f, ok := formOf(e.Type())
	if !ok {
		return exec.Agg{}, form{}, notType
	}
	kind := exec.Sum
	if avg {
		kind = exec.Avg
	}
	switch f.kind {
	case kindDecimal:
		switch x.form.kind {
		case kindBool, kindInt, kindUint, kindDecimal:
		default:
			return exec.Agg{}, form{}, notFamilies
		}
		f.t = exec.Type{Kind: vector.Decimal256, Scale: f.t.Scale}
		if !avg && f.t.Scale != x.form.t.Scale {
			return exec.Agg{}, form{}, notType
		}
	case kindFloat:
		if x.form.kind != kindFloat {
			return exec.Agg{}, form{}, notFamilies
		}
	default:
		return exec.Agg{}, form{}, notFamilies
	}
	return exec.Agg{Kind: kind, Arg: x.expr, Distinct: distinct, T: f.t}, f, ""
}

func (p *planner) variance(e VarianceAggregate, r *relation) (exec.Agg, form, string) {
	arg, sample, root, ok := e.VarianceArgument()
	if !ok {
		return exec.Agg{}, form{}, "a window"
	}
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form{}, reason
	}
	f, ok := toFloat(x)
	if !ok {
		return exec.Agg{}, form{}, notFamilies
	}
	kind := map[[2]bool]exec.AggKind{
		{false, false}: exec.VarPop, {true, false}: exec.VarSamp, {false, true}: exec.StdPop, {true, true}: exec.StdSamp,
	}[[2]bool{sample, root}]
	return exec.Agg{Kind: kind, Arg: f, T: floatType}, form{kind: kindFloat, sql: types.Float64, t: floatType}, ""
}

func (p *planner) bits(kind exec.AggKind, arg sql.Expression, t sql.Type, r *relation) (exec.Agg, form, string) {
	x, reason := p.expr(arg, r)
	if reason != "" {
		return exec.Agg{}, form{}, reason
	}
	f, ok := formOf(t)
	if !ok || f.kind != kindUint || x.form.kind != kindUint && !x.form.integer() || types.IsYear(x.form.sql) {
		return exec.Agg{}, form{}, notFamilies
	}
	return exec.Agg{Kind: kind, Arg: x.expr, T: uintType}, f, ""
}

func (p *planner) groupConcat(e ConcatAggregate, r *relation) (exec.Agg, form, string) {
	c, ok := e.Concat(p.ctx)
	if !ok {
		return exec.Agg{}, form{}, "a form of GROUP_CONCAT that only the engine computes"
	}
	x, reason := p.expr(c.Text, r)
	if reason != "" {
		return exec.Agg{}, form{}, reason
	}
	if x.form.kind == kindInt && !types.IsYear(x.form.sql) {
		x = typed{exec.Convert{Arg: x.expr, T: stringType, Text: c.Text.String()}, form{kind: kindText, sql: types.LongText, t: stringType}}
	}
	if x.form.kind != kindText || c.Distinct && !comparableBytes(x.form.sql) {
		return exec.Agg{}, form{}, notFamilies
	}
	out := exec.Agg{Kind: exec.GroupConcat, Arg: x.expr, Distinct: c.Distinct, T: stringType, Separator: []byte(c.Separator), MaxLen: c.MaxBytes + utf8.UTFMax}
	for i, o := range c.Order {
		if c.Distinct && o.String() != c.Text.String() {
			return exec.Agg{}, form{}, "GROUP_CONCAT(DISTINCT) in another order than its own"
		}
		k, reason := p.expr(o, r)
		if reason == "" && k.form.kind != kindInstant && !k.form.sortable() {
			reason = notOrder
		}
		if reason != "" {
			return exec.Agg{}, form{}, reason
		}
		if k.form.kind == kindInstant && !p.zone.Fixed() {
			k = p.wall(k)
		}
		out.Order = append(out.Order, exec.SortKey{Expr: k.expr, Desc: c.Descends[i]})
	}
	f, ok := formOf(e.Type())
	if !ok || f.kind != kindText {
		return exec.Agg{}, form{}, notType
	}
	return out, f, ""
}
