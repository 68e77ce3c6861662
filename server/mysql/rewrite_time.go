package mysql

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteCast reads text before it becomes a time: the engine makes NULL of text with anything
// after the time, of which MySQL takes the time and warns. Text becomes an integer by the
// digits that it begins with, JSON with all digits, a DOUBLE text in MySQL's spelling,
// and what a DECIMAL cannot hold the nearest one.
func rewriteCast(e *sqlparser.ConvertExpr) sqlparser.Expr {
	switch strings.ToLower(e.Type.Type) {
	case "datetime", "date", "timestamp":
		e.Expr = call(cleanTimeFunction, e.Expr)
	case "signed", "unsigned":
		e.Expr = call(integerTextFunction, e.Expr)
	case "char", "nchar", "binary":
		rewriteTextCast(e)
	case "decimal":
		return rewriteDecimalCast(e)
	case "json":
		e.Expr = call(exactJSONFunction, e.Expr)
	}
	return e
}
