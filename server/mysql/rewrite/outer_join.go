package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// keepOuter writes ON TRUE of an outer join as ON 1: the planner takes any join ON TRUE for a cross join, and the rows without a
// partner are lost.
func keepOuter(j *sqlparser.JoinTableExpr) {
	if j.Condition.On == sqlparser.BoolVal(true) && j.Join != sqlparser.JoinStr {
		j.Condition.On = sqlparser.NewIntVal([]byte("1"))
	}
}
