package boundplan

import (
	"reflect"
	"time"

	"millrace/catalog/sqltable"
	"millrace/internal/sqlplan"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// fixSetOps gives the columns of UNION, INTERSECT and EXCEPT the types that MySQL gives them. The
// planner converts the sides to types that lose values (DECIMAL(10,0), text for numbers of two kinds),
// and what stands above keeps the left side's types, to which values are then cut.
//
// changed: references in node may have other types than their columns already.
func fixSetOps(node sql.Node, changed bool) (sql.Node, error) {
	f := setOps{types: map[sql.ColumnId]sql.Type{}, changed: changed}
	return f.fix(node)
}

type setOps struct {
	types   map[sql.ColumnId]sql.Type // of columns whose references may have another type
	changed bool                      // there are such columns below
}

func (f *setOps) fix(node sql.Node) (sql.Node, error) {
	if n, ok := node.(*plan.RecursiveCte); ok {
		return f.recursive(n)
	}
	if n, ok := node.(*plan.SetOp); ok {
		return f.setOp(n)
	}
	children := node.Children()
	if len(children) > 0 {
		fixed, changed := make([]sql.Node, len(children)), false
		for i, c := range children {
			x, err := f.fix(c)
			if err != nil {
				return nil, err
			}
			fixed[i], changed = x, changed || x != c
		}
		if changed {
			var err error
			if node, err = node.WithChildren(fixed...); err != nil {
				return nil, err
			}
		}
	}
	if f.changed {
		var err error
		if node, err = f.retype(node); err != nil {
			return nil, err
		}
	}
	if n, ok := node.(*plan.SubqueryAlias); ok {
		f.register(n.Columns(), n.Child.Schema())
	}
	return node, nil
}

// register remembers the types of a node's columns, if anything below it was changed.
func (f *setOps) register(ids sql.ColSet, schema sql.Schema) {
	if !f.changed {
		return
	}
	i := 0
	ids.ForEach(func(id sql.ColumnId) {
		if i < len(schema) {
			f.types[id] = schema[i].Type
		}
		i++
	})
}

// retype gives references in a node's expressions their column's type, and remembers the types of
// what the node computes from them.
func (f *setOps) retype(node sql.Node) (sql.Node, error) {
	out, _, err := transform.OneNodeExpressions(node, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		g, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		t, ok := f.types[g.Id()]
		if !ok || t.Equals(g.Type()) {
			return e, transform.SameTree, nil
		}
		return expression.NewGetFieldWithTable(int(g.Id()), int(g.TableId()), t, g.Database(), g.Table(), g.Name(), g.IsNullable()), transform.NewTree, nil
	})
	if err != nil {
		return nil, err
	}
	x, ok := out.(sql.Expressioner)
	if !ok {
		return out, nil
	}
	for _, e := range x.Expressions() {
		if id, ok := e.(sql.IdExpression); ok && id.Id() != 0 {
			f.types[id.Id()] = e.Type()
		}
	}
	return out, nil
}

// setOp is n with the types that its members have together. Operations of one kind in one another have one
// type for each column, so that between them there is no conversion.
func (f *setOps) setOp(n *plan.SetOp) (sql.Node, error) {
	m := &setMembers{kind: n.SetOpType}
	if err := m.collect(f, n); err != nil {
		return nil, err
	}
	var out []sql.Type
	for i, l := range m.leaves {
		schema := l.node.Schema()
		switch {
		case i == 0:
			out = make([]sql.Type, len(schema))
			for j, c := range schema {
				out[j] = c.Type
			}
		case len(schema) != len(out):
			return n, nil
		default:
			for j, c := range schema {
				out[j] = sqlfn.UnionType(out[j], c.Type)
			}
		}
	}
	ids := m.leaves[0].ids()
	fixed, err := m.build(n, out)
	if err != nil {
		return nil, err
	}
	f.changed = f.changed || sql.Node(n) != fixed
	if !f.changed {
		return ordered(fixed), nil
	}
	// What has no id of its own got the ids that are left, in order.
	rest := n.Columns().Difference(sql.NewColSet(ids...))
	next, ok := rest.Next(1)
	for i, t := range out {
		id := ids[i]
		if id == 0 && ok {
			id = next
			next, ok = rest.Next(next + 1)
		}
		f.types[id] = t
	}
	retyped, err := f.retype(fixed) // its own ORDER BY
	if err != nil {
		return nil, err
	}
	return ordered(retyped), nil
}

