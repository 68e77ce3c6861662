package meaning

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// Sum is an exact SUM or AVG of the SQL server (the engine's own go through
// float64 and are never pushed): exactly the sum of exact numbers, in floating point else; AVG is that
// divided by the count, for exact numbers rounded half away from zero to the digits of its type.
type Sum interface {
	sql.Aggregation
	// SumArgument is what is summed (a *expression.DistinctExpression for DISTINCT), and
	// whether it is AVG; ok is false where it has a form that is not told.
	SumArgument() (arg sql.Expression, avg, ok bool)
}

// Variance is a variance or standard deviation of the SQL server.
type Variance interface {
	sql.Aggregation
	// VarianceArgument is the argument, whether it is of a sample and whether the root is
	// taken; ok is false as a window.
	VarianceArgument() (arg sql.Expression, sample, root, ok bool)
}

// GroupConcat is GROUP_CONCAT of the SQL server.
type GroupConcat interface {
	sql.Aggregation
	// Concat is what is put together; false where it has a form that is not told.
	Concat(ctx *sql.Context) (Concat, bool)
}

// Concat is a GROUP_CONCAT: of a text, each different one once with Distinct.
type Concat struct {
	Text      sql.Expression
	Distinct  bool
	Order     []sql.Expression
	Descends  []bool
	Separator string
	MaxBytes  int
}
