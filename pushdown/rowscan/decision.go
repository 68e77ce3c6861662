package rowscan

import (
	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Decision is what a rule made of a node.
type Decision struct {
	Access *Access
	Scan   sqltable.Scan    // what the table's scan is asked for
	Pushed []sql.Expression // conjuncts that the scan evaluates
	Left   []Leftover       // conjuncts that the engine evaluates
	Node   sql.Node         // what to build instead; nil when nothing was pushed
	What   string           // limit, newest rows and so on, for EXPLAIN
}

// Leftover is a condition that the engine evaluates, and why.
type Leftover struct {
	Expr   sql.Expression
	Reason string
}

// Decide asks the rules; nil: no rule knows the node. outer says that the node is
// built beneath a row of an outer scope.
func Decide(ctx *sql.Context, n sql.Node, outer bool) (*Decision, error) {
	switch n := n.(type) {
	case *plan.Filter:
		return filterRule(ctx, n)
	case *plan.Limit:
		if !outer {
			return limitRule(ctx, n)
		}
	case *plan.TopN:
		if !outer {
			return topNRule(ctx, n)
		}
	}
	return nil, nil
}
