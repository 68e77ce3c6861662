package sqlplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Unalias is e without the names that it was given.
func Unalias(e sql.Expression) sql.Expression {
	for {
		a, ok := e.(*expression.Alias)
		if !ok {
			return e
		}
		e = a.Child
	}
}
