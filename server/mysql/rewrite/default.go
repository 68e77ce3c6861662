package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// rewriteDefault makes DEFAULT(column) NULL, of the column's type: no column has another default.
func rewriteDefault(e *sqlparser.Default) sqlparser.Expr {
	if e.ColName == "" {
		return e
	}
	column := &sqlparser.ColName{Name: sqlparser.NewColIdent(e.ColName)}
	return call("nullif", column, column)
}
