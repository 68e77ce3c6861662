package rowscan

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/pushdown/exact"
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Access is a chain of nodes down to one topic's table:
// Project* Filter* TableAlias? ResolvedTable.
type Access struct {
	Chain    []sql.Node      // from the top, without the ResolvedTable
	Projects []*plan.Project // of Chain
	Table    *sqltable.Table
	Schema   sql.Schema // of Table
	Alias    string     // "" none

	filters  []*plan.Filter // of Chain
	resolved *plan.ResolvedTable
	id       sql.TableId // of the alias, or of the table
}

// Match follows n down to a topic's table; nil when n is something else.
func Match(n sql.Node) *Access {
	a := &Access{}
	for {
		switch node := n.(type) {
		case *plan.Project:
			if len(a.filters) > 0 {
				return nil // filters above a projection see other columns
			}
			a.Projects = append(a.Projects, node)
			a.Chain = append(a.Chain, n)
			n = node.Child
		case *plan.Filter:
			a.filters = append(a.filters, node)
			a.Chain = append(a.Chain, n)
			n = node.Child
		case *plan.TableAlias:
			if a.id != 0 {
				return nil
			}
			a.id, a.Alias = node.Id(), node.Name()
			a.Chain = append(a.Chain, n)
			n = node.Child
		case *plan.ResolvedTable:
			t, ok := sql.GetUnderlyingTable(node.Table).(*sqltable.Table)
			if !ok {
				return nil
			}
			a.resolved, a.Table, a.Schema = node, t, t.Schema()
			if a.id == 0 {
				a.id = node.Id()
			}
			return a
		default:
			return nil
		}
	}
}

// Column is the table's column that e names.
func (a *Access) Column(e sql.Expression) (scan.Column, *sql.Column, bool) {
	f, ok := e.(*expression.GetField)
	if !ok || f.TableId() != a.id {
		return scan.Column{}, nil, false
	}
	for i, c := range a.Schema {
		if strings.EqualFold(c.Name, f.Name()) {
			return a.Table.ScanColumn(i), c, true
		}
	}
	return scan.Column{}, nil, false
}

// output is the table's column that field e of the chain's output stands for,
// looking through the projections.
func (a *Access) output(e sql.Expression) (scan.Column, *sql.Column, bool) {
	for _, p := range a.Projects {
		f, ok := e.(*expression.GetField)
		if !ok || f.Index() < 0 || f.Index() >= len(p.Projections) {
			return scan.Column{}, nil, false
		}
		e = p.Projections[f.Index()]
		if al, ok := e.(*expression.Alias); ok {
			e = al.Child
		}
	}
	return a.Column(e)
}

// rebuild makes the chain anew over the table restricted by s, with only the left
// conjuncts as filter.
func (a *Access) rebuild(s sqltable.Scan, left []Leftover) (sql.Node, error) {
	var n sql.Node
	n, err := a.resolved.ReplaceTable(a.Table.WithScan(s))
	if err != nil {
		return nil, err
	}
	placed := false
	for i := len(a.Chain) - 1; i >= 0; i-- {
		if _, ok := a.Chain[i].(*plan.Filter); ok {
			if !placed && len(left) > 0 {
				exprs := make([]sql.Expression, len(left))
				for i, l := range left {
					exprs[i] = l.Expr
				}
				n = plan.NewFilter(expression.JoinAnd(exprs...), n)
			}
			placed = true
			continue
		}
		if n, err = a.Chain[i].WithChildren(n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Filters sorts the chain's conjuncts into what the scan takes and what is left.
func (a *Access) Filters(ctx *sql.Context) *Decision {
	d := &Decision{Access: a}
	var args []scan.Expr
	c := converter{ctx: ctx, acc: a}
	for _, f := range a.filters {
		e := f.Expression
		if x := exact.Filter(ctx, e); x != nil {
			e = x
		}
		for _, conjunct := range expression.SplitConjunction(e) {
			r := c.conjunct(conjunct)
			if r.expr != nil {
				args = append(args, r.expr)
			}
			if r.reason == "" {
				d.Pushed = append(d.Pushed, conjunct)
			} else {
				d.Left = append(d.Left, Leftover{conjunct, r.reason})
			}
		}
	}
	if len(args) > 0 {
		d.Scan.Filter = scan.And{Args: args}
	}
	return d
}
