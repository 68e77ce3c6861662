package boundplan

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
)

// fixQuotient gives what works with all digits of a quotient, such as SUM(a / b), all of them: the engine rounds first. nil: nothing to do.
func fixQuotient(_ *sql.Context, e sql.Expression) sql.Expression { return sqlfn.WithUnrounded(e) }
