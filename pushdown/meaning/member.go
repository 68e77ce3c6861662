package meaning

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// Membership is a condition of the SQL server on the rows of a subquery: IN (SELECT …) or EXISTS (SELECT …).
type Membership interface {
	sql.Expression
	// Member says what is asked; false where that has a form that is not told.
	Member(ctx *sql.Context) (Member, bool)
}

// Member asks for a row of Query for which all of On are true, and all of Equal. Without On's there is no such row; where
// something of Equal is unknown and nothing false, so is whether there is one.
type Member struct {
	Row       []sql.Expression // over the row at hand
	Query     sql.Node         // as it was analysed within the scope of the row at hand, on which it does not depend
	On, Equal []sql.Expression // over the values of Row, then a row of Query
}

// LookedUp is a value of the SQL server that the only fitting row of a subquery has.
type LookedUp interface {
	sql.Expression
	Looked(ctx *sql.Context) Looked
}

// Looked is a column of the row that a Member asks for, Absent (nil or an integer) if there is none. There is at most one.
type Looked struct {
	Member
	Column int
	Absent any
}