// ordered puts a set operation's order and limits around it, for package pushdown carries out what is without, and the
// engine skips rows before it sorts them. A UNION ALL without that is the engine's.
func ordered(node sql.Node) sql.Node {
	n, ok := node.(*plan.SetOp)
	if !ok || len(n.SortFields) == 0 && n.Limit == nil && n.Offset == nil {
		return node
	}
	if n.SetOpType == plan.UnionType && !n.Distinct && (n.Offset == nil || len(n.SortFields) == 0) {
		return node
	}
	bare := *n
	bare.SortFields, bare.Limit, bare.Offset = nil, nil, nil
	var out sql.Node = &bare
	if len(n.SortFields) > 0 {
		out = plan.NewSort(n.SortFields, out)
	}
	if n.Offset != nil {
		out = plan.NewOffset(n.Offset, out)
	}
	if n.Limit != nil {
		out = plan.NewLimit(n.Limit, out)
	}
	return out
}

// setMembers are what set operations of one kind put together.
type setMembers struct {
	kind   int
	leaves []setMember // in order
	at     int         // the next one that build needs
}

type setMember struct {
	node    sql.Node
	convert *plan.Project // the planner's over it; nil: none
}

// collect fixes and gathers the members of n.
func (m *setMembers) collect(f *setOps, n *plan.SetOp) error {
	left, right := n.Left(), n.Right()
	var lp, rp *plan.Project
	if l, r, ok := withoutConversions(left, right); ok {
		lp, rp = left.(*plan.Project), right.(*plan.Project)
		left, right = l, r
	}
	for i, side := range [2]sql.Node{left, right} {
		if s, ok := side.(*plan.SetOp); ok && m.inner(s) {
			if err := m.collect(f, s); err != nil {
				return err
			}
			continue
		}
		fixed, err := f.fix(side)
		if err != nil {
			return err
		}
		m.leaves = append(m.leaves, setMember{fixed, [2]*plan.Project{lp, rp}[i]})
	}
	return nil
}

// inner says whether s is one of the operations.
func (m *setMembers) inner(s *plan.SetOp) bool {
	return s.SetOpType == m.kind && s.Limit == nil && s.Offset == nil && len(s.SortFields) == 0
}

// build is n with the members as they are now, converted to types; n itself if nothing is different.
func (m *setMembers) build(n *plan.SetOp, types []sql.Type) (sql.Node, error) {
	left, right := n.Left(), n.Right()
	if l, r, ok := withoutConversions(left, right); ok {
		left, right = l, r
	}
	sides := [2]sql.Node{left, right}
	for i, side := range sides {
		var err error
		if s, ok := side.(*plan.SetOp); ok && m.inner(s) {
			sides[i], err = m.build(s, types)
		} else {
			sides[i] = m.leaves[m.at].to(types)
			m.at++
		}
		if err != nil {
			return nil, err
		}
	}
	if sides[0] == n.Left() && sides[1] == n.Right() {
		return n, nil
	}
	return n.WithChildren(sides[0], sides[1])
}

// ids are those of a member's columns; 0 where it has none.
func (l setMember) ids() []sql.ColumnId {
	out := make([]sql.ColumnId, len(l.node.Schema()))
	for i := range out {
		if l.convert != nil {
			out[i] = reference(l.convert.Projections[i]).Id()
		} else {
			out[i] = columnID(l.node, i)
		}
	}
	return out
}

