package rewrite

import "github.com/dolthub/vitess/go/vt/sqlparser"

// groupByConstants lets texts be grouped by, which make one group of all rows: the planner takes every literal for a column's place.
func groupByConstants(sel *sqlparser.Select) {
	for i, e := range sel.GroupBy {
		if v, ok := e.(*sqlparser.SQLVal); ok && v.Type == sqlparser.StrVal {
			sel.GroupBy[i] = call("concat", v)
		}
	}
}
