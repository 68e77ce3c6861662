package boundplan

import (
	"millrace/pushdown/rows"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// rowsOfSubquery are all rows of a subquery in memory, or the error that there is none for them. Rows of several columns are as rowOf takes
// them.
func rowsOfSubquery(ctx *sql.Context, sub *plan.Subquery, row sql.Row) ([]any, error) {
	return sub.WithQuery(rows.Keep(sub.Query)).EvalMultiple(ctx, row)
}

func rowOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case sql.Row:
		return v, true
	}
	return nil, false
}
