package sqlfn

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// signed is a whole number that was written down as the BIGINT that it is in MySQL. The engine has the narrowest
// type for it, and 200 would be unsigned: -400 DIV 200 out of range.
func signed(e sql.Expression) sql.Expression {
	lit, ok := e.(*expression.Literal)
	if !ok || !types.IsUnsigned(lit.Type()) {
		return e
	}
	n, ok := integerOf(lit.Value())
	if !ok || n.abs > math.MaxInt64 {
		return e
	}
	return expression.NewLiteral(int64(n.abs), types.Int64)
}
