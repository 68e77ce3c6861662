package pushdown

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// access is a chain of nodes down to one topic's table:
// Project* Filter* TableAlias? ResolvedTable.
type access struct {
	chain    []sql.Node // from the top, without the ResolvedTable
	projects []*plan.Project
	filters  []*plan.Filter
	resolved *plan.ResolvedTable
	table    *sqltable.Table
	schema   sql.Schema
	id       sql.TableId // of the alias, or of the table
	alias    string
}

// matchAccess follows n down to a topic's table; nil when n is something else.
func matchAccess(n sql.Node) *access {
	a := &access{}
	for {
		switch node := n.(type) {
		case *plan.Project:
			if len(a.filters) > 0 {
				return nil // filters above a projection see other columns
			}
			a.projects = append(a.projects, node)
			a.chain = append(a.chain, n)
			n = node.Child
		case *plan.Filter:
			a.filters = append(a.filters, node)
			a.chain = append(a.chain, n)
			n = node.Child
		case *plan.TableAlias:
			if a.id != 0 {
				return nil
			}
			a.id, a.alias = node.Id(), node.Name()
			a.chain = append(a.chain, n)
			n = node.Child
		case *plan.ResolvedTable:
			t, ok := sql.GetUnderlyingTable(node.Table).(*sqltable.Table)
			if !ok {
				return nil
			}
			a.resolved, a.table, a.schema = node, t, t.Schema()
			if a.id == 0 {
				a.id = node.Id()
			}
			return a
		default:
			return nil
		}
	}
}

// column is the table's column that e names.
func (a *access) column(e sql.Expression) (scan.Column, *sql.Column, bool) {
	f, ok := e.(*expression.GetField)
	if !ok || f.TableId() != a.id {
		return scan.Column{}, nil, false
	}
	for i, c := range a.schema {
		if strings.EqualFold(c.Name, f.Name()) {
			return a.table.ScanColumn(i), c, true
		}
	}
	return scan.Column{}, nil, false
}

// output is the table's column that field e of the chain's output stands for,
// looking through the projections.
func (a *access) output(e sql.Expression) (scan.Column, *sql.Column, bool) {
	for _, p := range a.projects {
		f, ok := e.(*expression.GetField)
		if !ok || f.Index() < 0 || f.Index() >= len(p.Projections) {
			return scan.Column{}, nil, false
		}
		e = p.Projections[f.Index()]
		if al, ok := e.(*expression.Alias); ok {
			e = al.Child
		}
	}
	return a.column(e)
}

// rebuild makes the chain anew over the table restricted by s, with only the left
// conjuncts as filter.
func (a *access) rebuild(s sqltable.Scan, left []leftover) (sql.Node, error) {
	var n sql.Node
	n, err := a.resolved.ReplaceTable(a.table.WithScan(s))
	if err != nil {
		return nil, err
	}
	placed := false
	for i := len(a.chain) - 1; i >= 0; i-- {
		if _, ok := a.chain[i].(*plan.Filter); ok {
			if !placed && len(left) > 0 {
				exprs := make([]sql.Expression, len(left))
				for i, l := range left {
					exprs[i] = l.expr
				}
				n = plan.NewFilter(expression.JoinAnd(exprs...), n)
			}
			placed = true
			continue
		}
		if n, err = a.chain[i].WithChildren(n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// pushFilters sorts the chain's conjuncts into what the scan takes and what is left.
func (a *access) pushFilters(ctx *sql.Context, d *decision) error {
	var args []scan.Expr
	c := converter{ctx: ctx, acc: a}
	for _, f := range a.filters {
		e := f.Expression
		if x := exactFilter(ctx, e); x != nil {
			e = x
		}
		for _, conjunct := range expression.SplitConjunction(e) {
			r := c.conjunct(conjunct)
			if r.expr != nil {
				args = append(args, r.expr)
			}
			if r.reason == "" {
				d.pushed = append(d.pushed, conjunct)
			} else {
				d.left = append(d.left, leftover{conjunct, r.reason})
			}
		}
	}
	if len(args) > 0 {
		d.scan.Filter = scan.And{Args: args}
	}
	return nil
}
