package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// nameSorted gives what a SELECT DISTINCT with an ORDER BY computes the names that it has in the result: the planner sorts
// what is distinct, and finds only what has a name there.
func nameSorted(sel *sqlparser.Select) {
	if !sel.QueryOpts.Distinct || len(sel.OrderBy) == 0 {
		return
	}
	for _, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok || !a.As.IsEmpty() || a.InputExpression == "" {
			continue
		}
		switch a.Expr.(type) {
		case *sqlparser.ColName, *sqlparser.SQLVal:
		default:
			a.As = sqlparser.NewColIdent(a.InputExpression)
		}
	}
}
