package meaning

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Checked is an arithmetic expression of the SQL server whose integers do not wrap around
// (error 1690) and whose doubles do not become infinite.
type Checked interface {
	sql.Expression
	// Arithmetic is the operator (+, - or *) and its operands.
	Arithmetic() (op string, left, right sql.Expression)
}

// Quotient is a / of the server's, which keeps nine digits at least.
type Quotient interface {
	sql.Expression
	Quotient() (left, right sql.Expression)
}

// QuotientSides are both sides of e, if it is a /; else nil.
func QuotientSides(e sql.Expression) (left, right sql.Expression) {
	switch x := e.(type) {
	case *expression.Div:
		return x.LeftChild, x.RightChild
	case Quotient:
		return x.Quotient()
	}
	return nil, nil
}

// HasDivision says whether there is a / in e: how many digits its quotient has depends on what is around it.
func HasDivision(e sql.Expression) bool {
	found := false
	sql.Inspect(e, func(e sql.Expression) bool {
		if _, ok := e.(*expression.Div); ok {
			found = true
		}
		return !found
	})
	return found
}
