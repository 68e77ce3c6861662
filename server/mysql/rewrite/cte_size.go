package rewrite

import (
	"maps"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// maxQueries is how many SELECTs a statement with common table expressions may have, those in one counted for each time
// that it is read: the planner puts a copy of its body there, so forty that read the one before twice would make 10¹².
const maxQueries = 1_000

var errQueries = sqlerr.New(1436, "HY000", "Statement is too complex: its common table expressions come to more than %d queries, each counted as often as it is read", maxQueries)

// queriesOf is how many SELECTs the planner makes of stmt, or a number above maxQueries. ctes has what those in scope come to.
func queriesOf(stmt sqlparser.Statement, ctes map[string]int) int {
	count := 0
	w := Walk{Node: func(n any) bool {
		if count > maxQueries {
			return false
		}
		if place := withOf(n); place != nil && *place != nil {
			with := *place
			inner := maps.Clone(ctes)
			if inner == nil {
				inner = map[string]int{}
			}
			for _, c := range with.Ctes {
				if sub, ok := c.Expr.(*sqlparser.Subquery); ok {
					inner[strings.ToLower(c.As.String())] = queriesOf(sub.Select, inner)
				}
			}
			*place = nil
			count += queriesOf(n.(sqlparser.Statement), inner)
			*place = with
			return false
		}
		switch n := n.(type) {
		case *sqlparser.Select:
			count++
		case *sqlparser.AliasedTableExpr:
			if name, ok := n.Expr.(sqlparser.TableName); ok && name.DbQualifier.IsEmpty() {
				count += ctes[strings.ToLower(name.Name.String())]
			}
		}
		return true
	}}
	w.Statement(stmt)
	return count
}
