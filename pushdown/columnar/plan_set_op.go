package columnar

import (
	"math"

	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// setOp converts UNION [ALL] of sides whose columns lie alike.
func (p *planner) setOp(n *plan.SetOp) (*relation, string) {
	if n.SetOpType != plan.UnionType {
		return nil, why.NotKind
	}
	l, reason := p.side(n.Left())
	if reason != "" {
		return nil, reason
	}
	r, reason := p.side(n.Right())
	if reason != "" {
		return nil, reason
	}
	if len(l.cols) != len(r.cols) {
		return nil, why.NotKind
	}
	for i := range l.cols {
		lf, rf := l.cols[i].form, r.cols[i].form
		if !lf.Alike(rf) || !lf.SQL.Equals(rf.SQL) {
			return nil, "sides of different types"
		}
	}
	var children []exec.Node
	for _, side := range []*relation{l, r} {
		if u, ok := side.node.(*exec.Union); ok {
			children = append(children, u.Children...)
		} else {
			children = append(children, side.node)
		}
	}
	out := l.closed().over(&exec.Union{Children: children})
	if n.Distinct {
		if out, reason = p.distinctRows(out); reason != "" {
			return nil, reason
		}
	}
	if len(n.SortFields) > 0 {
		keys, reason := p.sortKeys(n.SortFields, out)
		if reason != "" {
			return nil, reason
		}
		out = out.over(&exec.Sort{Child: out.node, Keys: keys, Limit: -1})
	}
	if n.Limit == nil && n.Offset == nil {
		return out, ""
	}
	count, skip := int64(-1), int64(0)
	var err error
	if n.Limit != nil {
		if count, err = iters.GetInt64Value(p.ctx, n.Limit); err != nil || count < 0 {
			return nil, "not a number of rows"
		}
	}
	if n.Offset != nil {
		if skip, err = iters.GetInt64Value(p.ctx, n.Offset); err != nil || skip < 0 || skip > math.MaxInt64-max(count, 0) {
			return nil, "not a number of rows"
		}
	}
	child := out.node
	if count >= 0 {
		child = topRows(child, skip+count)
	}
	return out.over(&exec.Limit{Child: child, Offset: skip, Count: count}), ""
}

// side is one input of a union, with nothing but the visible columns in their order.
func (p *planner) side(n sql.Node) (*relation, string) {
	r, reason := p.relation(n)
	if reason == "" {
		reason = r.complete()
	}
	if reason != "" {
		return nil, reason
	}
	return r.plain(), ""
}
