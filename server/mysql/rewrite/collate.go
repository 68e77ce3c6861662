package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// UsesInformationSchema says whether stmt names a table there.
func UsesInformationSchema(stmt sqlparser.Statement) bool {
	found := false
	w := Walk{Node: func(n any) bool {
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok {
			if name, ok := t.Expr.(sqlparser.TableName); ok && strings.EqualFold(name.DbQualifier.String(), "information_schema") {
				found = true
			}
		}
		return !found
	}}
	w.Statement(stmt)
	return found
}

// rewriteCollate converts what is given a collation of utf8mb4 to that character set first.
// Connector/J gives its connection's collation to columns of information_schema, which the
// engine holds in utf8mb3.
func rewriteCollate(e *sqlparser.CollateExpr) sqlparser.Expr {
	if strings.HasPrefix(strings.ToLower(e.Collation), "utf8mb4_") {
		e.Expr = &sqlparser.ConvertUsingExpr{Expr: e.Expr, Type: "utf8mb4"}
	}
	return e
}