// to projects a member's columns to types; nil leaves one as it is.
func (l setMember) to(types []sql.Type) sql.Node {
	schema := l.node.Schema()
	exprs := make([]sql.Expression, len(schema))
	same := true
	for i, c := range schema {
		id, table := 0, 0
		if l.convert != nil {
			ref := reference(l.convert.Projections[i])
			id, table = int(ref.Id()), int(ref.TableId())
		} else {
			id = int(columnID(l.node, i))
		}
		g := expression.NewGetFieldWithTable(id, table, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
		exprs[i] = g
		if types[i] != nil && !identical(types[i], c.Type) {
			var e sql.Expression = g
			if _, enum := c.Type.(sql.EnumType); enum {
				e = sqlfn.EnumText(g)
			}
			exprs[i], same = expression.NewAlias(c.Name, &setOpCast{expression.UnaryExpression{Child: e}, types[i]}), false
		}
	}
	if same {
		return l.node
	}
	child := l.node
	if _, ok := child.(*plan.SetOp); ok {
		child = sqlplan.KeepSchema(child)
	}
	return plan.NewProject(exprs, child)
}

// identical is what the engine asks of both sides: decimals of one precision and scale may still differ in
// whether they belong to a column.
func identical(a, b sql.Type) bool { return reflect.DeepEqual(a, b) }

// columnID is the id of a node's i-th column; 0 if it has none.
func columnID(n sql.Node, i int) sql.ColumnId {
	switch n := n.(type) {
	case *plan.Project:
		if id, ok := n.Projections[i].(sql.IdExpression); ok {
			return id.Id()
		}
		return 0
	case plan.TableIdNode:
		at, id := 0, sql.ColumnId(0)
		n.Columns().ForEach(func(c sql.ColumnId) {
			if at == i {
				id = c
			}
			at++
		})
		return id
	}
	if c := n.Children(); len(c) > 0 {
		return columnID(c[0], i)
	}
	return 0
}

// withoutConversions takes off the projections with which the planner converts the sides.
func withoutConversions(left, right sql.Node) (l, r sql.Node, ok bool) {
	lp, ok1 := left.(*plan.Project)
	rp, ok2 := right.(*plan.Project)
	if !ok1 || !ok2 || len(lp.Projections) != len(rp.Projections) || !selects(lp.Child) || !selects(rp.Child) {
		return nil, nil, false
	}
	for i := range lp.Projections {
		// The planner's own references have no table.
		if l, r := reference(lp.Projections[i]), reference(rp.Projections[i]); l == nil || r == nil || l.TableId() != 0 || r.TableId() != 0 {
			return nil, nil, false
		}
	}
	return lp.Child, rp.Child, true
}

// selects says whether a node can be the top of a SELECT: a derived table is what is left of one that selects all of it.
func selects(n sql.Node) bool {
	switch n.(type) {
	case *plan.Project, *plan.Distinct, *plan.Limit, *plan.Offset, *plan.SetOp, *plan.SubqueryAlias:
		return true
	}
	return false
}

// reference is the column that one of the planner's conversions converts, or lets pass.
func reference(e sql.Expression) *expression.GetField {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
		if c, ok := e.(*expression.Convert); ok {
			e = c.Child
		}
		if enum, ok := e.(*expression.EnumToString); ok {
			e = enum.Enum
		}
	}
	g, _ := e.(*expression.GetField)
	return g
}

// setOpCast brings a value to a set operation's column type.
type setOpCast struct {
	expression.UnaryExpression
	typ sql.Type
}

var (
	_ sql.Expression         = (*setOpCast)(nil)
	_ sql.CollationCoercible = (*setOpCast)(nil)
)

func (c *setOpCast) Type() sql.Type { return c.typ }
func (c *setOpCast) String() string { return c.Child.String() }

func (c *setOpCast) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, c.Child)
}

func (c *setOpCast) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &setOpCast{expression.UnaryExpression{Child: children[0]}, c.typ}, nil
}

func (c *setOpCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if types.IsText(c.typ) {
		switch x := v.(type) {
		case float64:
			v = string(sqltable.AppendDouble(nil, x, 64))
		case float32:
			v = string(sqltable.AppendDouble(nil, float64(x), 32))
		case decimal.Decimal:
			if d, ok := c.Child.Type().(sql.DecimalType); ok {
				v = x.StringFixed(int32(d.Scale()))
			}
		case time.Time:
			s, err := c.Child.Type().SQL(ctx, nil, x)
			if err != nil {
				return nil, err
			}
			v = s.ToString()
		}
	}
	out, in, err := c.typ.Convert(ctx, v)
	if err == nil && in != sql.InRange {
		// A union's type holds all values; that of a recursive query's column need not.
		return nil, sqlerr.New(1264, "22003", "Out of range value for column '%s' at row 1", c.Child)
	}
	return out, err
}
