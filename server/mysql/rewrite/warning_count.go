package rewrite

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteWarningCount makes calls of the variables that count what SHOW WARNINGS shows: the engine does not know them.
func rewriteWarningCount(e *sqlparser.ColName) sqlparser.Expr {
	onlyErrors, ok := countsWarnings(e)
	switch {
	case !ok:
		return e
	case onlyErrors:
		return call(sqlfn.NameWarningCount, sqlparser.NewIntVal([]byte("1")))
	}
	return call(sqlfn.NameWarningCount, sqlparser.NewIntVal([]byte("0")))
}

func countsWarnings(e *sqlparser.ColName) (onlyErrors, ok bool) {
	if e.Qualifier.Name.String() != "" && e.Qualifier.Name.String() != "@@session" && e.Qualifier.Name.String() != "@@local" {
		return false, false
	}
	switch e.Name.Lowered() {
	case "@@warning_count", "@@session.warning_count", "@@local.warning_count":
		return false, true
	case "@@error_count", "@@session.error_count", "@@local.error_count":
		return true, true
	}
	return false, false
}

// CountsWarnings says whether stmt asks, of no table, how many warnings the one before it had.
func CountsWarnings(stmt sqlparser.Statement) bool {
	sel, ok := stmt.(*sqlparser.Select)
	if !ok {
		return false
	}
	for _, t := range sel.From {
		a, ok := t.(*sqlparser.AliasedTableExpr)
		if !ok {
			return false
		}
		if name, ok := a.Expr.(sqlparser.TableName); !ok || name.Name.String() != "dual" {
			return false
		}
	}
	found := false
	w := Walk{Node: func(n any) bool {
		if c, ok := n.(*sqlparser.ColName); ok {
			_, counts := countsWarnings(c)
			found = found || counts
		}
		return !found
	}}
	w.Statement(stmt)
	return found
}
