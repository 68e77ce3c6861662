package mysql

import (
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// origin is what a column of a result is in the FROM clause: its table by alias and by name, and its own name there.
type origin struct{ db, alias, table, column string }

// origins are those of a result's columns; zero ones are computed, or of derived tables.
type origins []origin

// originsOf finds them in a plan.
func originsOf(node sql.Node) origins {
	for {
		switch n := node.(type) {
		case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Distinct, *plan.OrderedDistinct, *plan.Having:
			node = n.Children()[0]
			continue
		}
		break
	}
	tables := map[string]origin{}
	tablesOf(node, tables)
	if len(tables) == 0 {
		return nil
	}
	p, ok := node.(*plan.Project)
	if !ok {
		out := make(origins, len(node.Schema()))
		for i, c := range node.Schema() {
			out[i] = tables[c.Source].of(c.Name)
		}
		return out
	}
	out := make(origins, len(p.Projections))
	for i, e := range p.Projections {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		if f, ok := e.(*expression.GetField); ok {
			out[i] = tables[f.Table()].of(f.Name())
		}
	}
	return out
}

func (o origin) of(column string) origin {
	o.column = column
	return o
}

// tablesOf adds the tables that n joins, by alias.
func tablesOf(n sql.Node, out map[string]origin) {
	switch n := n.(type) {
	case *plan.TableAlias:
		if t, ok := n.Child.(sql.TableNode); ok {
			out[n.Name()] = origin{db: t.Database().Name(), alias: n.Name(), table: t.UnderlyingTable().Name()}
		}
	case *plan.ResolvedTable:
		if n.SqlDatabase != nil {
			out[n.Name()] = origin{db: n.SqlDatabase.Name(), alias: n.Name(), table: n.Name()}
		}
	case sql.OpaqueNode:
	default:
		for _, c := range n.Children() {
			tablesOf(c, out)
		}
	}
}

// name tells the client.
func (o origins) name(cols []wire.Column) {
	if len(o) != len(cols) {
		return
	}
	for i, c := range o {
		if c.table != "" {
			cols[i].Schema, cols[i].Table, cols[i].OrgTable, cols[i].OrgName = c.db, c.alias, c.table, c.column
		}
	}
}
