package boundplan

import (
	"reflect"
	"time"

	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// fixSetOps gives the columns of UNION, INTERSECT and EXCEPT the types that MySQL gives them. The
// planner converts the sides to types that lose values (DECIMAL(10,0), text for numbers of two kinds),
// and what stands above keeps the left side's types, to which values are then cut.
func fixSetOps(node sql.Node) (sql.Node, error) {
	f := setOps{types: map[sql.ColumnId]sql.Type{}}
	return f.fix(node)
}

type setOps struct {
	types map[sql.ColumnId]sql.Type // of columns whose references have another type
}

func (f *setOps) fix(node sql.Node) (sql.Node, error) {
	if _, ok := node.(*plan.RecursiveCte); ok {
		return node, nil // its types are those of its first part
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
	if len(f.types) > 0 {
		var err error
		if node, err = f.retype(node); err != nil {
			return nil, err
		}
	}
	switch n := node.(type) {
	case *plan.SetOp:
		return f.setOp(n)
	case *plan.SubqueryAlias:
		f.register(n.Columns(), n.Child.Schema())
	}
	return node, nil
}

// register remembers the types of a node's columns, if anything below it was changed.
func (f *setOps) register(ids sql.ColSet, schema sql.Schema) {
	if len(f.types) == 0 {
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

func (f *setOps) setOp(n *plan.SetOp) (sql.Node, error) {
	left, right := n.Left(), n.Right()
	if l, r, ok := withoutConversions(left, right); ok {
		left, right = l, r
	}
	ls, rs := left.Schema(), right.Schema()
	if len(ls) != len(rs) {
		return n, nil
	}
	same := true
	out := make([]sql.Type, len(ls))
	for i := range ls {
		out[i] = setOpType(ls[i].Type, rs[i].Type)
		same = same && identical(out[i], ls[i].Type) && identical(out[i], rs[i].Type)
	}
	if same && left == n.Left() && right == n.Right() {
		f.register(n.Columns(), ls)
		return n, nil
	}
	fixed, err := n.WithChildren(f.side(left, n.Left(), out), f.side(right, n.Right(), out))
	if err != nil {
		return nil, err
	}
	schema := fixed.Schema()
	i := 0
	n.Columns().ForEach(func(id sql.ColumnId) {
		if i < len(schema) {
			f.types[id] = schema[i].Type
		}
		i++
	})
	return f.retype(fixed) // its own ORDER BY
}

// side projects one side's columns to types. was is the side as the planner made it: it knows the columns' ids.
func (f *setOps) side(n, was sql.Node, types []sql.Type) sql.Node {
	schema := n.Schema()
	exprs := make([]sql.Expression, len(schema))
	same := true
	p, _ := was.(*plan.Project)
	for i, c := range schema {
		var ref *expression.GetField
		if n != was && p != nil { // the planner's own projection
			ref = reference(p.Projections[i])
		}
		id, table := 0, 0
		if ref != nil {
			id, table = int(ref.Id()), int(ref.TableId())
		} else {
			id = int(columnID(n, i))
		}
		g := expression.NewGetFieldWithTable(id, table, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
		exprs[i] = g
		if !identical(types[i], c.Type) {
			exprs[i], same = expression.NewAlias(c.Name, &setOpCast{expression.UnaryExpression{Child: g}, types[i]}), false
		}
	}
	if same {
		return n
	}
	return plan.NewProject(exprs, n)
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
		if reference(lp.Projections[i]) == nil || reference(rp.Projections[i]) == nil {
			return nil, nil, false
		}
	}
	return lp.Child, rp.Child, true
}

// selects says whether a node can be the top of a SELECT.
func selects(n sql.Node) bool {
	switch n.(type) {
	case *plan.Project, *plan.Distinct, *plan.Limit, *plan.Offset, *plan.SetOp:
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
	}
	g, _ := e.(*expression.GetField)
	return g
}

// setOpType is the type of a column whose sides have types l and r, by MySQL's rules.
func setOpType(l, r sql.Type) sql.Type {
	switch {
	case l.Equals(r):
		return l
	case l == types.Null:
		return r
	case r == types.Null:
		return l
	case types.IsNumber(l) && types.IsNumber(r):
		return numberType(l, r)
	case types.IsTime(l) && types.IsTime(r):
		return timeType(l, r)
	case types.IsJSON(l) && types.IsJSON(r):
		return l
	case types.IsBinaryType(l) || types.IsBinaryType(r):
		return types.LongBlob
	}
	ls, ok1 := l.(sql.StringType)
	rs, ok2 := r.(sql.StringType)
	if ok1 && ok2 && ls.Collation() == rs.Collation() {
		if ls.MaxCharacterLength() >= rs.MaxCharacterLength() {
			return asText(ls)
		}
		return asText(rs)
	}
	collation := sql.Collation_Default
	if ok1 {
		collation = ls.Collation()
	} else if ok2 {
		collation = rs.Collation()
	}
	return types.MustCreateString(sqltypes.Text, types.LongTextBlobMax, collation)
}

// asText is t as VARCHAR instead of CHAR: a value of the other side keeps its spaces.
func asText(t sql.StringType) sql.Type {
	if t.Type() != sqltypes.Char {
		return t
	}
	return types.MustCreateString(sqltypes.VarChar, t.MaxCharacterLength(), t.Collation())
}

func numberType(l, r sql.Type) sql.Type {
	switch {
	case types.IsFloat(l) || types.IsFloat(r):
		return types.Float64
	case types.IsDecimal(l) || types.IsDecimal(r):
		lp, ls := decimalDigits(l)
		rp, rs := decimalDigits(r)
		scale := max(ls, rs)
		whole := min(max(lp-ls, rp-rs), types.DecimalTypeMaxPrecision-scale)
		return types.MustCreateColumnDecimalType(uint8(whole+scale), uint8(scale))
	case types.IsUnsigned(l) != types.IsUnsigned(r):
		unsigned := l
		if types.IsUnsigned(r) {
			unsigned = r
		}
		if width(unsigned) < 8 {
			return types.Int64
		}
		return types.MustCreateColumnDecimalType(20, 0)
	case width(l) >= width(r):
		return l
	}
	return r
}

// width of an integer type in bytes.
func width(t sql.Type) int {
	switch t.Type() {
	case sqltypes.Int8, sqltypes.Uint8:
		return 1
	case sqltypes.Int16, sqltypes.Uint16, sqltypes.Year:
		return 2
	case sqltypes.Int24, sqltypes.Uint24:
		return 3
	case sqltypes.Int32, sqltypes.Uint32:
		return 4
	}
	return 8
}

// decimalDigits are the precision and scale in which every value of t fits.
func decimalDigits(t sql.Type) (precision, scale int) {
	if d, ok := t.(sql.DecimalType); ok {
		return int(d.Precision()), int(d.Scale())
	}
	return [9]int{0, 3, 5, 8, 10, 10, 20, 20, 20}[width(t)], 0
}

func timeType(l, r sql.Type) sql.Type {
	digits := 0
	for _, t := range []sql.Type{l, r} {
		if d, ok := t.(sql.DatetimeType); ok {
			digits = max(digits, d.Precision())
		}
		if types.IsTimespan(t) {
			digits = 6
		}
	}
	switch {
	case types.IsTimestampType(l) && types.IsTimestampType(r):
		return types.MustCreateDatetimeType(sqltypes.Timestamp, digits)
	case types.IsTimespan(l) && types.IsTimespan(r):
		return l
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
}

// setOpCast brings a value to a set operation's column type, which holds it.
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
	out, _, err := c.typ.Convert(ctx, v)
	return out, err
}
