package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// AsOfAnyTime puts a time where AS OF has a parameter, in a statement that is only described: the columns are the same
// at any time, and the planner asks for the time as soon as it binds the table.
func AsOfAnyTime(stmt sqlparser.Statement) {
	w := Walk{Node: func(n any) bool {
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok && t.AsOf != nil {
			if v, ok := t.AsOf.Time.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
				t.AsOf.Time = sqlparser.NewStrVal([]byte("2000-01-01"))
			}
		}
		return true
	}}
	w.Statement(stmt)
}
