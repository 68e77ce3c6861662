package mysql

import (
	"regexp"
	"strconv"
	"time"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

var timeoutHint = regexp.MustCompile(`(?i)\bMAX_EXECUTION_TIME\s*\(\s*(\d{1,12})\s*\)`)

// hintedTimeout reads SELECT /*+ MAX_EXECUTION_TIME(ms) */ …; 0 ms means no deadline of the
// statement's own.
func hintedTimeout(stmt sqlparser.Statement) (time.Duration, bool) {
	sel, ok := stmt.(*sqlparser.Select)
	if !ok {
		return 0, false
	}
	for _, c := range sel.Comments {
		if m := timeoutHint.FindSubmatch(c); m != nil {
			ms, err := strconv.ParseInt(string(m[1]), 10, 64)
			if err == nil && ms > 0 {
				return time.Duration(ms) * time.Millisecond, true
			}
		}
	}
	return 0, false
}
