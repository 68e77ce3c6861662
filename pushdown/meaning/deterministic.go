package meaning

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Unsteady says whether the function called name has a value that is not made of its arguments alone, or does more than to
// compute one.
func Unsteady(name string) bool { return unsteady[strings.ToLower(name)] }

var unsteady = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sleep": true, "benchmark": true, "random_bytes": true,
	"get_lock": true, "release_lock": true, "release_all_locks": true, "is_free_lock": true, "is_used_lock": true,
	"load_file": true, "row_count": true, "found_rows": true, "last_insert_id": true, "sysdate": true,
	"master_pos_wait": true, "source_pos_wait": true, "nextval": true, "values": true,
}

// Deterministic says whether e gives the same value for the same row in one statement, and does nothing else.
func Deterministic(e sql.Expression) bool {
	ok := true
	sql.Inspect(e, func(e sql.Expression) bool {
		switch x := e.(type) {
		case nil:
			return false
		case sql.Aggregation, sql.WindowAdaptableExpression, *expression.Star, *expression.DistinctExpression,
			*expression.UserVar, *expression.ProcedureParam, *expression.BindVar, *expression.AutoIncrement,
			*expression.DefaultColumn, *expression.Interval:
			ok = false
		case sql.NonDeterministicExpression:
			ok = ok && !x.IsNonDeterministic()
		}
		if _, nodes := e.(sql.ExpressionWithNodes); nodes {
			ok = false // a subquery
		}
		if f, is := e.(sql.FunctionExpression); is && Unsteady(f.FunctionName()) {
			ok = false
		}
		return ok
	})
	return ok
}
