package boundplan

import (
	"reflect"
	"slices"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// checkGrouping refuses, under ONLY_FULL_GROUP_BY, what has no one value in a group: a column
// outside aggregates that the grouping columns do not determine. The engine's own rule looks at
// few forms of a plan and answers the others with a value of any row; this one knows, as MySQL
// does, that what is equal to a constant or to a grouping column is determined, and a whole row by
// its partition and offset.
func checkGrouping(ctx *sql.Context, node sql.Node) error {
	if !sql.LoadSqlMode(ctx).ModeEnabled(sql.OnlyFullGroupBy) {
		return nil
	}
	return checkBlock(node, nil)
}

// output is an expression of a query block that is computed once per group.
type output struct {
	expr   sql.Expression
	clause string // for the message
	number int    // from 1
}

// checkBlock walks down from node; above are the outputs of the query block that node belongs to.
func checkBlock(node sql.Node, above []output) error {
	if node == nil {
		return nil
	}
	if x, ok := node.(sql.Expressioner); ok {
		for _, e := range x.Expressions() {
			if err := checkSubqueries(e); err != nil {
				return err
			}
		}
	}
	switch n := node.(type) {
	case *plan.Project:
		if above == nil || !hasClause(above, "SELECT list") {
			for i, e := range n.Projections {
				above = append(above, output{e, "SELECT list", i + 1})
			}
		}
		return checkBlock(n.Child, above)
	case *plan.Having:
		return checkBlock(n.Child, append(above, output{n.Cond, "HAVING clause", 1}))
	case *plan.Sort:
		for i, f := range n.SortFields {
			above = append(above, output{f.Column, "ORDER BY clause", i + 1})
		}
		return checkBlock(n.Child, above)
	case *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Into:
		return checkBlock(n.Children()[0], above)
	case *plan.GroupBy:
		if err := checkGroup(n, above); err != nil {
			return err
		}
		return checkBlock(n.Child, nil)
	default:
		for _, c := range node.Children() {
			if err := checkBlock(c, nil); err != nil {
				return err
			}
		}
		return nil
	}
}

func hasClause(os []output, clause string) bool {
	for _, o := range os {
		if o.clause == clause {
			return true
		}
	}
	return false
}

func checkSubqueries(e sql.Expression) error {
	var err error
	sql.Inspect(e, func(e sql.Expression) bool {
		if sub, ok := e.(*plan.Subquery); ok && err == nil {
			err = checkBlock(sub.Query, nil)
		}
		return err == nil
	})
	return err
}

func checkGroup(g *plan.GroupBy, outputs []output) error {
	c := groupChecker{determined: map[string]bool{}, columns: map[string]bool{}}
	for _, col := range g.Child.Schema() {
		c.columns[columnKey(col.Source, col.Name)] = true
	}
	for _, e := range g.GroupByExprs {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		c.exprs = append(c.exprs, e)
		if f, ok := e.(*expression.GetField); ok {
			c.determined[fieldKey(f)] = true
		}
	}
	c.spread(g.Child)
	for _, o := range outputs {
		column := c.offends(o.expr)
		if column == "" {
			continue
		}
		if len(g.GroupByExprs) == 0 {
			return sqlerr.New(1140, "42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by", o.number, o.clause, column)
		}
		return sqlerr.New(1055, "42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by", o.number, o.clause, column)
	}
	return nil
}

// groupChecker knows what has one value in a group.
type groupChecker struct {
	exprs      []sql.Expression // grouped by
	columns    map[string]bool  // all columns of the grouped rows
	determined map[string]bool
	grouped    map[string]bool // derived tables that are groups themselves
}

func columnKey(table, name string) string {
	return strings.ToLower(table) + "\x00" + strings.ToLower(name)
}

func fieldKey(f *expression.GetField) string { return columnKey(f.Table(), f.Name()) }

// spread adds what the conditions beneath the grouping determine.
func (c *groupChecker) spread(child sql.Node) {
	var equalities []*expression.Equals
	rows := map[string]bool{} // tables with a partition and an offset
	c.grouped = map[string]bool{}
	var visit func(n sql.Node)
	visit = func(n sql.Node) {
		switch n := n.(type) {
		case *plan.Filter:
			equalities = appendEqualities(equalities, n.Expression)
		case *plan.JoinNode:
			if !n.Op.IsPartial() && !n.Op.IsLeftOuter() && !n.Op.IsRightOuter() && !n.Op.IsFullOuter() && n.Filter != nil {
				equalities = appendEqualities(equalities, n.Filter)
			}
		case *plan.SubqueryAlias:
			if isGrouped(n.Child) {
				c.grouped[strings.ToLower(n.Name())] = true
			}
			return // other rows than these
		case *plan.TableAlias:
			rows[strings.ToLower(n.Name())] = true
		case *plan.ResolvedTable:
			rows[strings.ToLower(n.Name())] = true
		}
		for _, x := range n.Children() {
			visit(x)
		}
	}
	visit(child)
	for changed := true; changed; {
		changed = false
		mark := func(key string) {
			if !c.determined[key] {
				c.determined[key], changed = true, true
			}
		}
		for _, e := range equalities {
			l, lok := e.Left().(*expression.GetField)
			r, rok := e.Right().(*expression.GetField)
			switch {
			case lok && c.columns[fieldKey(l)] && c.offends(e.Right()) == "":
				mark(fieldKey(l))
			case rok && c.columns[fieldKey(r)] && c.offends(e.Left()) == "":
				mark(fieldKey(r))
			}
		}
		for t := range rows {
			if c.determined[columnKey(t, "_partition")] && c.determined[columnKey(t, "_offset")] {
				for key := range c.columns {
					if strings.HasPrefix(key, t+"\x00") {
						mark(key)
					}
				}
			}
		}
	}
}

func appendEqualities(out []*expression.Equals, e sql.Expression) []*expression.Equals {
	switch e := e.(type) {
	case *expression.And:
		return appendEqualities(appendEqualities(out, e.LeftChild), e.RightChild)
	case *expression.Equals:
		return append(out, e)
	default:
		return out
	}
}

// isGrouped says whether the rows of a derived table are one per group, so that columns may
// determine each other in ways that are not followed here.
func isGrouped(n sql.Node) bool {
	found := false
	transform.Inspect(n, func(n sql.Node) bool {
		switch n.(type) {
		case *plan.GroupBy, *plan.Distinct:
			found = true
		}
		return !found
	})
	return found
}

// sameExpr says whether a and b are the same but for how their names are spelled.
func sameExpr(a, b sql.Expression) bool {
	return sameOperands(a, b) && strings.EqualFold(a.String(), b.String())
}

// sameOperands says whether a and b have the same operands. Literals in other letters are others.
func sameOperands(a, b sql.Expression) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch x := a.(type) {
	case *expression.GetField:
		y, ok := b.(*expression.GetField)
		return ok && fieldKey(x) == fieldKey(y)
	case *expression.Literal, *plan.Subquery, *plan.ExistsSubquery:
		return a.String() == b.String()
	}
	return slices.EqualFunc(a.Children(), b.Children(), sameOperands)
}

// offends returns a column of e that has no one value in a group; "" if there is none.
func (c *groupChecker) offends(e sql.Expression) string {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	switch x := e.(type) {
	case sql.Aggregation, sql.WindowAdaptableExpression:
		return ""
	case *expression.GetField:
		key := fieldKey(x)
		if !c.columns[key] || c.determined[key] || c.grouped[strings.ToLower(x.Table())] {
			return "" // an aggregate, an alias or an outer row's, or determined
		}
		return x.String()
	}
	if slices.ContainsFunc(c.exprs, func(g sql.Expression) bool { return sameExpr(g, e) }) {
		return ""
	}
	switch e.(type) {
	case *plan.Subquery, *plan.ExistsSubquery:
		for _, f := range askedBySubqueries(e, nil) {
			if column := c.offends(f); column != "" {
				return column
			}
		}
		return ""
	}
	for _, child := range e.Children() {
		if column := c.offends(child); column != "" {
			return column
		}
	}
	return ""
}
